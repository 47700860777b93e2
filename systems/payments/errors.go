package payments

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that the scheduler can report, in the order of precedence.
var Problems = problem.NewCatalogue("payments")

// Requests that can never succeed as they are.
var (
	ErrInvalidRequest = Problems.Share(problem.ErrRequestInvalid, "")
	ErrInvalidKey     = Problems.Share(problem.ErrIdempotencyKeyInvalid,
		"Use a random UUID or your own reference of the payment")
	ErrDataTooLarge = Problems.Define(problem.TooLarge, "payment_data_too_large",
		"The data of the payment has {size} bytes, the limit is {limit}",
		"Keep documents elsewhere and a reference to them in the data")
	ErrAmountNotPositive     = Problems.Share(problem.ErrAmountNotPositive, "")
	ErrTooManyFractionDigits = Problems.Share(problem.ErrTooManyFractionDigits, "")
	ErrInvalidCursor         = Problems.Share(problem.ErrCursorInvalid, "")
	ErrTooManyShards         = Problems.Define(problem.Invalid, "shards_invalid",
		"The index can be spread over {least} to {most} shards from then on, not over {given}",
		"Shards only grow: give a number in that range")
	ErrEpochTooEarly = Problems.Define(problem.Invalid, "epoch_too_early",
		"A number of shards holds from a day after {last} on",
		"Give a later day")
)

// Requests that contradict what exists.
var (
	ErrNotFound = Problems.Define(problem.NotFound, "payment_not_found",
		"There is no payment {payment}",
		"Look it up by its account and day")
	ErrKeyConflict = Problems.Share(problem.ErrIdempotencyConflict,
		"Use a new key for a new payment, or change the first one")
	ErrChanged = Problems.Share(problem.ErrVersionChanged, "")
	ErrClaimed = Problems.Define(problem.Conflict, "payment_claimed",
		"The payment {payment} is being paid right now",
		"Read it in a moment to see what came of it")
	ErrFinal = Problems.Define(problem.Refused, "payment_final",
		"The payment {payment} is {status} already",
		"Schedule a new payment, or replay one that failed")
	ErrNotFailed = Problems.Define(problem.Refused, "payment_not_failed",
		"The payment {payment} is {status}, and only a failed one can be replayed",
		"Leave it to take its course")
	ErrForeign = Problems.Define(problem.Refused, "payment_foreign",
		"Another program scheduled the payment {payment} without an id, and this one only shows it",
		"Change it with the program that scheduled it")
	ErrAccountNotFound  = Problems.Share(problem.ErrAccountNotFound, "")
	ErrCurrencyMismatch = Problems.Share(problem.ErrCurrencyMismatch,
		"Pay from an account of the payment's currency")
	ErrDayNotOver = Problems.Define(problem.Refused, "payment_day_not_over",
		"The day {day} is not over yet",
		"Move it when it is over")
	ErrDayDiffers = Problems.Define(problem.Unavailable, "payment_day_incomplete",
		"Of the day {day}, {moved} payments {status} are in the history and {expected} must be",
		"Indexes may be behind: move the day again, which goes on where it stopped")
	ErrCopyDiffers = Problems.Define(problem.Conflict, "payment_copy_differs",
		"The copy of payment {payment} in the history is not what the payment is: {attribute} differs",
		"Correct or delete the copy in the history, then move the day again; the payment was not removed")
	ErrWaiting = Problems.Define(problem.Refused, "payments_waiting",
		"Payments are scheduled that account {account} takes part in: {from} from it, {to} to it",
		"Cancel or change them, or close it with withOpenPayments (--with-open-payments): then they fail")
	ErrWaitingUnknown = Problems.Define(problem.Refused, "payments_undecided",
		"Not every scheduled payment could be looked at, so that one may be to account {account}",
		"Close it with withOpenPayments (--with-open-payments), if payments to it may fail")
)
