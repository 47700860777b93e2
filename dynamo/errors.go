package dynamo

import (
	"errors"
	"strings"
	"syscall"
)

// ErrorCode is the name of one of DynamoDB's exceptions, without a namespace.
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

// Error is an error of a store, with DynamoDB's code and message.
type Error struct {
	Code    ErrorCode
	Message string
	// Item is the item as it was found, if a condition failed and the call requested it.
	Item Item
	// Reasons has the result of each action of a cancelled transaction, in the order of the
	// request. Its Code is "None" for actions that did not fail.
	Reasons []CancellationReason
	// ThrottlingReasons are the limits that a throttled call exceeded.
	ThrottlingReasons []ThrottlingReason
	// Unsent means that the call did not reach the store, for example because the connection was
	// refused, and had no effect.
	Unsent bool
}

// Sentinels for errors.Is. An error matches if it has the same code.
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
// damaged. It returns only errors until it is opened again, because a result could depend on data
// that is not on the disk. A write that returned this error was not acknowledged. A retry does not
// help, so the error is not [Retryable].
type StoreFailedError struct {
	Store string // location of the store, such as its directory
	Cause error  // for example "write 000004.log: no space left on device"
}

// Error returns the cause and the next step: that of the cause if it has a method NextStep.
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

// Reason returns the cause without file names, such as "no space left on device", for responses
// that leave this machine.
func (e *StoreFailedError) Reason() string {
	var number syscall.Errno
	if errors.As(e.Cause, &number) {
		return number.Error()
	}
	return "its files cannot be used"
}

// CancellationCode is the reason why an action of a transaction failed.
type CancellationCode string

// DynamoDB's cancellation codes.
const (
	ReasonNone                    CancellationCode = "None"
	ReasonConditionalCheckFailed  CancellationCode = "ConditionalCheckFailed"
	ReasonItemCollectionSizeLimit CancellationCode = "ItemCollectionSizeLimitExceeded"
	ReasonTransactionConflict     CancellationCode = "TransactionConflict"
	ReasonProvisionedThroughput   CancellationCode = "ProvisionedThroughputExceeded"
	ReasonThrottling              CancellationCode = "ThrottlingError"
	ReasonValidation              CancellationCode = "ValidationError"
)

// The service's messages.
const (
	canceledMessage = "Transaction cancelled, please refer cancellation reasons " +
		"for specific reasons ["
	conditionFailedMessage = "The conditional request failed"
	conflictMessage        = "Transaction is ongoing for the item"
)

// CancellationReason is the result of one action of a cancelled transaction. For ReasonNone,
// Message is empty and Item is nil.
type CancellationReason struct {
	Code    CancellationCode
	Message string
	Item    Item
}

// ConditionFailed returns the reason of an action whose condition failed. item is the item as
// found, or nil if the action did not request it.
func ConditionFailed(item Item) CancellationReason {
	return CancellationReason{
		Code: ReasonConditionalCheckFailed, Message: conditionFailedMessage, Item: item,
	}
}

// Conflict returns the reason of an action that conflicted with another transaction on its item.
func Conflict() CancellationReason {
	return CancellationReason{
		Code: ReasonTransactionConflict, Message: conflictMessage,
	}
}

// ConditionalCheckFailed returns the error of a single write whose condition failed. item is the
// item as found, or nil if the call did not request it.
func ConditionalCheckFailed(item Item) *Error {
	return &Error{
		Code: CodeConditionalCheckFailed, Message: conditionFailedMessage, Item: item,
	}
}

// Canceled returns a TransactionCanceledException with the service's message for the reasons. A
// reason without a code becomes ReasonNone.
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

// Reasons returns the cancellation reasons of err, one for each action of the transaction in its
// order, or nil if err is not from a cancelled transaction.
func Reasons(err error) []CancellationReason {
	var e *Error
	if errors.As(err, &e) && e.Code == CodeTransactionCanceled {
		return e.Reasons
	}
	return nil
}

// ThrottlingReason is a limit that a throttled call exceeded, and its table or index. Reason is one
// of the service's texts, such as "TableWriteKeyRangeThroughputExceeded".
type ThrottlingReason struct {
	Reason   string
	Resource string
}

// Retryable reports whether the same call may succeed later without a change: throttling, conflicts
// with other transactions and failures of the store. A cancelled transaction is retryable if all
// its reasons are; a failed condition is not.
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
