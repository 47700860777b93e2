// Package worker has the background loops of a server: each repeats a task until its context ends,
// and then finishes the work in progress.
package worker
