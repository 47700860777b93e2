package dynamo_test

import (
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func Example() {
	account := dynamo.Item{
		"PK":      dynamo.S("ACCOUNT#1"),
		"SK":      dynamo.S("METADATA"),
		"Balance": dynamo.N("1500.50"),
	}
	fmt.Println(account.Size(), "bytes,", dynamo.WriteUnits(account.Size()), "write unit")
	fmt.Println(account["Balance"].Equal(dynamo.N("1.5005E3")))
	// Output:
	// 32 bytes, 1 write unit
	// true
}

func ExampleReasons() {
	err := dynamo.Canceled([]dynamo.CancellationReason{{}, dynamo.ConditionFailed(nil)})
	if errors.Is(err, dynamo.ErrTransactionCanceled) {
		for i, reason := range dynamo.Reasons(err) {
			fmt.Println(i, reason.Code)
		}
	}
	fmt.Println("try again:", dynamo.Retryable(err))
	// Output:
	// 0 None
	// 1 ConditionalCheckFailed
	// try again: false
}
