package dynamo_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func reasons(codes ...dynamo.CancellationCode) error {
	rs := make([]dynamo.CancellationReason, len(codes))
	for i, code := range codes {
		rs[i].Code = code
	}
	return dynamo.Canceled(rs)
}

func TestRetryableNeverSaysSoOfAConditionThatFailed(t *testing.T) {
	tests := map[string]struct {
		err  error
		want bool
	}{
		"nothing":            {nil, false},
		"another error":      {errors.New("x"), false},
		"throttled":          {&dynamo.Error{Code: dynamo.CodeProvisionedThroughput}, true},
		"a conflict":         {&dynamo.Error{Code: dynamo.CodeTransactionConflict}, true},
		"in progress":        {&dynamo.Error{Code: dynamo.CodeTransactionInProgress}, true},
		"a failure":          {&dynamo.Error{Code: dynamo.CodeInternalServerError}, true},
		"invalid":            {dynamo.Invalid("x"), false},
		"a failed condition": {dynamo.ConditionalCheckFailed(nil), false},
		"another body":       {&dynamo.Error{Code: dynamo.CodeIdempotentMismatch}, false},
		"reasons: conflict":  {reasons("", dynamo.ReasonTransactionConflict), true},
		"reasons: throttled": {reasons(dynamo.ReasonThrottling, ""), true},
		"reasons: both kinds": {
			reasons(dynamo.ReasonTransactionConflict, dynamo.ReasonConditionalCheckFailed), false,
		},
		"reasons: condition": {reasons("", dynamo.ReasonConditionalCheckFailed), false},
		"reasons: invalid":   {reasons(dynamo.ReasonValidation), false},
		"reasons: none":      {reasons("", ""), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := dynamo.Retryable(tt.err); got != tt.want {
				t.Errorf("got %v", got)
			}
			if tt.err == nil {
				return
			}
			if got := dynamo.Retryable(fmt.Errorf("post: %w", tt.err)); got != tt.want {
				t.Errorf("wrapped: got %v", got)
			}
		})
	}
}

func TestReasonsKeepTheOrderOfTheRequest(t *testing.T) {
	found := dynamo.Item{"PK": dynamo.S("a")}
	err := fmt.Errorf("post: %w", dynamo.Canceled([]dynamo.CancellationReason{
		{}, dynamo.ConditionFailed(found), dynamo.Conflict(),
	}))
	if !errors.Is(err, dynamo.ErrTransactionCanceled) || errors.Is(err, dynamo.ErrValidation) {
		t.Fatal("the code is not that of a cancelled transaction")
	}
	got := dynamo.Reasons(err)
	if len(got) != 3 || got[0].Code != dynamo.ReasonNone || got[0].Message != "" ||
		!got[1].Item.Equal(found) || got[2].Code != dynamo.ReasonTransactionConflict {
		t.Fatalf("reasons %+v", got)
	}
	want := "TransactionCanceledException: Transaction cancelled, please refer cancellation " +
		"reasons for specific reasons [None, ConditionalCheckFailed, TransactionConflict]"
	var e *dynamo.Error
	if !errors.As(err, &e) || e.Error() != want {
		t.Errorf("got  %v\nwant %s", e, want)
	}
	if dynamo.Reasons(dynamo.Invalid("x")) != nil {
		t.Error("a refusal has reasons")
	}
}

func TestCapacityUnitsRoundUpOnce(t *testing.T) {
	reads := map[int]float64{0: 1, 1: 1, 4096: 1, 4097: 2, 68 << 10: 17, 20 << 10: 5}
	for size, want := range reads {
		if got := dynamo.ReadUnits(size, true); got != want {
			t.Errorf("reading %d bytes costs %v, want %v", size, got, want)
		}
		if got := dynamo.ReadUnits(size, false); got != want/2 {
			t.Errorf("reading %d bytes eventually costs %v, want %v", size, got, want/2)
		}
	}
	for size, want := range map[int]float64{0: 1, 1024: 1, 1025: 2, 3 << 10: 3} {
		if got := dynamo.WriteUnits(size); got != want {
			t.Errorf("writing %d bytes costs %v, want %v", size, got, want)
		}
	}
}
