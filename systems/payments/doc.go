// Package payments keeps scheduled payments: millions of orders to pay at a time, in one table of
// DynamoDB or of the embedded engine, settled through the ledger exactly once, and archived into a
// second table at the end of the day.
//
// # Words
//
// A payment is an order to pay an amount from an account to another one, or to a merchant, at a
// time. To claim a payment is to make it one worker's own for a while. To settle it is to execute
// it through the ledger. The history is the table of payments that came to their end. An identity
// is the small item that points to the payment with an id.
//
// # Promises
//
// A payment is inserted once for its account and key, however often, however late and by however
// many callers at once it is asked for: also after it was changed, moved to another time, settled
// or archived. Another request with the same key is distinguished from a repeat, by the field that
// differs. Without a key, two equal requests are two payments, and any number of payments of one
// account fit into one instant.
//
// A payment is settled once or has a reason. The ledger's transaction, the payment's end and that
// of its identity are one write, and the payment's id is the transaction's idempotency key, in a
// space that no caller's key reaches; so a crash at any point neither loses nor doubles. A lease
// that runs out lets another worker try, and never lets two succeed.
//
// A payment can be changed or cancelled until it is claimed. Of a cancellation and a claim at once
// one wins, and both sides learn which.
//
// Lists over all accounts are whole or an error: a shard that cannot be read is never left out.
//
// While a day is moved, every payment of it is found in every list. A day is declared moved when
// all its payments came to their end and counts and sums of each state agree.
//
// # Access patterns
//
//	question                     index                         partition      sort
//	insert                       table                         <account>      <time>#<id>
//	payments of an account       table                         <account>      <time>#<id>
//	payments by status and time  Query_All_Scheduled_Payments  <shard>        <STATUS>#<time>#<id>
//	what came to its end         QueryAll_byTime               <shard>        <time>#<id>
//	payment by transaction       Query_TransactionID           <transaction>
//	payment by id                table                         @payments#identity#<id>
//
// The last is followed by a read of the payment itself. All but the first ask both tables; only the
// history has the indexes by time and by transaction, for which the scheduler's table is asked by
// its ends and by the identity.
//
// The scheduler's table is PaymentScheduler (AccountID, ScheduledTime), the history
// TransactionHistory (AccountID, Timestamp). Times are UTC with milliseconds, and of fixed width.
// Shards are 0 to N-1 in the attribute Sharded-GSI-PK, a hash of the payment's id, so that a repeat
// finds the same one. How many there are is data: a list of numbers with the time from which each
// holds, stored with the first payment ([Scheduler.Grow]); lists ask the shards of all numbers that
// their range of time had. The scheduler's own items are in partitions that begin with @payments#:
// identity, control, lease and day.
//
// # Life of a payment
//
//	            Schedule              claim                 settle
//	(nothing) ───────────▶ SCHEDULED ───────▶ PENDING ─────────────────▶ PROCESSED
//	                        │  ▲      lease     │  ▲                      with TransactionID
//	                 Cancel │  │ Replay         │  └─ waits for the next attempt, and is
//	                        ▼  │                │     claimed again; so is one whose lease is over
//	                CANCELLED  └──── FAILED ◀───┘
//	                                 with the reason, at once or after the last attempt
//
// What may pass later is tried again, with waits that double: want of funds and a frozen account
// until the attempts of Retry are used up, trouble with the store for as long as it lasts. What
// will not pass, such as a closed account or a payee that does not exist, fails at once. While it
// waits for its next attempt a payment can be cancelled and changed. Failed payments are a list, by
// status, from which each can be replayed.
//
// # Cost
//
// With the index as it is by default, all but the data, a payment of 8 KB takes 10 units to insert:
// 8 for the item, one for its entry and one for its identity. Its whole life takes 61, in addition
// to the 16 of the ledger's transaction; with whole payments in the index it would be 117, and with
// keys alone 61 as well, and a second read for every row of a list. The first payment of all takes
// one more, which stores the number of shards; one that failed takes 10 more to copy, as the same
// write asks whether it was replayed. [Lives] measures that; [PlanShards] works out how many shards
// a day's payments need.
//
// # Limits
//
// A payment's data has at most 6,900 bytes, so that the item stays within 8 KB; a description 280
// bytes; a key 1 to 255 characters. There are at most 200 shards. A page has at most 1,000 rows.
package payments
