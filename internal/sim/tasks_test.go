package sim

import "sync"

// tasks are what goes on in the background. Unlike those of a [sync.WaitGroup], they may begin
// while their end is waited for.
type tasks struct {
	mu      sync.Mutex
	idle    *sync.Cond
	running int
}

// Go starts a task.
func (t *tasks) Go(f func()) {
	t.mu.Lock()
	t.running++
	t.mu.Unlock()
	go func() {
		defer t.done()
		f()
	}()
}

func (t *tasks) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if t.running == 0 && t.idle != nil {
		t.idle.Broadcast()
	}
}

// Wait returns once no task runs.
func (t *tasks) Wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle = sync.NewCond(&t.mu)
	}
	for t.running > 0 {
		t.idle.Wait()
	}
}
