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
	ErrInvalidUser = Problems.Define(problem.Invalid, "user_id_invalid",
		"A user's id has 1 to 255 bytes without control characters",
		"Use the subject of the user's token")
	ErrInvalid       = Problems.Share(problem.ErrRequestInvalid, "")
	ErrRangeTooLong  = Problems.Share(problem.ErrDateRangeTooLong, "")
	ErrInvalidCursor = Problems.Share(problem.ErrCursorInvalid, "")
	ErrFileTooLarge  = Problems.Share(problem.ErrBodyTooLarge,
		"Split the file, by year for example")
	ErrUnreadable = Problems.Share(problem.ErrFileUnreadable,
		"Download it again from the bank, or in another format")
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
	ErrFileMissing = Problems.Define(problem.NotFound, "upload_file_not_found",
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
	ErrNoRate = Problems.Share(problem.ErrRateNotFound, "Load the rates of that time")
)

// Changes by other writers, and other obstacles.
var (
	ErrChanged  = Problems.Share(problem.ErrVersionChanged, "")
	ErrTagTaken = Problems.Define(problem.Conflict, "tag_exists",
		"The tag {text} is there already, as {tag}",
		"Use that one, or merge the two")
	ErrPreviewStale = Problems.Define(problem.Changed, "preview_stale",
		"The preview is out of date: the import would no longer do what it showed",
		"Preview it again")
	ErrUploadState = Problems.Define(problem.Conflict, "upload_status_wrong",
		"The upload is {status}, so it cannot be {deed}",
		"Look at its status to see what is next")
	ErrUndecided = Problems.Define(problem.Refused, "upload_answers_missing",
		"The file leaves open: {topics}",
		"Answer the questions of the upload")
	ErrUndoEdited = Problems.Define(problem.Refused, "import_rows_edited",
		"Of the rows of the import {rows} were worked on since",
		"Say whether to keep or to remove them")
	ErrNotEmpty = Problems.Define(problem.Refused, "restore_target_not_empty",
		"There are statements already, and an archive is restored where there are none",
		"Restore it for another user, or erase what is there first")
	ErrKeyUsed     = Problems.Share(problem.ErrIdempotencyConflict, "")
	ErrTooMany     = Problems.Share(problem.ErrLimitReached, "")
	ErrContended   = Problems.Share(problem.ErrContended, "")
	ErrFileDamaged = Problems.Define(problem.Conflict, "upload_file_damaged",
		"The stored file of upload {upload} is not the one that was uploaded: {reason}",
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
	ErrNoFiles = Problems.Define(problem.Unavailable, "file_store_missing",
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
		return ErrContended.With("items", singletable.ItemsOf(err)).
			Wrap(fmt.Errorf("%s: %w", deed, err))
	}
	var cursor *singletable.CursorError
	if errors.As(err, &cursor) {
		return ErrInvalidCursor.Wrap(err)
	}
	return fmt.Errorf("%s: %w", deed, err)
}
