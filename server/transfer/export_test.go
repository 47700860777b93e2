package transfer

import "time"

// Hasty returns the options of a copy that pauses only for a moment, and gives up after one.
func (o Options) Hasty(patience time.Duration) Options {
	o.pause, o.patience = 100*time.Microsecond, patience
	return o
}
