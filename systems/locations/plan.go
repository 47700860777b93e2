package locations

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// The seed's own bounds of a scan: it is right for fewer items than this, and while it takes no
// longer.
const (
	ScanItemsMax = 1000
	ScanTimeMax  = 100 * time.Millisecond
)

// unitBytes is how much of a table one read unit of a consistent scan reads.
const unitBytes = 4 << 10

// Plan is what listing the directory by a scan takes, measured by doing it, and whether that is
// still right.
type Plan struct {
	// Locations and Lookups are how many of each there are. A scan reads both, and all other items
	// in the table.
	Locations, Lookups int
	// Calls, ReadUnits and Took are what one whole scan took; Bytes follows from the units.
	Calls     int
	ReadUnits float64
	Bytes     int64
	Took      time.Duration
	// ScanIsRight reports whether both bounds hold, and Advice what to do, in sentences.
	ScanIsRight bool
	Advice      []string
}

// Plan measures a scan of the table.
func (d *Directory) Plan(ctx context.Context) (p Plan, err error) {
	metered, meter := singletable.WithMeter(ctx)
	start := time.Now()
	err = d.each(metered, func(Location) error { p.Locations++; return nil })
	if err != nil {
		return p, err
	}
	p.Took = time.Since(start)
	p.Calls, p.ReadUnits = meter.Calls(), meter.Read()
	p.Bytes = int64(p.ReadUnits * unitBytes)
	for _, err := range modelOf(d).allLookups.All(ctx, d.store, Listing{}) {
		if err != nil {
			return p, failed("read", "lookup items", err)
		}
		p.Lookups++
	}
	p.judge(d.opts)
	return p, nil
}

// judge reports whether a scan is right, and what to do where it is not.
func (p *Plan) judge(o Options) {
	items := p.Locations + p.Lookups
	p.ScanIsRight = items < ScanItemsMax && p.Took <= ScanTimeMax
	say := func(format string, args ...any) {
		p.Advice = append(p.Advice, fmt.Sprintf(format, args...))
	}
	if p.ScanIsRight {
		say("A scan is right: there are fewer than %d items, and it takes no more than %s.",
			ScanItemsMax, ScanTimeMax)
		return
	}
	if items >= ScanItemsMax {
		say("There are %d items, and a scan is right for fewer than %d.", items, ScanItemsMax)
	}
	if p.Took > ScanTimeMax {
		say("The scan took %s, and is right up to %s.", p.Took.Round(time.Millisecond), ScanTimeMax)
	}
	switch {
	case o.CodeIndex, o.NameIndex, o.CreatedIndex:
		say("The table has an index for lists: ask for its order.")
	default:
		say("Add an index for lists: by code, by name, or by creation.")
	}
	if !o.CellIndex && p.Locations > directoryMax {
		say("Add the index by cells: %d locations are too many to look through for what is near.",
			p.Locations)
	}
	if o.Shards == 0 {
		say("Shards are for more than 1,000 writes a second, whatever the number of items.")
	}
}
