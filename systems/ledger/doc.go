// Package ledger keeps double-entry books: accounts, transactions with their legs, merchants,
// statements and reconciliations, in one table of DynamoDB or of the embedded engine.
//
// # Words
//
// An account is a balance of a user in one currency. A transaction is one movement of money: a
// header and two or more legs. A leg is one account's side of it: a credit raises the account's
// balance, a debit lowers it, for every account. In each currency the debits of a transaction
// equal its credits. What comes from outside the books, or leaves them, is posted against one of
// the ledger's own accounts, such as @deposits-NZD, which may go below zero without limit; so all
// balances of a currency always sum to zero. A posting is the request for a transaction; its
// idempotency key names it. A header's amount is the sum of the debits in its currency.
//
// # Promises
//
// A posting happens exactly once for its idempotency key, however often, however late and by
// however many callers at once it is sent. The transaction's id is derived from the key, and the
// header is written on condition that there is none: the write is the check. The key is kept as
// long as the transaction. An equal request gets the first answer again; another request with the
// same key is refused with the field that differs. Without a key, two equal requests are two
// transactions.
//
// A posting happens completely or not at all: header, legs and balances are one write.
//
// A refusal leaves no trace. Its key is free, so the same request may be sent again, and succeeds
// once the reason is gone. Which of several reasons is reported is fixed by the order of
// [Problems]. A repeat waits while an equal request is in progress in the same process, so it is
// not refused while that one may still be posted. A request that another process, or the network,
// still has may be carried out after the refusal of its repeat.
//
// No account falls below its overdraft limit, even under concurrent postings. The rules of an
// account are applied to the sum of its legs in a transaction: money may pass through an empty
// account.
//
// An exchange of currencies balances in each of them: what is sold goes to the ledger's account
// @exchange of its currency, what is bought comes from that of the other. An agreed amount may
// differ from the converted one by one minor unit, which is on @rounding. A repeat that names no
// rate gets the first answer though the rate has moved; a term that it names is compared.
//
// A reversal happens once, takes back the whole transaction by the same legs in the other
// direction, and both point at each other.
//
// One of the ledger's own accounts comes into being with the first posting that is accepted, in the
// same write.
//
// No account is posted to while its last leg is more than [ClockSkewMax] ahead of the clock: a
// wrong clock dates its own transactions, and not those of others. [Ledger.RepairDates] gives these
// the present instant.
//
// Each leg has the account's balance after it, and its version, which counts the legs of the
// account without gaps. Legs of one instant sort in the order in which they were posted, and no
// leg is older than the one before it. So a statement is only read, and adds up, while others
// post.
//
// A reconciliation reports balanced books only if it compared everything: headers with legs
// and legs with headers, balances with legs, accounts with the directory, reversals with originals,
// and index entries with their items. It names each item that diverges. What it could not compare
// makes its verdict undecided.
//
// # Access patterns
//
//	question                             index  partition               sort
//	merchant by id                       table  MERCHANT#<id>           METADATA
//	account by id                        table  ACCOUNT#<id>            METADATA
//	accounts of a user                   GSI1   USER#<user>             ACCOUNT#<id>
//	transaction by id                    table  TXN#<id>                METADATA
//	transaction with its legs            table  TXN#<id>                METADATA, LEG#<leg>
//	transactions by status and time      GSI1   STATUS#<status>         CREATED#<time>
//	transaction by idempotency key       GSI2   IDEMPOTENCY#<key>       TXN
//	legs of an account by time           GSI1   ACCOUNT#<id>            LEG#<time>#<leg>
//	all accounts                         table  @ledger#accounts#<n>    ACCOUNT#<id>
//	account or merchant made by a key    table  @ledger#request#<id>    METADATA
//
// Times are UTC with milliseconds, and of fixed width. With more than one status shard, the
// partition by status is STATUS#<status>#<n>. With a tenant, that by key is
// IDEMPOTENCY#<tenant>#<key>. The last but one is the ledger's directory: one small item for each
// account, in four partitions, written when the account is opened, with a digest of the
// request. The last one records the idempotency key of a request for an account or a merchant, from
// which its id is derived; it is written together with the item that the key made.
//
// Attributes that the seed of this design does not have: of accounts OverdraftLimit,
// OverdraftUnlimited, Zone, LocationID, Version, Revision, LastPostedAt and CreatedAt; of
// transactions Currency, Metadata, RequestHash, ReversalOf and ReversedBy; of legs BalanceAfter and
// AccountVersion; of merchants SettlementAccountID, LocationID, RequestID and CreatedAt.
//
// # Life of a transaction
//
//	            Post                 Reverse
//	(nothing) ────────▶ completed ───────────▶ reversed
//
// A payment is one write that happens or leaves nothing, so this package puts no transaction into
// the table as pending, nor as failed. Both are states of the design for programs that share the
// table and record what is not settled yet; they are found by status like the others, move no
// money, and cannot be reversed. A reversal is a transaction of its own, of the type reversal, and
// completed.
//
// # Life of an account
//
//	             OpenAccount         FreezeAccount
//	(nothing) ──────────────▶ active ◀──────────▶ frozen
//	                             │  UnfreezeAccount  │
//	                             ▼                   ▼
//	                           closed, with CloseAccount, once the balance is zero
//
// Only an active account can be posted to, in either direction.
//
// # Many callers, one account
//
// Postings of one process that share an account wait for each other in a queue, and those that
// wait are joined into one write, as far as 100 actions reach; a write whose conditions fail is
// taken apart and each posting tried alone. Between processes the version of the account decides,
// and the loser tries again until its context ends. See [Options].
//
// # Limits
//
// A posting has at most 100 actions: one for the header, one for each leg and one for each account.
// Amounts and balances have at most 38 digits, and amounts no more fraction digits than their
// currency. A description has at most 1,024 bytes; metadata at most 50 pairs and 4,096 bytes; an
// idempotency key 1 to 255 characters.
package ledger
