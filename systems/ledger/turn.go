package ledger

import (
	"context"
	"sync"
)

// turns lets the requests with one id into the queues one after the other. A caller who gave up and
// sends the same again is not refused while the earlier request may still be posted, and equal
// requests at the same moment cost one write.
type turns struct {
	mu   sync.Mutex
	byID map[TransactionID]*turn
}

// turn is a request in progress.
type turn struct {
	waiters int           // guarded by the lock of turns
	done    chan struct{} // closed at the end; made by the first waiter
	// receipt and err are the outcome, set before done is closed.
	receipt Receipt
	err     error
}

// take runs post in the turn of a request. It waits while an earlier request with the same id is in
// progress; if that one was posted, the answer is a replay. A caller who gave no deadline waits for
// insistTime in all, because each of the earlier ones may take that long on a store that fails.
func (t *turns) take(
	ctx context.Context, r *request, post func() (Receipt, error),
) (Receipt, error) {
	var waiting context.Context
	var cause error // why the store did not let the last of the earlier ones be posted
	for {
		mine, earlier := t.begin(r.id)
		if mine != nil {
			return t.run(r.id, mine, post)
		}
		if waiting == nil {
			limited, cancel := bounded(ctx)
			defer cancel()
			waiting = limited
		}
		select {
		case <-earlier.done:
		case <-waiting.Done():
			return Receipt{}, outOfTime(waiting.Err(), cause)
		}
		if earlier.err == nil {
			return r.replay(earlier.receipt.Entry)
		}
		if retryAlone(earlier.err) {
			cause = earlier.err
		}
	}
}

// begin returns a new turn, or the one in progress to wait for.
func (t *turns) begin(id TransactionID) (mine, earlier *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if earlier = t.byID[id]; earlier != nil {
		if earlier.waiters++; earlier.done == nil {
			earlier.done = make(chan struct{})
		}
		return nil, earlier
	}
	if t.byID == nil {
		t.byID = map[TransactionID]*turn{}
	}
	// Should post panic, nothing is known of the request.
	mine = &turn{err: errNotWritten}
	t.byID[id] = mine
	return mine, nil
}

func (t *turns) run(
	id TransactionID, mine *turn, post func() (Receipt, error),
) (receipt Receipt, err error) {
	defer func() {
		t.mu.Lock()
		delete(t.byID, id)
		t.mu.Unlock()
		if mine.waiters == 0 { // None can come any more.
			return
		}
		if err == nil && receipt.Transaction.ID != "" {
			// The caller may change what it is given while the waiters read.
			mine.receipt, mine.err = Receipt{Entry: receipt.clone()}, nil
		}
		close(mine.done)
	}()
	return post()
}
