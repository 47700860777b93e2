package problem

// DetailSystem is the name of the detail of a shared problem that names the system that reports it,
// such as "ledger".
const DetailSystem = "system"

// Shared lists the problems that several systems report. Each has one code, without a noun, so that
// a program can react to it in one place. A system adds those that it reports to its own catalogue
// with Catalogue.Share.
var Shared = NewCatalogue("shared")

// Requests that can never succeed as they are.
var (
	ErrRequestInvalid = Shared.Define(Invalid, "request_invalid",
		"The request is incomplete or malformed",
		"Correct the named fields and send the request again")
	ErrIdempotencyKeyInvalid = Shared.Define(Invalid, "idempotency_key_invalid",
		"An idempotency key has 1 to 255 characters",
		"Use a random UUID, or your own reference")
	ErrBodyTooLarge = Shared.Define(TooLarge, "body_too_large",
		"The body has more than {limit} bytes",
		"Send less at once")
	ErrFileUnreadable = Shared.Define(Invalid, "file_unreadable",
		"The file cannot be read ({format}): {reason}",
		"Check that it is complete and in a supported format")
	ErrRowInvalid = Shared.Define(Invalid, "row_invalid",
		"The row {wrong}",
		"Correct the row and import the file again")
	ErrAmountNotPositive = Shared.Define(Invalid, "amount_not_positive",
		"The amount {amount} is not more than zero",
		"Give a positive amount")
	ErrTooManyFractionDigits = Shared.Define(Invalid, "too_many_fraction_digits",
		"{amount} has more fraction digits than {currency} has",
		"Round it to {digits} fraction digits")
	ErrAmountTooLarge = Shared.Define(TooLarge, "amount_too_large",
		"An amount has more than {limit} digits",
		"Use smaller amounts")
	ErrDateRangeTooLong = Shared.Define(TooLarge, "date_range_too_long",
		"The range has more than {limit} {unit}",
		"Ask for a shorter range")
	ErrCursorInvalid = Shared.Define(Invalid, "cursor_invalid",
		"The cursor is damaged, or belongs to another list",
		"Start from the first page, and send the same parameters with every page")
)

// Requests that contradict what exists.
var (
	ErrIdempotencyConflict = Shared.Define(Conflict, "idempotency_conflict",
		"The key or id was used for {first} with another {field}",
		"Use a new key or id for a new request")
	ErrVersionChanged = Shared.Define(Changed, "version_changed",
		"{what} has changed since it was read",
		"Read it again and decide again")
)

// Things that do not exist.
var (
	ErrLocationNotFound = Shared.Define(NotFound, "location_not_found",
		"There is no location {location}",
		"List the locations, including deleted ones, to find its id")
	ErrAccountNotFound = Shared.Define(NotFound, "account_not_found",
		"There is no account {account}",
		"Open the account first, or list the user's accounts to find its id")
	ErrRateNotFound = Shared.Define(NotFound, "rate_not_found",
		"There is no rate of {pair}: {reason}",
		"List the rates of a base, or save or load the missing one")
)

// Rules that a request breaks, and obstacles for a time.
var (
	ErrCurrencyMismatch = Shared.Define(Refused, "currency_mismatch",
		"Account {account} is kept in {currency}, and the amount is in {given}",
		"Use an account in the currency of the amount")
	ErrLimitReached = Shared.Define(Refused, "limit_reached",
		"The maximum of {limit} {what} is reached",
		"Remove some that are not needed")
	ErrContended = Shared.Define(Unavailable, "contended",
		"Too many writers change {items} at the same time",
		"Send the same request again, with the same key if it has one: nothing is done twice")
)
