//go:build cgo

package engine

// weight returns memory that is never touched: addresses without pages behind them. In programs
// built with cgo the store keeps its tables outside Go's heap, where the garbage collector does
// not see them. It takes a busy database for a program of a few megabytes, runs twenty times a
// second and empties the pools of everybody each time. With the weight of one table in the heap
// it runs as seldom as in a program without cgo, whose tables are there.
func weight(size int64) []byte { return make([]byte, size) }
