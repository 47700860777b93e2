package dynamo

import (
	"errors"
	"strings"
	"syscall"
)

// ErrorCode is the name of one of DynamoDB's exceptions, without any namespace.
type ErrorCode string

// The exceptions of the data plane and of table management.
const (
	CodeConditionalCheckFailed  ErrorCode = "ConditionalCheckFailedException"
	CodeTransactionCanceled     ErrorCode = "TransactionCanceledException"
	CodeTransactionConflict     ErrorCode = "TransactionConflictException"
	CodeTransactionInProgress   ErrorCode = "TransactionInProgressException"
	CodeIdempotentMismatch      ErrorCode = "IdempotentParameterMismatchException"
	CodeValidation              ErrorCode = "ValidationException"
	CodeResourceNotFound        ErrorCode = "ResourceNotFoundException"
	CodeResourceInUse           ErrorCode = "ResourceInUseException"
	CodeLimitExceeded           ErrorCode = "LimitExceededException"
	CodeItemCollectionSizeLimit ErrorCode = "ItemCollectionSizeLimitExceededException"
	CodeProvisionedThroughput   ErrorCode = "ProvisionedThroughputExceededException"
	CodeThrottling              ErrorCode = "ThrottlingException"
	CodeRequestLimitExceeded    ErrorCode = "RequestLimitExceeded"
	CodeInternalServerError     ErrorCode = "InternalServerError"
	CodeServiceUnavailable      ErrorCode = "ServiceUnavailable"
)

// The exceptions of streams, statements, exports and imports.
const (
	CodeDuplicateItem     ErrorCode = "DuplicateItemException"
	CodeExpiredIterator   ErrorCode = "ExpiredIteratorException"
	CodeTrimmedDataAccess ErrorCode = "TrimmedDataAccessException"
	CodeTableNotFound     ErrorCode = "TableNotFoundException"
	CodeExportNotFound    ErrorCode = "ExportNotFoundException"
	CodeImportNotFound    ErrorCode = "ImportNotFoundException"
	CodeInvalidExportTime ErrorCode = "InvalidExportTimeException"
	CodeImportConflict    ErrorCode = "ImportConflictException"
	CodeAccessDenied      ErrorCode = "AccessDeniedException"
	CodeExportConflict    ErrorCode = "ExportConflictException"
)

// Error is a refusal or failure of a store, with DynamoDB's code and message.
type Error struct {
	Code    ErrorCode
	Message string
	// Item is the item as it was found, when a condition failed and the call asked for it.
	Item Item
	// Reasons says for each action of a cancelled transaction, in the order of the request,
	// why it failed; its Code is "None" for those that did not.
	Reasons []CancellationReason
	// ThrottlingReasons says which limit a throttled call met.
	ThrottlingReasons []ThrottlingReason
	// Unsent means that the call never reached the store, such as after a refused connection, so
	// that nothing of it happened.
	Unsent bool
}

// Sentinels for errors.Is: an error matches when its code is the same.
var (
	ErrConditionalCheckFailed  = &Error{Code: CodeConditionalCheckFailed}
	ErrTransactionCanceled     = &Error{Code: CodeTransactionCanceled}
	ErrTransactionConflict     = &Error{Code: CodeTransactionConflict}
	ErrTransactionInProgress   = &Error{Code: CodeTransactionInProgress}
	ErrIdempotentMismatch      = &Error{Code: CodeIdempotentMismatch}
	ErrValidation              = &Error{Code: CodeValidation}
	ErrResourceNotFound        = &Error{Code: CodeResourceNotFound}
	ErrResourceInUse           = &Error{Code: CodeResourceInUse}
	ErrLimitExceeded           = &Error{Code: CodeLimitExceeded}
	ErrItemCollectionSizeLimit = &Error{Code: CodeItemCollectionSizeLimit}
	ErrProvisionedThroughput   = &Error{Code: CodeProvisionedThroughput}
	ErrThrottling              = &Error{Code: CodeThrottling}
	ErrInternalServerError     = &Error{Code: CodeInternalServerError}
)

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Message
}

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Invalid returns a ValidationException with the given message.
func Invalid(message string) *Error { return &Error{Code: CodeValidation, Message: message} }

// StoreFailedError reports a store that has stopped, because its disk failed or its files are
// damaged. It answers nothing until it is opened again: an answer could rest on something that is
// not on the disk. A write that was answered by this error was not acknowledged. Repeating a call
// does not help, so it is not [Retryable].
type StoreFailedError struct {
	Store string // where the store is, such as its directory
	Cause error  // such as "write 000004.log: no space left on device"
}

// Error returns what happened, and the next step: that of the cause if it has a method NextStep.
func (e *StoreFailedError) Error() string {
	next := "free space or repair the disk, and start the program again"
	type stepped interface {
		error
		NextStep() string
	}
	if cause, ok := errors.AsType[stepped](e.Cause); ok {
		next = cause.NextStep()
	}
	return "the database in " + e.Store + " cannot be used: " + e.Cause.Error() + ": " + next
}

// Unwrap returns the cause.
func (e *StoreFailedError) Unwrap() error { return e.Cause }

// Reason returns the cause without the names of files, such as "no space left on device", for
// answers that leave this machine.
func (e *StoreFailedError) Reason() string {
	var number syscall.Errno
	if errors.As(e.Cause, &number) {
		return number.Error()
	}
	return "its files cannot be used"
}

// CancellationCode says why one action of a transaction failed.
type CancellationCode string

// The reasons that DynamoDB gives.
const (
	ReasonNone                    CancellationCode = "None"
	ReasonConditionalCheckFailed  CancellationCode = "ConditionalCheckFailed"
	ReasonItemCollectionSizeLimit CancellationCode = "ItemCollectionSizeLimitExceeded"
	ReasonTransactionConflict     CancellationCode = "TransactionConflict"
	ReasonProvisionedThroughput   CancellationCode = "ProvisionedThroughputExceeded"
	ReasonThrottling              CancellationCode = "ThrottlingError"
	ReasonValidation              CancellationCode = "ValidationError"
)

// The service's own sentences.
const (
	canceledMessage = "Transaction cancelled, please refer cancellation reasons " +
		"for specific reasons ["
	conditionFailedMessage = "The conditional request failed"
	conflictMessage        = "Transaction is ongoing for the item"
)

// CancellationReason is the outcome of one action of a cancelled transaction. Message is empty
// and Item nil for ReasonNone.
type CancellationReason struct {
	Code    CancellationCode
	Message string
	Item    Item
}

// ConditionFailed returns the reason of an action whose condition did not hold; item is the item
// as found, or nil where the action did not ask for it.
func ConditionFailed(item Item) CancellationReason {
	return CancellationReason{
		Code: ReasonConditionalCheckFailed, Message: conditionFailedMessage, Item: item,
	}
}

// Conflict returns the reason of an action that met another transaction on its item.
func Conflict() CancellationReason {
	return CancellationReason{
		Code: ReasonTransactionConflict, Message: conflictMessage,
	}
}

// ConditionalCheckFailed returns the error of a single write whose condition did not hold; item is
// the item as found, or nil where the call did not ask for it.
func ConditionalCheckFailed(item Item) *Error {
	return &Error{
		Code: CodeConditionalCheckFailed, Message: conditionFailedMessage, Item: item,
	}
}

// Canceled returns a TransactionCanceledException with the message that the service makes from
// the reasons. A reason without a code becomes ReasonNone.
func Canceled(reasons []CancellationReason) *Error {
	codes := make([]string, len(reasons))
	for i := range reasons {
		if reasons[i].Code == "" {
			reasons[i].Code = ReasonNone
		}
		codes[i] = string(reasons[i].Code)
	}
	return &Error{
		Code:    CodeTransactionCanceled,
		Message: canceledMessage + strings.Join(codes, ", ") + "]",
		Reasons: reasons,
	}
}

// Reasons returns the cancellation reasons that err carries, one for each action of the
// transaction and in its order, or nil when err is no cancelled transaction.
func Reasons(err error) []CancellationReason {
	var e *Error
	if errors.As(err, &e) && e.Code == CodeTransactionCanceled {
		return e.Reasons
	}
	return nil
}

// ThrottlingReason names the limit that a throttled call met and the table or index it met it
// on. Reason is one of the service's texts, such as "TableWriteKeyRangeThroughputExceeded".
type ThrottlingReason struct {
	Reason   string
	Resource string
}

// Retryable reports whether the same call may succeed later without any change: throttles,
// conflicts with another transaction and failures of the store. A transaction is retryable when
// every reason of its cancellation is; a condition that failed is never.
func Retryable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case CodeProvisionedThroughput, CodeThrottling, CodeRequestLimitExceeded,
		CodeTransactionConflict, CodeTransactionInProgress,
		CodeInternalServerError, CodeServiceUnavailable:
		return true
	case CodeTransactionCanceled:
		return retryableReasons(e.Reasons)
	}
	return false
}

func retryableReasons(reasons []CancellationReason) bool {
	found := false
	for _, r := range reasons {
		switch r.Code {
		case ReasonNone:
		case ReasonTransactionConflict, ReasonProvisionedThroughput, ReasonThrottling:
			found = true
		default:
			return false
		}
	}
	return found
}
