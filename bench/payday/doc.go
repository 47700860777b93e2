// Command payday carries a bank's day through the whole system: it inserts a million scheduled
// payments of up to 8 KB for one day, settles all of them through the ledger, and archives the day,
// on the embedded engine, with the default options and every write durable when it returns.
//
//	go run ./bench/payday                        # a million; prints the disk space that it needs
//	go run ./bench/payday --payments 20000       # the same, smaller
//	go run ./bench/payday --heat                 # the model of DynamoDB's partitions alone
//
// For each phase it reports time, rate, processor time, the peak of memory after a quarter and at
// the end, the bytes written for each byte of payload, and the disk used. For comparison it runs
// Pebble alone, which writes rows of the same number and sizes and checks nothing. At the end every
// payment is looked up: it must be settled once, in the history, with a transaction of its amount
// in the ledger, and every balance must be the sum of the payments.
//
// The last table is a model. It sends the same payments, in half an hour, to shards of the index by
// status that take 1,000 write units a second each, as a partition key of DynamoDB does, and prints
// which shards throttle and how long the backlog takes.
package main
