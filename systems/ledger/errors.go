package ledger

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that the ledger can report. Its order is the order of precedence: where
// several problems apply to one request, the earliest is reported, and of several legs with the
// same problem the first leg. What is wrong with a request in itself comes first, then what is
// wrong with its key, then why the books refuse it.
var Problems = problem.NewCatalogue("ledger")

// Requests that can never succeed as they are.
var (
	ErrInvalidRequest        = Problems.Share(problem.ErrRequestInvalid, "")
	ErrInvalidIdempotencyKey = Problems.Share(problem.ErrIdempotencyKeyInvalid,
		"Use a random UUID or your own reference of the payment")
	ErrDescriptionTooLong = Problems.Define(problem.TooLarge, "description_too_long",
		"The description has {size} bytes, the limit is {limit}",
		"Shorten the description")
	ErrMetadataTooLarge = Problems.Define(problem.TooLarge, "metadata_too_large",
		"The metadata has {size} {unit}, the limit is {limit}",
		"Keep references in the metadata and documents elsewhere")
	ErrTooFewLegs = Problems.Define(problem.Invalid, "too_few_legs",
		"A transaction has at least two legs, this one has {legs}",
		"Give a leg that debits one account and a leg that credits another")
	ErrTooManyLegs = Problems.Define(problem.TooLarge, "too_many_legs",
		"{legs} legs on {accounts} accounts need {actions} writes, the limit is {limit}",
		"Split it into several transactions")
	ErrAmountNotPositive = Problems.Share(problem.ErrAmountNotPositive,
		"Give a positive amount and choose debit or credit for its direction")
	ErrTooManyFractionDigits = Problems.Share(problem.ErrTooManyFractionDigits, "")
	ErrAmountTooLarge        = Problems.Share(problem.ErrAmountTooLarge,
		"Split it into several transactions")
	ErrUnbalanced = Problems.Define(problem.Invalid, "transaction_unbalanced",
		"Debits of {debits} and credits of {credits} differ",
		"Make debits and credits equal in each currency")
	ErrBoughtOutOfRange = Problems.Define(problem.Invalid, "bought_out_of_range",
		"{amount} at the rate {rate} is {converted}, and {bought} differs from it by more than {limit}",
		"Give {converted}, or leave bought out")
	ErrInvalidStatusShards = Problems.Define(problem.Invalid, "status_shards_invalid",
		"Transactions can be spread over {least} to {most} shards from then on, not over {given}",
		"Shards only grow: give a number in that range")
	ErrStatusEpochTooEarly = Problems.Define(problem.Invalid, "status_epoch_too_early",
		"A number of shards holds from an instant after {last} on",
		"Give a later instant")
	ErrInvalidCursor = Problems.Share(problem.ErrCursorInvalid, "")
)

// Requests that contradict what exists.
var (
	ErrIdempotencyConflict = Problems.Share(problem.ErrIdempotencyConflict, "")
	ErrMerchantExists      = Problems.Define(problem.Conflict, "merchant_exists",
		"There is a merchant {merchant} already, with another {field}",
		"Choose another id")
	ErrAccountExists = Problems.Define(problem.Conflict, "account_exists",
		"There is an account {account} already, with another {field}",
		"Choose another id")
)

// Reasons for which the books refuse a request.
var (
	ErrLocationNotFound = Problems.Share(problem.ErrLocationNotFound,
		"Create the location first, or leave it out")
	ErrTransactionNotFound = Problems.Define(problem.NotFound, "transaction_not_found",
		"There is no transaction {transaction}",
		"Look it up by its idempotency key or by status and time")
	ErrReversalOfReversal = Problems.Define(problem.Refused, "transaction_is_reversal",
		"{transaction} is a reversal itself and cannot be reversed",
		"Post a new transaction")
	ErrAlreadyReversed = Problems.Define(problem.Conflict, "transaction_already_reversed",
		"{transaction} was reversed by {reversal} already, with another {field}",
		"Read the reversal")
	ErrNotCompleted = Problems.Define(problem.Refused, "transaction_not_completed",
		"{transaction} is {status}, and only what is completed can be reversed",
		"Wait until it is completed")
	ErrMerchantNotFound = Problems.Define(problem.NotFound, "merchant_not_found",
		"There is no merchant {merchant}",
		"Create the merchant first")
	ErrNoSettlementAccount = Problems.Define(problem.Refused, "settlement_account_missing",
		"Merchant {merchant} has no settlement account",
		"Name the account to credit")
	ErrAccountNotFound  = Problems.Share(problem.ErrAccountNotFound, "")
	ErrCurrencyMismatch = Problems.Share(problem.ErrCurrencyMismatch,
		"Use an account of the leg's currency")
	ErrAccountChanged = Problems.Define(problem.Changed, "account_changed",
		"Account {account} is no longer what the request knows",
		"Read it again and decide again")
	ErrAccountClosed = Problems.Define(problem.Refused, "account_closed",
		"Account {account} is closed",
		"Use another account")
	ErrAccountFrozen = Problems.Define(problem.Refused, "account_frozen",
		"Account {account} is frozen",
		"Unfreeze it first")
	ErrAccountNotEmpty = Problems.Define(problem.Refused, "account_not_empty",
		"Account {account} holds {balance} and cannot be closed",
		"Move the balance to another account first")
	ErrSystemAccount = Problems.Define(problem.Refused, "account_is_system",
		"Account {account} belongs to the ledger itself and stays active",
		"Choose an account of a user")
	ErrBalanceTooLarge = Problems.Define(problem.Refused, "balance_too_large",
		"The balance of account {account} would have more than {limit} digits",
		"Move a part of the balance to another account first")
	ErrInsufficientFunds = Problems.Define(problem.Refused, "insufficient_funds",
		"Account {account} has {available} to spend, but {needed} is needed",
		"Deposit money first, or raise the account's overdraft limit")
)

// ErrJoined is what PostWith returns when what the caller writes in the same write was refused: a
// condition of its own did not hold. Nothing was posted.
var ErrJoined = Problems.Define(problem.Changed, "joined_write_refused",
	"What was to be written together with the transaction was refused",
	"Read the item that the condition was about, and decide again")

// ErrAccountFromFuture is what a posting gets if the last instant of an account is further ahead of
// the clock than [ClockSkewMax]: one wrong clock would date all later postings.
var ErrAccountFromFuture = Problems.Define(problem.Unavailable, "account_from_future",
	"Account {account} was last posted to at {last}, but it is {now} here: more than {limit} apart",
	"Set the clocks of all servers right, run exchequer ledger repair-dates --repair, and send the same "+
		"request again")

// ErrStatementIncomplete is what a statement is if a leg in the middle of it cannot be found: the
// index that statements are read from lags, or the leg was removed.
var ErrStatementIncomplete = Problems.Define(problem.Unavailable, "statement_incomplete",
	"Leg {version} of account {account} cannot be found in the index that statements are read from",
	"Read the statement again from its first page; if the error stays, reconcile the books")

// ErrContended is what is left when other writers kept winning until the caller's time was over.
var ErrContended = Problems.Share(problem.ErrContended,
	"Send the same request with the same key again: it cannot be posted twice")
