package ledger

import (
	"context"
	"fmt"
)

// DeriveTransaction returns the id that a transaction with an idempotency key has.
func DeriveTransaction(tenant, key string) string { return derive(transactionSpace, tenant, key) }

// Waiting returns how many postings wait for an account, or -1 when it is not remembered.
func Waiting(l *Ledger, id AccountID) int {
	s := l.lanes.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if lane := s.lanes[id]; lane != nil {
		return len(lane.queue)
	}
	return -1
}

// WaitingForTurn returns how many requests wait for an earlier one with their idempotency key.
func WaitingForTurn(l *Ledger, key string) int {
	l.turns.mu.Lock()
	defer l.turns.mu.Unlock()
	if t := l.turns.byID[l.transactionID(key)]; t != nil {
		return t.waiters
	}
	return -1
}

// Remembered returns how many accounts are remembered, and the most that may be.
func Remembered(l *Ledger) (n, most int) {
	for i := range l.lanes.shards {
		n += len(l.lanes.shards[i].lanes)
	}
	return n, laneShards * lanesPerShardMax
}

// Touch makes an account known to the lanes.
func Touch(l *Ledger, id AccountID) {
	s := l.lanes.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane(id)
}

// PagesOf returns a query that reads so many items at a time.
func PagesOf(n int, q ReconcileQuery) ReconcileQuery {
	q.page = n
	return q
}

// DatePagesOf returns a query that reads so many items at a time.
func DatePagesOf(n int, q RepairDatesQuery) RepairDatesQuery {
	q.page = n
	return q
}

// OldStatementCursor returns the cursor of the second page of a statement as it was written before
// cursors had the versions of more than the newest row.
func OldStatementCursor(ctx context.Context, l *Ledger, s Statement, size int) (string, error) {
	from, until, err := days(s.From, s.To, l.Zone(s.Account))
	if err != nil {
		return "", err
	}
	in := ByStatement{AccountID: s.Account.ID, From: &from, To: &until,
		Balances: fmt.Sprintf("%s~%s~%d", s.Opening.Decimal(), s.Closing.Decimal(),
			s.Legs[0].AccountVersion)}
	page, err := modelOf(l).statement.Page(ctx, l.store, in, size, "")
	return in.Balances + "~" + page.Next, err
}
