// Package engine is an embedded DynamoDB: tables with global and local indexes, the whole
// expression language, transactions, capacity units and expiry, in a directory or in memory. A [DB]
// implements [dynamo.DB] and [dynamo.Admin].
//
//	db, err := engine.Open("data", engine.Options{})
//	if err != nil { ... }
//	defer db.Close()
//
// # Promises
//
//   - When a write returns, it is synced to the disk. A read that has seen a write returns only
//     after the write is synced.
//   - A write is atomic: its item, index rows, expiry row and client request token are one batch.
//   - Transactions are serializable among themselves and with calls on single items. A page of a
//     Query or Scan, and a TransactGet, reads one snapshot of the database.
//   - Indexes and eventually consistent reads are always up to date. The service guarantees less;
//     [Faults] produce the delays that it allows.
//
// # Concurrency
//
// Each item has one of 4,096 locks. A write holds the locks of its items while it reads the items,
// checks its conditions and applies its batch. It releases them before it waits for the disk,
// because then concurrent writers of one item can share a sync. Changes of tables have a lock of
// their own, which all other calls hold shared.
//
// # Limits
//
// Only one process can open a directory at a time. The data is on the disk of one machine: there is
// no replication. Item collections are not limited to 10 GB, and only [Faults] throttle calls.
package engine
