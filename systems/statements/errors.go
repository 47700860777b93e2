package statements

import (
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Problems lists everything that the books can report. Its order is the order of precedence: what
// is wrong with a request in itself, then what it asks for and is not there, then what others have
// done in the meantime, then the rules that it breaks.
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
	ErrFileTooLarge = Problems.Define(problem.TooLarge, "upload_too_large",
		"The file has more than {limit} bytes",
		"Split it, by year for example")
	ErrUnreadable = Problems.Define(problem.Invalid, "upload_unreadable",
		"The file cannot be read: {why}",
		"Download it again from the bank, or in another format")
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
	ErrNoUpload = Problems.Define(problem.NotFound, "upload_not_found",
		"There is no upload {upload} in account {account}",
		"List the uploads of the account to find its id")
	ErrFileMissing = Problems.Define(problem.NotFound, "upload_file_missing",
		"The file of the upload is not there any more",
		"Upload it again")
	ErrNoAnnotation = Problems.Define(problem.NotFound, "annotation_not_found",
		"There is no annotation {annotation} on the transaction",
		"Read the transaction to find its annotations")
	ErrNoRule = Problems.Define(problem.NotFound, "rule_not_found",
		"There is no rule {rule}",
		"List the rules to find its id")
	ErrNoJob = Problems.Define(problem.NotFound, "job_not_found",
		"There is no job {job}",
		"List the jobs; those that are done are removed after a week")
	ErrNoRate = Problems.Define(problem.NotFound, "no_rate_of_day",
		"There is no rate from {from} to {to} for {date}",
		"Load the rates of that time")
)

// Changes by other writers, and other obstacles.
var (
	ErrChanged = Problems.Define(problem.Changed, "statement_changed",
		"{what} is no longer what the request speaks of",
		"Read it again and decide anew")
	ErrTagTaken = Problems.Define(problem.Conflict, "tag_taken",
		"The tag {text} is there already, as {tag}",
		"Use that one, or merge the two")
	ErrPreviewStale = Problems.Define(problem.Changed, "preview_stale",
		"The preview is out of date: the import would no longer do what it showed",
		"Preview it again")
	ErrUploadState = Problems.Define(problem.Conflict, "upload_state",
		"The upload is {status}, so it cannot be {deed}",
		"Look at its status to see what is next")
	ErrUndecided = Problems.Define(problem.Refused, "upload_undecided",
		"The file leaves open: {topics}",
		"Answer the questions of the upload")
	ErrUndoEdited = Problems.Define(problem.Refused, "undo_edited",
		"Of the rows of the import {rows} were worked on since",
		"Say whether to keep or to remove them")
	ErrNotEmpty = Problems.Define(problem.Refused, "statement_not_empty",
		"There are statements already, and an archive is restored where there are none",
		"Restore it for another user, or erase what is there first")
	ErrKeyUsed = Problems.Define(problem.Conflict, "statement_key_used",
		"The key or id {key} was used for another request",
		"Use a new one for each request, and the same one only to repeat it")
	ErrTooMany = Problems.Define(problem.Refused, "statement_limit",
		"There are {limit} {what} already, which is the limit",
		"Remove some that are not needed")
	ErrContended = Problems.Define(problem.Unavailable, "statement_contended",
		"Too many writers want {items} at once",
		"Try again in a moment")
	ErrFileDamaged = Problems.Define(problem.Conflict, "upload_file_damaged",
		"The stored file of upload {upload} is not the one that was uploaded: {why}",
		"Upload the same file again with the same id, which repairs it")
	ErrQuota = Problems.Define(
		problem.Refused,
		"upload_quota_exceeded",
		"The file does not fit into your quota: {files} files with {bytes} bytes are stored, of at "+
			"most {filesMax} files with {bytesMax} bytes",
		"Delete the files of uploads that are imported; their transactions stay",
	)
	ErrDiskReserve = Problems.Define(
		problem.Unavailable,
		"files_disk_full",
		"The disk has too little free space for uploads: {free} bytes, and {reserve} are reserved for "+
			"the books",
		"Free disk space, then upload again",
	)
	ErrNoFiles = Problems.Define(problem.Unavailable, "files_unavailable",
		"There is no place for files",
		"Set one up, then upload")
)

// unread adds an item that cannot be read to those of a list, and returns every other error.
func unread(bad *singletable.UnreadableRows, err error) error {
	if item, ok := singletable.AsUnreadable(err); ok {
		*bad = append(*bad, item)
		return nil
	}
	return err
}

// failed returns what was tried when the store failed.
func failed(deed string, err error) error {
	if errors.Is(err, singletable.ErrContended) {
		return ErrContended.With(
			"items",
			singletable.ItemsOf(err),
		).Wrap(
			fmt.Errorf("%s: %w", deed, err),
		)
	}
	var cursor *singletable.CursorError
	if errors.As(err, &cursor) {
		return ErrInvalidCursor.Wrap(err)
	}
	return fmt.Errorf("%s: %w", deed, err)
}
