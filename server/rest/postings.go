package rest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// posting is the body that asks for a transaction.
type posting struct {
	Type        ledger.TransactionType `json:"type" doc:"What it is for: payment, transfer, deposit, withdrawal, or a word of the caller's" example:"payment"`
	MerchantID  ledger.MerchantID      `json:"merchantId,omitempty" doc:"Who is paid" example:"coffee-shop"`
	Description string                 `json:"description,omitempty" doc:"At most 1,024 bytes" example:"Coffee purchase"`
	Metadata    map[string]string      `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes"`
	Legs        []postingLeg           `json:"legs,omitempty" nullable:"false" doc:"Two or more; in each currency debits equal credits. Instead of them, from, to, amount and currency say the same for one debit and one credit"`
	From        ledger.AccountID       `json:"from,omitempty" doc:"The account to debit; a deposit needs none" example:"alice-usd"`
	To          ledger.AccountID       `json:"to,omitempty" doc:"The account to credit; neither a withdrawal nor a payment to a merchant with a settlement account needs one"`
	Amount      payload.Decimal        `json:"amount,omitempty" doc:"How much moves, without legs" example:"5.50"`
	Currency    money.Currency         `json:"currency,omitempty" doc:"That of the amount; with legs of several currencies, the one of the transaction's amount" example:"USD"`
}

// postingLeg is one leg of a posting.
type postingLeg struct {
	AccountID ledger.AccountID `json:"accountId" doc:"An account, the name of one of the ledger's own such as @deposits, or @merchant for the merchant's settlement account" example:"alice-usd"`
	Type      ledger.LegType   `json:"type" enum:"debit,credit" doc:"A debit lowers the balance, a credit raises it"`
	Amount    payload.Decimal  `json:"amount" example:"5.50"`
	Currency  money.Currency   `json:"currency" doc:"That of the account" example:"USD"`
}

// posting reads the body into the ledger's words. What it leaves to the ledger to find wrong is
// everything but the texts of amounts and the choice between the two forms.
func (p *posting) posting(key string) (ledger.Posting, error) {
	made := ledger.Posting{
		IdempotencyKey: key, Type: p.Type, MerchantID: p.MerchantID, Description: p.Description,
		Metadata: p.Metadata, Currency: p.Currency,
	}
	var wrong problem.Fields
	if p.Currency != "" {
		checkCurrency(&wrong, "currency", p.Currency)
	}
	if len(p.Legs) > 0 {
		p.readLegs(&made, &wrong)
	} else if p.From != "" || p.To != "" || p.Amount != "" {
		p.readShort(&made, &wrong)
	}
	return made, refused(wrong, ledger.ErrInvalidRequest)
}

func (p *posting) readLegs(made *ledger.Posting, wrong *problem.Fields) {
	for name, given := range map[string]bool{
		"from": p.From != "", "to": p.To != "", "amount": p.Amount != "",
	} {
		if given {
			wrong.Add(name, "must be left out where there are legs")
		}
	}
	made.Legs = make([]ledger.PostingLeg, 0, len(p.Legs))
	for i, l := range p.Legs {
		path := fmt.Sprintf("legs[%d].", i)
		checkCurrency(wrong, path+"currency", l.Currency)
		made.Legs = append(made.Legs, ledger.PostingLeg{
			AccountID: l.AccountID, Type: l.Type,
			Amount: readAmount(wrong, path+"amount", l.Amount, l.Currency),
		})
	}
}

// readShort reads the form without legs.
func (p *posting) readShort(made *ledger.Posting, wrong *problem.Fields) {
	from, to := p.From, p.To
	if from == "" && p.Type == ledger.Deposit {
		from = ledger.Deposits
	}
	if to == "" && p.Type == ledger.Withdrawal {
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
	made.Legs = []ledger.PostingLeg{
		{AccountID: from, Type: ledger.Debit, Amount: amount},
		{AccountID: to, Type: ledger.Credit, Amount: amount},
	}
}

// missingKey returns the problem of a request without the key that it needs.
func missingKey() error {
	e := ledger.ErrInvalidIdempotencyKey.Field(headerIdempotencyKey, "is missing")
	e.Sentence = "The header Idempotency-Key is missing"
	return e
}

// receipt is the answer to a posting.
type receipt struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" doc:"true when an earlier, equal request made the transaction"`
	Body     transaction
}

func newReceipt(r ledger.Receipt) *receipt {
	status, mark := repeated(r.Replayed)
	return &receipt{
		Status: status, Replayed: mark, Body: entryOf(r.Entry),
		Location: "/v1/transactions/" + string(r.Transaction.ID),
	}
}

type (
	postParams struct {
		WithBody
		IdempotencyKey string `header:"Idempotency-Key" doc:"1 to 255 characters that name this request for ever; required" example:"order-1"`
	}
	reverseParams struct {
		WithBody
		TransactionPath
	}
)

// reversing is the body that asks for a reversal.
type reversing struct {
	Description string            `json:"description,omitempty" doc:"At most 1,024 bytes; without it that of the original" example:"Returned goods"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes"`
}

func (a *API) registerPostings() {
	const tag = "Transactions"
	registerBody(a.Router, operation{
		id: "post-transaction", method: http.MethodPost, path: "/v1/transactions", tag: tag,
		scope: api.LedgerWrite, status: http.StatusCreated,
		summary: "Post a transaction",
		description: "Moves money exactly once for its Idempotency-Key, however often, however late " +
			"and by however many callers at once it is sent. The first answer has status 201; an " +
			"equal request gets the same body with status 200 and Idempotent-Replayed: true, but for " +
			"its status, which is reversed if it was reversed since; " +
			"another request with the same key is a conflict. A refusal writes nothing, and its " +
			"key may be tried again. Where several problems apply, the first of this list is told.",
		example: posting{
			Type: ledger.Payment, MerchantID: "coffee-shop", Description: "Coffee purchase",
			From: "alice-usd", Amount: "5.50", Currency: "USD",
		},
		problems: postingProblems(),
	}, a.post)
	registerBody(a.Router, operation{
		id: "reverse-transaction", method: http.MethodPost,
		path: "/v1/transactions/{id}/reverse", tag: tag, scope: api.LedgerWrite,
		status: http.StatusCreated, summary: "Reverse a transaction",
		description: "Reverses a completed transaction, whole, by another one with the same legs, " +
			"each in the other direction. It happens once: an " +
			"equal second request gets the first answer, with status 200 and " +
			"Idempotent-Replayed: true. The body may be {}.",
		example: reversing{Description: "Returned goods"},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrDescriptionTooLong, ledger.ErrMetadataTooLarge,
			ledger.ErrTransactionNotFound, ledger.ErrReversalOfReversal,
			ledger.ErrAlreadyReversed, ledger.ErrNotCompleted, ledger.ErrAccountClosed,
			ledger.ErrAccountFrozen, ledger.ErrBalanceTooLarge, ledger.ErrInsufficientFunds,
			ledger.ErrAccountFromFuture, ledger.ErrContended,
		},
	}, a.reverse)
}

// postingProblems returns what can be wrong with a posting, in order of precedence.
func postingProblems() []*problem.Definition {
	return []*problem.Definition{
		ledger.ErrInvalidRequest, ledger.ErrInvalidIdempotencyKey, ledger.ErrDescriptionTooLong,
		ledger.ErrMetadataTooLarge, ledger.ErrTooFewLegs, ledger.ErrTooManyLegs,
		ledger.ErrAmountNotPositive, ledger.ErrTooManyFractionDigits, ledger.ErrAmountTooLarge,
		ledger.ErrUnbalanced, ledger.ErrIdempotencyConflict, ledger.ErrMerchantNotFound,
		ledger.ErrNoSettlementAccount, ledger.ErrAccountNotFound, ledger.ErrCurrencyMismatch,
		ledger.ErrAccountClosed, ledger.ErrAccountFrozen, ledger.ErrBalanceTooLarge,
		ledger.ErrInsufficientFunds, ledger.ErrAccountFromFuture, ledger.ErrContended,
	}
}

func (a *API) post(ctx context.Context, in *postParams, body *posting) (*receipt, error) {
	if in.IdempotencyKey == "" {
		return nil, missingKey()
	}
	p, err := body.posting(in.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	r, err := a.deps.Ledger.Post(ctx, p)
	a.posted(p.Type, r, err)
	if err != nil {
		return nil, err
	}
	return newReceipt(r), nil
}

// posted tells whoever counts postings about one.
func (a *API) posted(kind ledger.TransactionType, r ledger.Receipt, err error) {
	if a.opts.Posted == nil {
		return
	}
	outcome := "posted"
	switch {
	case err != nil && problem.KindOf(err) == problem.Internal:
		outcome = "failed"
	case err != nil:
		outcome = "refused"
	case r.Replayed:
		outcome = "replayed"
	}
	a.opts.Posted(kind, outcome)
}

func (a *API) reverse(
	ctx context.Context, in *reverseParams, body *reversing,
) (*receipt, error) {
	r, err := a.deps.Ledger.Reverse(ctx, ledger.Reversing{
		TransactionID: in.ID, Description: body.Description, Metadata: body.Metadata,
	})
	a.posted(ledger.Reversal, r, err)
	if err != nil {
		return nil, err
	}
	return newReceipt(r), nil
}
