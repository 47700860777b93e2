// Package engine is a DynamoDB inside the process: tables with global and local indexes, the
// whole expression language, transactions, capacity units and expiry, on a directory or in
// memory. A [DB] implements [dynamo.DB] and [dynamo.Admin].
//
//	db, err := engine.Open("data", engine.Options{})
//	if err != nil { ... }
//	defer db.Close()
//
// # Promises
//
//   - A write that returned is on the disk. A read that saw it returns only then, too.
//   - A write is whole or not there: its item, its index rows, its expiry and its client request
//     token are one atomic batch.
//   - Transactions are serializable among themselves and with calls on single items. A page of a
//     Query or Scan, and a TransactGet, is one moment of the whole database.
//   - Indexes are always up to date, as are reads that do not ask for consistency: the service
//     allows more, and never less, than this. [Faults] make use of what it allows.
//
// # Concurrency
//
// Each item has one of 4,096 locks. A write holds those of its items while it reads them, checks
// its conditions and applies its batch, and lets go before it waits for the disk, so that writers
// of one item share a sync instead of queueing for one each. Tables change under a lock of their
// own, which other calls hold shared.
//
// # Limits
//
// One process has a directory open at a time. One machine's disk is all there is: nothing is
// replicated. Item collections are not limited to 10 GB, and nothing is throttled but by [Faults].
package engine
