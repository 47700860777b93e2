package rates

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that the board can report. Its order is the order of precedence: what
// is wrong with a request in itself, then the checks at intake, then what is not there.
var Problems = problem.NewCatalogue("rates")

// Requests that can never succeed as they are.
var (
	ErrInvalid     = Problems.Share(problem.ErrRequestInvalid, "")
	ErrNotPositive = Problems.Define(problem.Invalid, "rate_not_positive",
		"A rate is more than zero, and {rate} for {pair} is not",
		"Look at where the rate comes from; it cannot be saved, not even by force")
	ErrFutureDate = Problems.Define(problem.Invalid, "rate_date_in_future",
		"There is no rate of {date}, which is in the future",
		"Ask for today's date or an earlier one")
	ErrInvalidCursor = Problems.Share(problem.ErrCursorInvalid, "")
	ErrTooManyDays   = Problems.Share(problem.ErrDateRangeTooLong, "")
)

// What can be wrong with what a source has sent.
var (
	ErrUnreadable = Problems.Share(problem.ErrFileUnreadable,
		"Give a file of the European Central Bank, or an answer of Frankfurter or Open Exchange Rates")
	ErrNoData = Problems.Define(problem.NotFound, "rate_data_missing",
		"There are no rates in it: there was no publication",
		"Ask for a working day")
)

// Checks at intake that a rate fails, unless it is forced.
var (
	ErrUnknownCode = Problems.Define(problem.Refused, "rate_code_unknown",
		"{code} is no currency of ISO 4217",
		"Correct the code, or force the rate if it is right")
	ErrFarFuture = Problems.Define(problem.Refused, "rate_time_in_future",
		"The rate of {pair} is of {asOf}, which is too far in the future",
		"Check the clock of its source, or force the rate if it is right")
	ErrJump = Problems.Define(problem.Refused, "rate_jump_too_large",
		"{pair} would go from {before} to {after}, more than the factor {factor} allows",
		"Compare it with another source, and force the rate if it is right")
	ErrOlder = Problems.Define(problem.Conflict, "rate_outdated",
		"There is a rate of {pair} as of {stored}, and the one given is of {given}",
		"Keep the newer rate; record an old one in the history instead")
)

// What is not there.
var (
	ErrNotFound = Problems.Share(problem.ErrRateNotFound, "")
	ErrNotFresh = Problems.Define(problem.Refused, "rate_not_fresh",
		"The rate of {pair} is of {asOf} and no longer fresh",
		"Save or fetch a newer one, or accept a stale rate")
	ErrLegsApart = Problems.Define(problem.Refused, "rate_dates_too_far_apart",
		"{pair} would be derived from rates of {older} and {newer}, too many days apart",
		"Save or load the older of the two anew")
	ErrTooLarge = Problems.Share(problem.ErrAmountTooLarge, "Convert a part of it")
)

// What is no fault of the request.
var (
	ErrUnavailable = Problems.Define(problem.Unavailable, "rate_unavailable",
		"The last rate of {pair} is of {asOf}, too old to be used, and there is no newer one",
		"Look at why its source does not answer, or save a rate")
	ErrSourceDown = Problems.Define(problem.Unavailable, "rate_source_unavailable",
		"There is no rate of {pair}, and the source of rates does not answer",
		"Try again later, or save a rate")
	ErrFetchFailed = Problems.Define(problem.Unavailable, "rate_fetch_failed",
		"{source} gave no rates: {reason}",
		"The rates that are there are still served, and said to be stale once they are; try again")
	ErrFetchPaused = Problems.Define(problem.Unavailable, "rate_fetch_paused",
		"{source} has failed {failures} times in a row and is not asked again before {until}",
		"Wait, or load a file")
	ErrContended = Problems.Share(problem.ErrContended, "")
)

// notFound reports that a pair is not stored.
func notFound(pair Pair) error {
	return ErrNotFound.With("pair", pair).With("reason", "it is not stored")
}
