package rest

// systemOf returns the name of the system of an operation that is not one of package api, or "" for
// one of the server itself.
func systemOf(op operation) string {
	switch op.tag {
	case tagPayments:
		return "payments"
	case locationsTag:
		return "locations"
	case tagBankAccounts, tagBankTransactions, tagUploads, tagRules, tagReports:
		return "statements"
	}
	return op.system
}

// laidOut returns why the system of an operation cannot be used as this server was started. Only
// the operations of that system are refused.
func (a *Router) laidOut(op operation) error {
	system := systemOf(op)
	if system != "" && a.opts.Layout != nil && !op.anyLayout {
		return a.opts.Layout(system)
	}
	return nil
}
