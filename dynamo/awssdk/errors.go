package awssdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// translate converts an error of the SDK as the package documentation describes.
func translate(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	status := 0
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	var refusal smithy.APIError
	if errors.As(err, &refusal) && refusal.ErrorCode() != unknownCode {
		return refused(refusal)
	}
	var unsent *smithyhttp.RequestSendError
	var unread *smithy.DeserializationError
	switch {
	case errors.As(err, &unsent):
		return &dynamo.Error{Code: dynamo.CodeServiceUnavailable, Message: unsent.Err.Error(),
			Unsent: neverSent(unsent.Err)}
	case errors.As(err, &unread),
		broken(err),
		status >= http.StatusInternalServerError,
		status == http.StatusOK:
		return &dynamo.Error{Code: dynamo.CodeServiceUnavailable, Message: err.Error()}
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// neverSent reports whether the error means that no connection was made, so that nothing was sent.
func neverSent(err error) bool {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	var name *net.DNSError
	return errors.As(err, &name)
}

// broken reports whether the error is a network error, such as an incomplete response.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF)
}

// unknownCode is the SDK's code for an error response that is not from the service, but for example
// from a proxy.
const unknownCode = "UnknownError"

// refused converts an error response of the service.
func refused(refusal smithy.APIError) *dynamo.Error {
	e := &dynamo.Error{Code: codeOf(refusal.ErrorCode()), Message: refusal.ErrorMessage()}
	switch r := refusal.(type) {
	case *types.ConditionalCheckFailedException:
		e.Item = item(r.Item)
	case *types.TransactionCanceledException:
		e.Reasons = make([]dynamo.CancellationReason, len(r.CancellationReasons))
		for i, reason := range r.CancellationReasons {
			e.Reasons[i] = dynamo.CancellationReason{
				Code:    dynamo.CancellationCode(deref(reason.Code)),
				Message: deref(reason.Message),
				Item:    item(reason.Item),
			}
			if e.Reasons[i].Code == "" {
				e.Reasons[i].Code = dynamo.ReasonNone
			}
		}
	case *types.ProvisionedThroughputExceededException:
		e.ThrottlingReasons = throttlingReasons(r.ThrottlingReasons)
	case *types.ThrottlingException:
		e.ThrottlingReasons = throttlingReasons(r.ThrottlingReasons)
	case *types.RequestLimitExceeded:
		e.ThrottlingReasons = throttlingReasons(r.ThrottlingReasons)
	}
	return e
}

// codeOf returns the name of an exception without the namespace before it and the address after it.
func codeOf(code string) dynamo.ErrorCode {
	if _, name, ok := strings.Cut(code, "#"); ok {
		code = name
	}
	code, _, _ = strings.Cut(code, ":")
	return dynamo.ErrorCode(code)
}

func throttlingReasons(rs []types.ThrottlingReason) []dynamo.ThrottlingReason {
	var out []dynamo.ThrottlingReason
	for _, r := range rs {
		out = append(out, dynamo.ThrottlingReason{
			Reason: deref(r.Reason), Resource: deref(r.Resource),
		})
	}
	return out
}
