package bulk

import (
	"context"
	"sync"
)

// use is a row's claim on something that other rows may claim too. Rows that only raise a balance
// may overtake each other; a row that lowers it waits for all before it, and all after it wait for
// that row. So every row meets the balance that it would meet if the rows were posted one by one.
type use struct {
	name      string
	exclusive bool
}

// job is a row on its way.
type job struct {
	row     Row
	uses    []use
	waiting int    // the number of earlier rows that must end first
	next    []*job // the later rows that wait for this one
	done    bool
	outcome Outcome
}

// claim is who uses a name at present.
type claim struct {
	exclusive *job   // the last row that lowers, until it is done
	shared    []*job // the rows after it that raise and are not done
	users     int    // rows in the window that use the name
}

// window holds the rows between the file and the outcomes. Its goroutine alone touches what is in
// it; workers get a job through ready and hand it back through finished.
type window struct {
	size     int
	claims   map[string]*claim
	queue    []*job // in file order; the head is the oldest whose outcome is not yet reported
	ready    chan *job
	finished chan *job
}

func newWindow(size int) *window {
	return &window{
		size: size, claims: make(map[string]*claim),
		// Both hold all jobs of the window, so that nobody ever waits to send.
		ready: make(chan *job, size), finished: make(chan *job, size),
	}
}

// work starts workers that do what is ready until the channel is closed. When ctx is over, they
// hand back the rest as it is.
func (w *window) work(ctx context.Context, workers int, do func(*job)) *sync.WaitGroup {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for j := range w.ready {
				if ctx.Err() == nil {
					do(j)
				}
				w.finished <- j
			}
		})
	}
	return &group
}

func (w *window) full() bool  { return len(w.queue) >= w.size }
func (w *window) empty() bool { return len(w.queue) == 0 }

// admit puts a job into the window behind all rows that it must not overtake.
func (w *window) admit(j *job) {
	w.queue = append(w.queue, j)
	for _, u := range j.uses {
		c := w.claims[u.name]
		if c == nil {
			c = &claim{}
			w.claims[u.name] = c
		}
		c.users++
		if !u.exclusive {
			j.waitFor(c.exclusive)
			c.shared = append(c.shared, j)
			continue
		}
		j.waitFor(c.exclusive)
		for _, other := range c.shared {
			j.waitFor(other)
		}
		c.exclusive, c.shared = j, nil
	}
	if j.waiting == 0 {
		w.ready <- j
	}
}

func (j *job) waitFor(other *job) {
	if other != nil && other != j && !other.done {
		other.next = append(other.next, j)
		j.waiting++
	}
}

// finish takes a job back and frees those that waited for it.
func (w *window) finish(j *job) {
	j.done = true
	for _, u := range j.uses {
		c := w.claims[u.name]
		if c.users--; c.users == 0 {
			delete(w.claims, u.name)
			continue
		}
		if c.exclusive == j {
			c.exclusive = nil
		}
		c.shared = without(c.shared, j)
	}
	for _, later := range j.next {
		if later.waiting--; later.waiting == 0 {
			w.ready <- later
		}
	}
	j.next = nil
}

// reported removes the rows from the head that are done, in file order.
func (w *window) reported(report func(*job)) {
	n := 0
	for n < len(w.queue) && w.queue[n].done {
		report(w.queue[n])
		n++
	}
	w.queue = append(w.queue[:0], w.queue[n:]...)
}

// without returns jobs that are not j. Order does not matter among those that share.
func without(jobs []*job, j *job) []*job {
	for i, other := range jobs {
		if other == j {
			last := len(jobs) - 1
			jobs[i], jobs[last] = jobs[last], nil
			return jobs[:last]
		}
	}
	return jobs
}
