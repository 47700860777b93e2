package payments

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// PlanInput is a load to plan for.
type PlanInput struct {
	// Payments arrive within Window, each an item of Size bytes.
	Payments int
	Window   time.Duration
	Size     int
	// Projection is what the index has of each; "" means ProjectNarrow.
	Projection Projection
	// RunWindow is the time in which they are settled; 0 means Window. Where the two overlap, a
	// shard must take both loads.
	RunWindow time.Duration
}

// Plan is what a load needs of the index by status, and why.
type Plan struct {
	PlanInput
	// PerSecond is how many payments arrive in a second, on average.
	PerSecond float64
	// TableUnits and IndexUnits are write units of an insertion.
	TableUnits, IndexUnits int
	// Whole is what the insertions of whole payments into the index would take in a second, rounded
	// up, and WholeShards the least number of shards for it: the design's own figures.
	Whole       int
	WholeShards int
	// Inserts is the write units a second that insertions take of the index with this projection,
	// Changes what the changes of status add.
	Inserts, Changes int
	// Least is the least number of shards that take both, if all shards had the same load, and
	// Advised what leaves room for shards being uneven.
	Least, Advised int
}

// Bounds of DynamoDB that plans go by; see its developer guide, on partitions.
const (
	// partitionUnits is what one partition key takes, in write units a second.
	partitionUnits = 1000
	// unitBytes is how many bytes one write unit pays for.
	unitBytes = 1024
	// narrowBytes is the size of an index entry without the data: its keys and the small fields.
	narrowBytes = 700
	keysBytes   = 250
	// headroom is by how much shards differ: with payments spread by hash, the fullest of some has
	// about a tenth more than its share within a second, and DynamoDB's bursts are no right.
	headroom = 1.4
	// statusChanges is how often the status of a payment changes in its life: to PENDING and to
	// PROCESSED. Each removes an entry of the index and writes another.
	statusChanges = 2
	// planSizeMax is DynamoDB's limit of an item.
	planSizeMax = 400 << 10
)

// PlanShards works out over how many shards the index by status must be spread for a load.
func PlanShards(in PlanInput) (Plan, error) {
	var wrong problem.Fields
	if in.Payments < 1 {
		wrong.Add("payments", "must be at least 1")
	}
	if in.Window < time.Second {
		wrong.Add("window", "must be at least a second")
	}
	if in.Size < 1 || in.Size > planSizeMax {
		wrong.Addf("paymentBytes", "must be 1 to %d bytes", planSizeMax)
	}
	if in.RunWindow == 0 {
		in.RunWindow = in.Window
	} else if in.RunWindow < time.Second {
		wrong.Add("runWindow", "must be at least a second")
	}
	if in.Projection == "" {
		in.Projection = ProjectNarrow
	}
	entry := in.Size
	switch in.Projection {
	case ProjectAll:
	case ProjectNarrow:
		entry = min(entry, narrowBytes)
	case ProjectKeys:
		entry = min(entry, keysBytes)
	default:
		wrong.Addf("projection", "must be %s, %s or %s", ProjectNarrow, ProjectAll, ProjectKeys)
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return Plan{}, err
	}
	p := Plan{PlanInput: in, TableUnits: units(in.Size), IndexUnits: units(entry)}
	p.PerSecond = float64(in.Payments) / in.Window.Seconds()
	p.Whole = up(p.PerSecond * float64(p.TableUnits))
	p.WholeShards = shardsFor(float64(p.Whole))
	p.Inserts = up(p.PerSecond * float64(p.IndexUnits))
	runs := float64(in.Payments) / in.RunWindow.Seconds()
	p.Changes = up(runs * float64(statusChanges*2*p.IndexUnits))
	p.Least = shardsFor(float64(p.Inserts + p.Changes))
	p.Advised = shardsFor(float64(p.Inserts+p.Changes) * headroom)
	return p, nil
}

func units(bytes int) int { return (bytes + unitBytes - 1) / unitBytes }

// up rounds up what is not a whole number but for an error of calculation.
func up(f float64) int { return int(math.Ceil(f - 1e-9)) }

func shardsFor(unitsPerSecond float64) int { return max(1, up(unitsPerSecond/partitionUnits)) }

// Lines explains the plan, a sentence a line.
func (p Plan) Lines() []string {
	lines := []string{
		fmt.Sprintf("%d payments in %s are %.1f a second.", p.Payments, short(p.Window),
			p.PerSecond),
		fmt.Sprintf("A write of %d bytes takes %d write units, one for each KB.", p.Size,
			p.TableUnits),
		fmt.Sprintf("With whole payments in the index, insertions alone take %d units a second of it.",
			p.Whole),
		fmt.Sprintf("One partition key takes %d a second, so that is at least %d shards.",
			partitionUnits, p.WholeShards),
		fmt.Sprintf("With %s in the index an entry takes %d: insertions take %d units a second.",
			projected(p.Projection), p.IndexUnits, p.Inserts),
		fmt.Sprintf("Each payment changes its status %d times, which removes an entry and writes one: "+
			"in %s that adds %d.", statusChanges, short(p.RunWindow), p.Changes),
		fmt.Sprintf("Both at a time need at least %d shards, if all were even; %d leave room, as they "+
			"are not.", p.Least, p.Advised),
	}
	return lines
}

func projected(p Projection) string {
	switch p {
	case ProjectAll:
		return "whole payments (ALL)"
	case ProjectKeys:
		return "keys alone (KEYS_ONLY)"
	}
	return "all but the data (INCLUDE)"
}

// short writes a duration without zeros at its end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
