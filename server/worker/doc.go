// Package worker has the loops that a server runs beside its answers: each does something again and
// again until its context ends, and then finishes what it has in hand.
package worker
