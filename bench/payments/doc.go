// Command payments runs one double-entry payment side by side against every store that a user might
// pick for it, in one run on one machine, and prints medians and ratios.
//
// A payment is the same work everywhere: a header under a unique idempotency key, two legs, a check
// that the debited account can pay, and two balance updates, durable when the call returns. The
// stores take turns within each round, each on a fresh directory with the same older payments in
// it, so a slow minute of the machine hits all of them alike. After every case the books are
// checked: balances must sum to what was put in, and there must be exactly as many transactions as
// payments were acknowledged.
//
//	go -C bench/payments run .                      # payments: 1, 32 and 256 callers
//	go -C bench/payments run . -reads               # point look-ups and ranges of 100 rows
//	go -C bench/payments run . -callers 1 -rounds 1 -duration 1s -stores sqlite
//
// A store is one file that implements the interface store and one line in contenders.
package main
