package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func (h *handlers) post(
	ctx context.Context, in api.PostRequest,
) (out rest.Answer[api.Transaction], err error) {
	if in.IdempotencyKey == "" {
		return out, rest.MissingKey()
	}
	p, err := postingOf(in)
	if err != nil {
		return out, err
	}
	return h.posted(p.Type)(h.ledger.Post(ctx, p))
}

// postingOf returns the ledger's form of a posting. It checks currencies and the choice between the
// two forms; the ledger checks everything else.
func postingOf(in api.PostRequest) (ledger.Posting, error) {
	p := in.Posting
	made := ledger.Posting{
		IdempotencyKey: in.IdempotencyKey, Type: ledger.TransactionType(p.Type),
		MerchantID: ledger.MerchantID(p.MerchantID), Description: p.Description,
		Metadata: p.Metadata, Currency: p.Currency,
	}
	var wrong problem.Fields
	if p.Currency != "" {
		rest.CheckCurrency(&wrong, "currency", p.Currency)
	}
	if len(p.Legs) > 0 {
		made.Legs = legsOf(&wrong, p)
	} else if p.From != "" || p.To != "" || p.Amount != "" {
		made.Legs = twoLegs(&wrong, p)
	}
	return made, wrong.Err(ledger.ErrInvalidRequest)
}

func legsOf(wrong *problem.Fields, p api.Posting) []ledger.PostingLeg {
	for name, given := range map[string]bool{
		"from": p.From != "", "to": p.To != "", "amount": p.Amount != "",
	} {
		if given {
			wrong.Add(name, "must be left out where there are legs")
		}
	}
	legs := make([]ledger.PostingLeg, 0, len(p.Legs))
	for i, l := range p.Legs {
		path := fmt.Sprintf("legs[%d].", i)
		rest.CheckCurrency(wrong, path+"currency", l.Currency)
		legs = append(legs, ledger.PostingLeg{
			AccountID: ledger.AccountID(l.AccountID), Type: ledger.LegType(l.Type),
			Amount: readAmount(wrong, path+"amount", l.Amount, l.Currency),
		})
	}
	return legs
}

// twoLegs returns the legs of the form without legs.
func twoLegs(wrong *problem.Fields, p api.Posting) []ledger.PostingLeg {
	from, to := ledger.AccountID(p.From), ledger.AccountID(p.To)
	if from == "" && p.Type == api.TypeDeposit {
		from = ledger.Deposits
	}
	if to == "" && p.Type == api.TypeWithdrawal {
		to = ledger.Withdrawals
	}
	if to == "" && p.MerchantID != "" {
		to = ledger.MerchantSettlement
	}
	if from == "" {
		wrong.Add("from", "is missing")
	}
	if to == "" {
		wrong.Add("to", "is missing")
	}
	if p.Currency == "" {
		wrong.Add("currency", "is missing")
	}
	amount := readAmount(wrong, "amount", p.Amount, p.Currency)
	return []ledger.PostingLeg{
		{AccountID: from, Type: ledger.Debit, Amount: amount},
		{AccountID: to, Type: ledger.Credit, Amount: amount},
	}
}

// posted returns what counts a posting of a type and makes its answer.
func (h *handlers) posted(
	kind ledger.TransactionType,
) func(ledger.Receipt, error) (rest.Answer[api.Transaction], error) {
	return func(r ledger.Receipt, err error) (rest.Answer[api.Transaction], error) {
		outcome := "posted"
		switch {
		case err != nil && problem.KindOf(err) == problem.Internal:
			outcome = "failed"
		case err != nil:
			outcome = "refused"
		case r.Replayed:
			outcome = "replayed"
		}
		if h.opts.Posted != nil {
			h.opts.Posted(kind, outcome)
		}
		if err != nil {
			return rest.Answer[api.Transaction]{}, err
		}
		path := "/v1/transactions/" + string(r.Transaction.ID)
		return rest.Made(r.Replayed, path, entryOf(r.Entry)), nil
	}
}

func (h *handlers) reverse(
	ctx context.Context, in api.ReverseRequest,
) (rest.Answer[api.Transaction], error) {
	return h.posted(ledger.Reversal)(h.ledger.Reverse(ctx, ledger.Reversing{
		TransactionID: ledger.TransactionID(in.ID), Description: in.Reversal.Description,
		Metadata: in.Reversal.Metadata,
	}))
}

func (h *handlers) exchange(
	ctx context.Context, in api.ExchangeRequest,
) (out rest.Answer[api.Transaction], err error) {
	if in.IdempotencyKey == "" {
		return out, rest.MissingKey()
	}
	body := &in.Exchange
	if body.Into == "" && body.To != "" {
		account, err := h.ledger.Account(ctx, ledger.AccountID(body.To))
		if err != nil && !errors.Is(err, ledger.ErrAccountNotFound) {
			return out, err
		}
		body.Into = account.Currency()
	}
	e, err := exchangingOf(in)
	if err != nil {
		return out, err
	}
	return h.posted(ledger.CurrencyExchange)(h.exchangeOnce(ctx, e, in.Exchange))
}

// exchangingOf returns the ledger's form of an exchange, without a stored rate.
func exchangingOf(in api.ExchangeRequest) (ledger.Exchanging, error) {
	x := in.Exchange
	e := ledger.Exchanging{
		IdempotencyKey: in.IdempotencyKey, From: ledger.AccountID(x.From),
		To: ledger.AccountID(x.To), Currency: x.Into, On: string(x.On),
		Description: x.Description, Metadata: x.Metadata,
	}
	var wrong problem.Fields
	rest.CheckCurrency(&wrong, "currency", x.Currency)
	rest.CheckCurrency(&wrong, "into", x.Into)
	e.Sold = readAmount(&wrong, "amount", x.Amount, x.Currency)
	if x.Bought != "" {
		e.Bought = readAmount(&wrong, "bought", x.Bought, x.Into)
		if e.Bought.Sign() <= 0 {
			wrong.Add("bought", "must be more than zero")
		}
	}
	rounding, ok := api.Roundings[x.Rounding]
	if !ok && x.Rounding != "" {
		wrong.Add("rounding", "must be half-up, half-even, down or up")
	}
	e.Rounding = rounding
	if x.Rate != "" {
		above, err := money.ParseDecimal(string(x.Rate))
		if err != nil || above.Sign() <= 0 {
			wrong.Add("rate", `must be a plain decimal above zero such as "0.85"`)
		}
		if x.On != "" {
			wrong.Add("date", "must be left out where there is a rate")
		}
		e.Rate = ledger.ExchangeRate{Above: above, Below: money.DecimalFromInt(1), Source: "agreed"}
	}
	return e, wrong.Err(ledger.ErrInvalidRequest)
}

// exchangeOnce looks for an earlier answer before it asks for a rate, which may be gone by now.
func (h *handlers) exchangeOnce(
	ctx context.Context, e ledger.Exchanging, body api.NewExchange,
) (ledger.Receipt, error) {
	r, found, err := h.ledger.Exchanged(ctx, e)
	if found || err != nil {
		return r, err
	}
	if body.Rate == "" {
		e.Quote, err = h.opts.Quote(ctx, api.RateQuery{
			Base: e.Sold.Currency(), Target: e.Currency, On: body.On, Fresh: !body.AllowStale,
		})
		if err != nil {
			return ledger.Receipt{}, err
		}
	}
	return h.ledger.Exchange(ctx, e)
}

func (h *handlers) transaction(
	ctx context.Context, in api.TransactionQuery,
) (out rest.Answer[api.Transaction], err error) {
	id := ledger.TransactionID(in.ID)
	var found api.Transaction
	if in.Legs {
		e, err := h.ledger.Entry(ctx, id)
		if err != nil {
			return out, err
		}
		found = entryOf(e)
	} else {
		t, err := h.ledger.Transaction(ctx, id)
		if err != nil {
			return out, err
		}
		found = transactionOf(t)
	}
	// The status is all of a transaction that ever changes, with what belongs to it.
	return rest.Tagged(string(found.Status), found), nil
}

func (h *handlers) legsOfTransaction(
	ctx context.Context, in api.TransactionPath,
) (rest.Answer[api.List[api.Leg]], error) {
	e, err := h.ledger.Entry(ctx, ledger.TransactionID(in.ID))
	return rest.OK(rest.List(singletable.Page[ledger.Leg]{Items: e.Legs}, legOf)), err
}

func (h *handlers) transactions(
	ctx context.Context, in api.TransactionsQuery,
) (out rest.Answer[api.List[api.Transaction]], err error) {
	if in.IdempotencyKey != "" {
		return h.transactionByKey(ctx, in)
	}
	var wrong problem.Fields
	if in.Status == "" {
		wrong.Add("status", "is missing")
	}
	if in.Legs {
		wrong.Add("legs", "must be left out without idempotencyKey")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return out, err
	}
	page, err := h.ledger.TransactionsByStatus(ctx, ledger.StatusQuery{
		Status: ledger.TransactionStatus(in.Status), From: in.From.Bound(), To: in.To.Bound(),
		NewestFirst: in.Order == "newest", PageQuery: pageOf(in.Page),
	})
	return rest.OK(rest.List(page, transactionOf)), err
}

func (h *handlers) transactionByKey(
	ctx context.Context, in api.TransactionsQuery,
) (out rest.Answer[api.List[api.Transaction]], err error) {
	var wrong problem.Fields
	if in.Status != "" || !in.From.IsZero() || !in.To.IsZero() || in.Cursor != "" {
		wrong.Add("idempotencyKey", "stands alone: it names one transaction")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return out, err
	}
	var found api.Transaction
	if in.Legs {
		e, err := h.ledger.EntryByKey(ctx, in.IdempotencyKey)
		if err != nil {
			return out, err
		}
		found = entryOf(e)
	} else {
		t, err := h.ledger.TransactionByKey(ctx, in.IdempotencyKey)
		if err != nil {
			return out, err
		}
		found = transactionOf(t)
	}
	return rest.OK(api.List[api.Transaction]{Items: []api.Transaction{found}}), nil
}
