// Command payments runs one double-entry payment against every store that a user might choose for
// it, in one run on one machine, and prints medians and ratios.
//
// A payment is the same work everywhere: a header under a unique idempotency key, two legs, a check
// that the debited account can pay, and two balance updates, durable when the call returns. The
// stores take turns within each round, each on a fresh directory with the same older payments in
// it, so that a slow minute of the machine affects all of them. After every case the books are
// checked: the sum of the balances must not have changed, and the number of transactions must be
// that of the acknowledged payments.
//
//	go -C bench/payments run .                      # payments: 1, 32 and 256 callers
//	go -C bench/payments run . -reads               # point look-ups and ranges of 100 rows
//	go -C bench/payments run . -callers 1 -rounds 1 -duration 1s -stores sqlite
//
// A store is one file that implements the interface store and one line in contenders.
package main
