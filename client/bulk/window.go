package bulk

import (
	"context"
	"sync"
)

// use is the use of something that several rows share. Rows that only increase a balance may
// overtake each other. A row that decreases it waits for all earlier rows, and all later rows wait
// for it. Every row therefore meets the balance that it would meet if the rows were posted one by
// one.
type use struct {
	name      string
	exclusive bool
}

// job is a row in progress.
type job struct {
	row     Row
	uses    []use
	waiting int    // the number of earlier rows that must end first
	next    []*job // the later rows that wait for this one
	done    bool
	outcome Outcome
}

// claim holds the present users of a name.
type claim struct {
	exclusive *job   // the last row that decreases, until it is done
	shared    []*job // later rows that increase and are not done
	users     int    // rows in the window that use the name
}

// window holds the rows between the file and the outcomes. Only its goroutine accesses its fields;
// workers receive jobs through ready and return them through finished.
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
		// Both have space for all jobs of the window, so that sending never blocks.
		ready: make(chan *job, size), finished: make(chan *job, size),
	}
}

// work starts workers that execute ready jobs until the channel is closed. After the end of ctx
// they return jobs unchanged.
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

// admit adds a job to the window after all rows that it must not overtake.
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

// finish takes a finished job and releases those that waited for it.
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

// without returns the jobs except j. The order of jobs that share is irrelevant.
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
