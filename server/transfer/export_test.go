package transfer

import "time"

// Hasty returns the options of a copy that pauses only for a moment.
func (o Options) Hasty() Options {
	o.pause = 100 * time.Microsecond
	return o
}
