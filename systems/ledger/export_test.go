package ledger

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
