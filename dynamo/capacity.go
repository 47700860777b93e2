package dynamo

// ReadUnits returns the capacity units for reading size bytes: one for each 4 KB or part of it,
// half of that for an eventually consistent read. The minimum is the cost of the smallest read,
// even if nothing is read.
func ReadUnits(size int, consistent bool) float64 {
	units := float64(steps(size, ReadUnitSize))
	if !consistent {
		units /= 2
	}
	return units
}

// WriteUnits returns the capacity units for writing an item: one for each 1 KB or part of it. size
// is the size of the old or new image, whichever is larger.
func WriteUnits(size int) float64 { return float64(steps(size, WriteUnitSize)) }

func steps(size, step int) int { return max(1, (size+step-1)/step) }

// ReturnConsumedCapacity selects which consumed capacity a response contains.
type ReturnConsumedCapacity string

// Nothing, the total of each table, or also the table and each index separately.
const (
	CapacityNone    ReturnConsumedCapacity = "NONE"
	CapacityTotal   ReturnConsumedCapacity = "TOTAL"
	CapacityIndexes ReturnConsumedCapacity = "INDEXES"
)

// Capacity is the consumption of one table or index in capacity units. ReadCapacityUnits and
// WriteCapacityUnits are set only for transactions, as on the service.
type Capacity struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64
	WriteCapacityUnits float64
}

// ConsumedCapacity is the consumption of a call on one table. Table and the maps of indexes are set
// only for CapacityIndexes; an index without consumption is not in them.
type ConsumedCapacity struct {
	TableName string
	Capacity
	Table                  *Capacity
	GlobalSecondaryIndexes map[string]Capacity
	LocalSecondaryIndexes  map[string]Capacity
}
