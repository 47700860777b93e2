// Package sim plays seeded random work over the whole product and compares the store that it left
// with a plain model. It is a test: go test ./internal/sim plays a few rounds.
//
// # A round
//
// A seed makes a plan: which clients do what, and what goes wrong. Two server processes serve one
// store, an engine on a disk in memory; clients of package client send requests to either of them
// through a network in the same process. The round runs in a bubble of testing/synctest, where a
// clock moves only while everything waits. Each call of the store takes a time that is drawn from
// the seed, so that the seed decides how the calls of all requests interleave: the same seed gives
// the same history, byte for byte, with very few exceptions. Minutes of waiting take no time.
//
// # What goes wrong
//
// Answers and requests are lost, requests are sent twice, and clients give up and try again. The
// store has conflicts, throttles, unprocessed members of batches, early ends of pages, indexes that
// lag, stale reads and lost answers; a call may take so long that claims and requests expire, and
// requests stall at a call that their step chooses. A process dies between two calls of the store,
// and with it its requests and workers. The power is cut before a sync, and the store is opened
// again on what was synced. The disk fails: it is full, read-only, writes half of something, or
// does not sync; the store stops then, the processes end, and all start again on the same disk.
// Clocks of processes differ, and all clocks jump to just before midnight or a change of daylight
// saving, or by more than a lease, so that claims run out in mid work. The store's own clock does
// not jump, because it knows tokens for ten minutes only.
//
// # What is compared
//
// While clients work: no key is answered 201 twice, answers to one key are equal and fit what was
// asked for, what was acknowledged can be read at once, an account that was frozen before a request
// began takes no posting, and a list that is followed to its end while others write has every row
// that was there before it began, and none twice.
//
// When all is quiet: everything that was acknowledged is there once and equal to its answer;
// nothing is there that no client asked for; a refusal has left no trace and had a reason;
// balances, legs and statements are what the transactions add up to; each payment is settled once
// or has a reason; no code belongs to two locations; no rate is older than one that was saved; the
// rows, months and tags of bank accounts are those of the files that were imported and not undone.
// Every list of the API, with its filters, has exactly the rows that it must have; a test walks the
// OpenAPI document and names a list that no round compares.
// The product's own checks find nothing then. At the end of a round items are tampered with, one
// at a time, and the check of their system finds and names each: the reconciliation those of the
// ledger, the repair of locations those of codes, the check of totals rows and totals, the health
// of rates what cannot be read, the move of a day a payment that is not what its copy is.
//
// # A round that fails
//
// The test looks for the shortest plan that fails in the same way, and prints it with its history.
// EXCHEQUER_SEED plays one round again, EXCHEQUER_ROUNDS sets how many rounds are played, from that
// seed on. With -v the test lists how often each operation came out in which way.
package sim
