package ledger

// Waiting returns how many postings wait for an account, for tests that need some to.
func Waiting(l *Ledger, id AccountID) int {
	s := l.lanes.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if lane := s.lanes[id]; lane != nil {
		return len(lane.queue)
	}
	return 0
}
