package rest

import (
	"slices"
)

// systemOf returns the name of the system that an operation belongs to, or "" for one of the server
// itself.
func systemOf(op operation) string {
	switch op.tag {
	case "Transactions", "Accounts", "Merchants", "Reconciliation":
		return "ledger"
	case tagPayments:
		return "payments"
	case locationsTag:
		return "locations"
	case tagRates:
		return "rates"
	case tagBankAccounts, tagBankTransactions, tagUploads, tagRules, tagReports:
		return "statements"
	}
	return ""
}

// layoutOperations show and change what is stored, so that a wrong setting does not stop them.
var layoutOperations = []string{
	"list-transaction-shards", "grow-transaction-shards",
	"list-payment-shards", "grow-payment-shards",
}

// laidOut returns why the system of an operation cannot be used as this server was started. Only
// the operations of that system are refused.
func (a *Router) laidOut(op operation) error {
	system := systemOf(op)
	if system != "" && a.opts.Layout != nil && !slices.Contains(layoutOperations, op.id) {
		return a.opts.Layout(system)
	}
	return nil
}
