//go:build cgo

package engine

// weight returns memory that is never used, so that it has addresses but no pages. In programs
// built with cgo the store keeps its tables outside the Go heap, where the garbage collector does
// not count them. The heap of a busy database then looks like a few megabytes, the collector runs
// twenty times a second, and each run empties all buffer pools. With the size of one table in the
// heap it runs as seldom as without cgo, where the tables are in the heap.
func weight(size int64) []byte { return make([]byte, size) }
