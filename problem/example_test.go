package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/problem"
)

// A system declares its problems once, the most important first.
var Problems = problem.NewCatalogue("ledger")

var (
	ErrInvalidPosting = Problems.Define(problem.Invalid, "invalid_posting",
		"The posting cannot be read",
		"Correct the fields named and send it again")
	ErrAccountNotFound = Problems.Define(problem.NotFound, "account_not_found",
		"There is no account {account}",
		"List the accounts of the user to find its id")
	ErrInsufficientFunds = Problems.Define(problem.Refused, "insufficient_funds",
		"Account {account} has {available}, but {needed} is needed",
		"Deposit {needed} first, or let {account} go negative")
)

func Example() {
	err := fmt.Errorf("post transaction t_81: %w", ErrInsufficientFunds.
		With("account", "a_1").With("available", "3.00 USD").With("needed", "5.50 USD"))

	fmt.Println(err)
	fmt.Println(errors.Is(err, ErrInsufficientFunds), errors.Is(err, ErrAccountNotFound))

	var e *problem.Error
	if errors.As(err, &e) {
		fmt.Println(e.Kind, e.Code, e.Details["needed"])
		fmt.Println(e.Hint)
	}
	// Output:
	// post transaction t_81: Account a_1 has 3.00 USD, but 5.50 USD is needed
	// true false
	// refused insufficient_funds 5.50 USD
	// Deposit 5.50 USD first, or let a_1 go negative
}

func ExampleFields() {
	var wrong problem.Fields
	wrong.Add("currency", "must be a code of ISO 4217")
	wrong.Addf("legs[1].amount", "must have at most %d fraction digits", 2)

	if err := wrong.Err(ErrInvalidPosting); err != nil {
		for _, field := range problem.From(err).Fields {
			fmt.Println(field)
		}
	}
	// Output:
	// currency must be a code of ISO 4217
	// legs[1].amount must have at most 2 fraction digits
}

func ExampleDecode() {
	sent, _ := json.Marshal(ErrAccountNotFound.With("account", "a_9").Wrap(errors.New("disk 7")))
	received, err := problem.Decode(sent)
	fmt.Println(err, errors.Is(received, ErrAccountNotFound))
	fmt.Println(received)
	// Output:
	// <nil> true
	// There is no account a_9
}

func ExampleCatalogue_First() {
	poor := ErrInsufficientFunds.With("account", "a_1")
	lost := ErrAccountNotFound.With("account", "a_2")
	fmt.Println(Problems.First(nil, poor, lost))
	// Output: There is no account a_2
}

func ExampleCatalogue_Definitions() {
	for _, d := range Problems.Definitions() {
		fmt.Println(d.Kind(), d.Code(), d.Details())
	}
	// Output:
	// invalid invalid_posting []
	// not_found account_not_found [account]
	// refused insufficient_funds [account available needed]
}
