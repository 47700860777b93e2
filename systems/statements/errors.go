package statements

import (
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Problems lists everything that the books can report. Its order is the order of precedence: what
// is wrong with a request in itself, then what it asks for and is not there, then what others have
// done meanwhile, then what the rules say against it.
var Problems = problem.NewCatalogue("statements")

// Requests that can never succeed as they are.
var (
	ErrInvalidUser = Problems.Define(problem.Invalid, "user_invalid",
		"A user's id has 1 to 255 bytes without control characters",
		"Use the subject of the user's token")
	ErrInvalid = Problems.Define(problem.Invalid, "statement_invalid",
		"The request is not complete or not well formed",
		"Correct the fields named and send it again")
	ErrInvalidRange = Problems.Define(problem.Invalid, "statement_range_invalid",
		"The days from {from} to {to} are no range of at most {months} months",
		"Give two calendar days such as 2026-01-31, the earlier one first")
	ErrInvalidCursor = Problems.Define(problem.Invalid, "statement_cursor_invalid",
		"The cursor is not one of this question's",
		"Start from the first page, with the same question on every page")
	ErrArchiveInvalid = Problems.Define(problem.Invalid, "statement_archive_invalid",
		"The archive cannot be restored: {why}",
		"Use an archive that was made here, as it was written")
)

// What is asked for and not there.
var (
	ErrNoProfile = Problems.Define(problem.NotFound, "profile_not_found",
		"There is no profile yet",
		"Save one, with the currency and the time zone")
	ErrNoAccount = Problems.Define(problem.NotFound, "bank_account_not_found",
		"There is no account {account}",
		"List the accounts to find its id")
	ErrNoTag = Problems.Define(problem.NotFound, "tag_not_found",
		"There is no tag {tag}",
		"List the tags to find its id")
	ErrNoTransaction = Problems.Define(problem.NotFound, "bank_transaction_not_found",
		"There is no transaction {transaction} in account {account}",
		"List the transactions of the month to find its id")
	ErrNoRate = Problems.Define(problem.NotFound, "no_rate_of_day",
		"There is no rate from {from} to {to} for {date}",
		"Load the rates of that time")
)

// What others have done, and what stands in the way.
var (
	ErrChanged = Problems.Define(problem.Changed, "statement_changed",
		"{what} is no longer what the request speaks of",
		"Read it again and decide anew")
	ErrTagTaken = Problems.Define(problem.Conflict, "tag_taken",
		"The tag {text} is there already, as {tag}",
		"Use that one, or merge the two")
	ErrNotEmpty = Problems.Define(problem.Refused, "statement_not_empty",
		"There are statements already, and an archive is restored where there are none",
		"Restore it for another user, or erase what is there first")
	ErrTooMany = Problems.Define(problem.Refused, "statement_limit",
		"There are {limit} {what} already, which is the limit",
		"Remove some that are not needed")
	ErrContended = Problems.Define(problem.Unavailable, "statement_contended",
		"Too many writes meet in one place",
		"Try again in a moment")
)

// failed tells what was tried when the store failed.
func failed(deed string, err error) error {
	if errors.Is(err, singletable.ErrBusy) {
		return ErrContended.Wrap(fmt.Errorf("%s: %w", deed, err))
	}
	var cursor *singletable.CursorError
	if errors.As(err, &cursor) {
		return ErrInvalidCursor.Wrap(err)
	}
	return fmt.Errorf("%s: %w", deed, err)
}
