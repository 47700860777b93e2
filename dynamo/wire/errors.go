package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The exceptions of the protocol, which a store never returns.
const (
	codeSerialization       dynamo.ErrorCode = "SerializationException"
	codeUnknownOperation    dynamo.ErrorCode = "UnknownOperationException"
	codeTooLarge            dynamo.ErrorCode = "RequestEntityTooLargeException"
	codeTimeout             dynamo.ErrorCode = "RequestTimeoutException"
	codeMissingToken        dynamo.ErrorCode = "MissingAuthenticationTokenException"
	codeIncompleteSignature dynamo.ErrorCode = "IncompleteSignatureException"
	codeInvalidSignature    dynamo.ErrorCode = "InvalidSignatureException"
	codeUnrecognizedClient  dynamo.ErrorCode = "UnrecognizedClientException"
	codeAccessDenied        dynamo.ErrorCode = "AccessDeniedException"
)

// The namespaces of the service's exceptions. Most clients read only the part after the hash, but
// some compare the whole.
const (
	spaceModel    = "com.amazonaws.dynamodb.v20120810#"
	spaceService  = "com.amazon.coral.service#"
	spaceValidate = "com.amazon.coral.validate#"
)

// spaceOf returns the name space of an error's type, as DynamoDB has it.
func spaceOf(code dynamo.ErrorCode) string {
	switch code {
	case dynamo.CodeValidation:
		return spaceValidate
	case codeSerialization, codeUnknownOperation, codeTooLarge, codeTimeout,
		codeMissingToken, codeIncompleteSignature, codeInvalidSignature,
		codeUnrecognizedClient, codeAccessDenied, dynamo.CodeServiceUnavailable:
		return spaceService
	}
	return spaceModel
}

// messageNameOf returns the name of the member with an exception's message. In the service's model
// a few exceptions have it in upper case; clients accept both.
func messageNameOf(code dynamo.ErrorCode) string {
	switch code {
	case dynamo.CodeTransactionCanceled, dynamo.CodeTransactionInProgress,
		dynamo.CodeIdempotentMismatch, codeSerialization, codeAccessDenied:
		return "Message"
	}
	return "message"
}

// statusOf returns the HTTP status of an error. Nearly all errors are 400, because SDKs read the
// type in the body.
func statusOf(code dynamo.ErrorCode) int {
	switch code {
	case dynamo.CodeInternalServerError:
		return http.StatusInternalServerError
	case dynamo.CodeServiceUnavailable:
		return http.StatusServiceUnavailable
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeTimeout:
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// known returns err as an exception. Any other error becomes one that contains no internal details;
// internal then reports that err must be logged.
func known(err error) (e *dynamo.Error, internal bool) {
	var failed *dynamo.StoreFailedError
	switch {
	case errors.As(err, &failed): // already logged when it happened
		return &dynamo.Error{
			Code: dynamo.CodeInternalServerError, Message: failed.Error(),
		}, false
	case errors.As(err, &e):
		return e, false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &dynamo.Error{
			Code:    dynamo.CodeServiceUnavailable,
			Message: "The request was given up before it was answered",
		}, false
	}
	return &dynamo.Error{
		Code:    dynamo.CodeInternalServerError,
		Message: "The request processing has failed because of an unknown error",
	}, true
}

// messageSizeMax is the maximum length of a message. Some messages repeat the invalid value, which
// may be as large as the request.
const messageSizeMax = 32 << 10

// error writes the body of an exception.
func (w *writer) error(e *dynamo.Error) {
	w.open('{')
	w.key("__type")
	w.string(spaceOf(e.Code) + string(e.Code))
	message := e.Message
	if len(message) > messageSizeMax {
		// The cut may split a character, whose rest would be invalid JSON.
		message = strings.ToValidUTF8(message[:messageSizeMax], "") + "..."
	}
	w.member(messageNameOf(e.Code), message)
	// Only a failed condition has an item, and only if the request asked for it.
	if e.Item != nil {
		w.key("Item")
		w.item(e.Item)
	}
	// One reason for each action, in the order of the request; Code is "None" for those that did
	// not fail.
	if e.Reasons != nil {
		w.key("CancellationReasons")
		w.open('[')
		for _, reason := range e.Reasons {
			w.open('{')
			w.member("Code", string(reason.Code))
			w.member("Message", reason.Message)
			if reason.Item != nil {
				w.key("Item")
				w.item(reason.Item)
			}
			w.close('}')
		}
		w.close(']')
	}
	if e.ThrottlingReasons != nil {
		w.key("ThrottlingReasons")
		w.open('[')
		for _, reason := range e.ThrottlingReasons {
			w.open('{')
			w.member("reason", reason.Reason)
			w.member("resource", reason.Resource)
			w.close('}')
		}
		w.close(']')
	}
	w.close('}')
}

// missing returns the error of a request without required members.
func missing(paths []string) error {
	var text strings.Builder
	if len(paths) == 1 {
		text.WriteString("1 validation error detected: ")
	} else {
		fmt.Fprintf(&text, "%d validation errors detected: ", len(paths))
	}
	for i, path := range paths {
		if i > 0 {
			text.WriteString("; ")
		}
		fmt.Fprintf(&text, "Value null at '%s' failed to satisfy constraint: "+
			"Member must not be null", path)
	}
	return dynamo.Invalid(text.String())
}
