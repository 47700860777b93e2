package payments

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// payable returns the facts of the account that pays, and why the payment can never be paid, or
// nil. The facts are none if there is no such account, or nothing could be found out. The rules are
// the ledger's own, so that no payment is scheduled that fails by a rule that it broke from the
// first day. What time can heal is no reason.
func (s *Scheduler) payable(ctx context.Context, p Payment) (account, error) {
	accounts, err := s.books.Check(ctx, p.posting())
	var payer account
	if len(accounts) > 0 && accounts[0].ID != "" {
		payer = s.remember(accounts[0])
	}
	if err == nil || healing(err) {
		return payer, nil
	}
	return payer, p.refusal(err)
}

// refusal names what the ledger has against a payment by the members of the payment. Errors that
// are not about it are returned as they are.
func (p Payment) refusal(cause error) error {
	e := problem.From(cause)
	switch e.Kind {
	case problem.Invalid, problem.TooLarge, problem.NotFound, problem.Refused:
	default:
		return cause
	}
	payee := "payeeId"
	if p.MerchantID != "" {
		payee = "merchantId"
	}
	named := *e
	named.Fields = nil
	for _, field := range e.Fields {
		switch {
		case field.Name == "legs[0].accountId" && errors.Is(cause, ledger.ErrAccountNotFound):
			return ErrAccountNotFound.With("account", p.AccountID).
				Field("accountId", "does not exist").Wrap(cause)
		case field.Name == "legs[0].currency" && errors.Is(cause, ledger.ErrCurrencyMismatch):
			return ErrCurrencyMismatch.With("account", p.AccountID).
				With("currency", e.Details["currency"]).With("given", p.Amount.Currency()).
				Field("currency", "is not the account's").Wrap(cause)
		}
		name := map[string]string{
			"legs[0].accountId": "accountId", "legs[1].accountId": payee,
			"legs[0].currency": "currency", "legs[1].currency": payee,
			"legs[0].amount": "amount", "legs[1].amount": "amount",
		}[field.Name]
		switch {
		case name == "":
			name = field.Name
		case name == payee && errors.Is(cause, ledger.ErrCurrencyMismatch):
			field.Wrong = "is paid into an account of another currency"
		}
		named.Fields.Add(name, field.Wrong)
	}
	if len(named.Fields) == 0 {
		named.Fields.Add(payee, "cannot be paid")
	}
	return &named
}
