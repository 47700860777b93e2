package rest

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of a transaction of a bank account.
type (
	bankTransaction struct {
		ID          string         `json:"id" example:"txn-202508-1f3v9k2m4n6p8q0r2s4t6v8w0x"`
		AccountID   string         `json:"accountId" example:"everyday"`
		Date        bankDate       `json:"date" format:"date" doc:"The day on which the bank booked it, unless a person set another one" example:"2025-08-15"`
		Amount      string         `json:"amount" doc:"What the account gained; money out is negative" example:"-5.50"`
		Currency    money.Currency `json:"currency" example:"NZD"`
		Merchant    string         `json:"merchant,omitempty" example:"Coffee Supreme"`
		TagIDs      []string       `json:"tagIds" nullable:"false"`
		Tags        []string       `json:"tags" nullable:"false" doc:"The texts of the tags, in the same order"`
		Notes       string         `json:"notes,omitempty"`
		Annotations []annotation   `json:"annotations" nullable:"false"`
		Splits      []split        `json:"splits" nullable:"false" doc:"Parts that add up to the amount; the tags are theirs then"`
		Transfer    bool           `json:"transfer,omitempty" doc:"Whether it moves money between the person's own accounts"`

		Text            string         `json:"text,omitempty" doc:"What the bank wrote"`
		ValueDate       bankDate       `json:"valueDate,omitempty" format:"date" example:"2025-08-15"`
		Counterparty    string         `json:"counterparty,omitempty" doc:"The account of the other side"`
		Reference       string         `json:"reference,omitempty"`
		Category        string         `json:"category,omitempty" doc:"The bank's own"`
		Details         string         `json:"details,omitempty" doc:"The words of other columns of the bank's file, with the names of the columns" example:"Card Member: A. Reader; Type: Purchase"`
		BankID          string         `json:"bankId,omitempty" doc:"The bank's own id of the row"`
		ForeignAmount   string         `json:"foreignAmount,omitempty" doc:"The amount before the bank converted it"`
		ForeignCurrency money.Currency `json:"foreignCurrency,omitempty"`
		Pending         bool           `json:"pending,omitempty"`
		Reversal        bool           `json:"reversal,omitempty"`

		Source    statements.Source `json:"source,omitempty" enum:"bank,person" doc:"Whether a file brought it or somebody typed it in"`
		UploadID  string            `json:"uploadId,omitempty"`
		Line      int               `json:"line,omitempty" doc:"Of the row in its file"`
		Edited    []string          `json:"edited" nullable:"false" doc:"The fields that a person set; no rule and no file changes them"`
		Ruled     map[string]string `json:"ruled,omitempty" doc:"The fields that a rule set, with the id of the rule"`
		Version   uint64            `json:"version" doc:"Counts the changes; the ETag without its quotes"`
		CreatedAt instant           `json:"createdAt,omitzero"`
		UpdatedAt instant           `json:"updatedAt,omitzero"`
	}

	annotation struct {
		ID        string  `json:"id" example:"annotation-01k3zj8q0v9x2c4r6t8w0y2a4b"`
		Text      string  `json:"text" example:"For the office"`
		Type      string  `json:"type,omitempty" example:"note"`
		Author    string  `json:"author,omitempty" doc:"Who wrote it: a person or a program"`
		CreatedAt instant `json:"createdAt,omitzero"`
	}

	split struct {
		Amount string   `json:"amount" example:"-3.50"`
		TagIDs []string `json:"tagIds" nullable:"false"`
		Tags   []string `json:"tags" nullable:"false"`
		Notes  string   `json:"notes,omitempty"`
	}
)

// bankDate is a calendar day as a bank wrote it.
type bankDate = statements.Date

// BankTransactionPath are the parameters that name a transaction of the caller.
type BankTransactionPath struct {
	BankAccountPath
	Transaction string `path:"transaction" doc:"The transaction's id" example:"txn-202508-1f3v9k2m4n6p8q0r2s4t6v8w0x"`
}

// BankDays are the parameters of what is about days.
type BankDays struct {
	From bankDate `query:"from" required:"true" doc:"The first day" example:"2025-08-01"`
	To   bankDate `query:"to" required:"true" doc:"The last day, which is included" example:"2025-08-31"`
}

type (
	bankTransactionParams struct {
		Conditional
		BankTransactionPath
		OnDay
	}
	bankTransactionsParams struct {
		BankAccountPath
		BankDays
		PageParams
		Order string `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
	}
)

// escape writes an id as a part of a path. Books refuse ids that are a way up, but not those that
// another program wrote.
func escape(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

func bankTransactionOf(t statements.Transaction) bankTransaction {
	out := bankTransaction{
		ID: t.ID, AccountID: t.AccountID, Date: t.Date, Amount: inDigits(t.Amount, t.Currency),
		Currency: t.Currency, Merchant: t.Merchant, TagIDs: whole(t.TagIDs), Tags: whole(t.Tags),
		Notes: t.Notes, Annotations: All(t.Annotations, annotationOf),
		Splits: All(t.Splits, func(s statements.Split) split {
			return split{inDigits(s.Amount, t.Currency), whole(s.TagIDs), whole(s.Tags), s.Notes}
		}),
		Transfer: t.Transfer, Text: t.Text, ValueDate: t.ValueDate, Counterparty: t.Counterparty,
		Reference: t.Reference, Category: t.Category, Details: t.Details,
		BankID:          t.BankID,
		ForeignCurrency: t.ForeignCurrency, Pending: t.Pending, Reversal: t.Reversal,
		Source: t.Source, UploadID: t.UploadID, Line: t.Line, Edited: whole(t.Edited),
		Ruled: t.Ruled, Version: t.Version, CreatedAt: instant(t.CreatedAt),
		UpdatedAt: instant(t.UpdatedAt),
	}
	if t.ForeignCurrency != "" {
		out.ForeignAmount = inDigits(t.Foreign, t.ForeignCurrency)
	}
	return out
}

func annotationOf(v statements.Annotation) annotation {
	return annotation{v.ID, v.Text, v.Type, v.Author, instant(v.CreatedAt)}
}

// whole returns a list that is written as [], not null, where it is empty.
func whole(items []string) []string { return append([]string{}, items...) }

// inDigits writes a decimal with at least as many digits as its currency has, and all that it has
// itself.
func inDigits(d money.Decimal, currency money.Currency) string {
	return d.Text(max(currency.Digits(), d.FractionDigits()))
}

func (a *API) registerBankTransactions() {
	const chapter, read = tagBankTransactions, api.StatementsRead
	register(a.Router, operation{
		id: "list-bank-transactions", method: http.MethodGet,
		path: "/v1/me/accounts/{account}/transactions", tag: chapter, scope: read,
		personal: true, summary: "List the transactions of an account",
		description: "Of calendar days, both included. Each month is one partition of the store; a few " +
			"are read side by side.",
		problems: []*problem.Definition{
			statements.ErrRangeTooLong, statements.ErrInvalidCursor, statements.ErrNoAccount,
		},
	}, a.bankTransactions)
	register(a.Router, operation{
		id: "get-bank-transaction", method: http.MethodGet,
		path: "/v1/me/accounts/{account}/transactions/{transaction}", tag: chapter, scope: read,
		personal: true, summary: "Get a transaction",
		problems: []*problem.Definition{statements.ErrNoTransaction},
	}, a.bankTransaction)
}

func (a *API) bankTransactions(
	ctx context.Context, in *bankTransactionsParams,
) (*answer[list[bankTransaction]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	page, err := p.Transactions(ctx, statements.Range{
		AccountID: in.Account, From: in.From, To: in.To, Latest: in.Order == newestFirst,
	}, in.Limit, in.Cursor)
	if err == nil && len(page.Transactions) == 0 && len(page.Unreadable) == 0 {
		_, err = p.Account(ctx, in.Account) // A list of what does not exist is a mistake.
	}
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[statements.Transaction]{
		Items: page.Transactions, Next: page.Next, Unreadable: page.Unreadable,
	}, bankTransactionOf), nil
}

func (a *API) bankTransaction(
	ctx context.Context, in *bankTransactionParams,
) (*tagged[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	var t statements.Transaction
	if in.Date != "" {
		t, err = p.TransactionOf(ctx, in.Account, in.Date, in.Transaction)
	} else {
		t, err = p.Transaction(ctx, in.Account, in.Transaction)
	}
	if err != nil {
		return nil, err
	}
	return newVersioned(in.IfNoneMatch, t.Version, bankTransactionOf(t)), nil
}
