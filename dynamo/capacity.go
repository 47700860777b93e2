package dynamo

// ReadUnits returns the capacity units of reading size bytes: one for each 4 KB or part of it,
// half of that for an eventually consistent read. Reading nothing costs as much as the smallest
// read.
func ReadUnits(size int, consistent bool) float64 {
	units := float64(steps(size, ReadUnitSize))
	if !consistent {
		units /= 2
	}
	return units
}

// WriteUnits returns the capacity units of writing an item whose larger image, before or after,
// has size bytes: one for each 1 KB or part of it.
func WriteUnits(size int) float64 { return float64(steps(size, WriteUnitSize)) }

func steps(size, step int) int { return max(1, (size+step-1)/step) }

// ReturnConsumedCapacity says how much an answer tells of the capacity it used.
type ReturnConsumedCapacity string

// How much to tell: nothing, the total of each table, or the table and each index apart.
const (
	CapacityNone    ReturnConsumedCapacity = "NONE"
	CapacityTotal   ReturnConsumedCapacity = "TOTAL"
	CapacityIndexes ReturnConsumedCapacity = "INDEXES"
)

// Capacity is what one table or index used, in capacity units. ReadCapacityUnits and
// WriteCapacityUnits are set for transactions only, as in the service.
type Capacity struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64
	WriteCapacityUnits float64
}

// ConsumedCapacity is what a call used on one table. Table and the index maps are set only when
// CapacityIndexes was asked for; an index that was not touched has no line.
type ConsumedCapacity struct {
	TableName string
	Capacity
	Table                  *Capacity
	GlobalSecondaryIndexes map[string]Capacity
	LocalSecondaryIndexes  map[string]Capacity
}
