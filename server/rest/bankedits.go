package rest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The bodies of what a person does to transactions.
type (
	newBankTransaction struct {
		Date     bankDate        `json:"date" format:"date" example:"2025-08-15"`
		Amount   payload.Decimal `json:"amount" doc:"Money out is negative" example:"-5.50"`
		Currency money.Currency  `json:"currency,omitempty" doc:"The account's without it" example:"NZD"`
		Merchant string          `json:"merchant,omitempty" example:"Coffee Supreme"`
		Notes    string          `json:"notes,omitempty"`
		TagIDs   []string        `json:"tagIds,omitempty" nullable:"false"`
		Transfer bool            `json:"transfer,omitempty"`
		Splits   []newSplit      `json:"splits,omitempty" nullable:"false"`
	}

	newSplit struct {
		Amount payload.Decimal `json:"amount" example:"-3.50"`
		TagIDs []string        `json:"tagIds,omitempty" nullable:"false"`
		Notes  string          `json:"notes,omitempty"`
	}

	bankTransactionChange struct {
		Date     *bankDate        `json:"date,omitempty" doc:"It moves, also into another month, and keeps its id" example:"2025-08-15"`
		Amount   *payload.Decimal `json:"amount,omitempty" doc:"Only of a transaction that was typed in" example:"-5.50"`
		Merchant *string          `json:"merchant,omitempty" example:"Coffee Supreme"`
		Notes    *string          `json:"notes,omitempty" doc:"Empty for none"`
		TagIDs   *[]string        `json:"tagIds,omitempty" nullable:"false" doc:"All of them; empty for none"`
		Transfer *bool            `json:"transfer,omitempty"`
		Splits   *[]newSplit      `json:"splits,omitempty" nullable:"false" doc:"Parts that add up to the amount and have the tags from then on; empty makes it whole again"`
		Reset    []string         `json:"reset,omitempty" nullable:"false" doc:"Fields that are given back: they become what the bank wrote, or what the rules make of it"`
	}

	newAnnotation struct {
		ID     string `json:"id,omitempty" doc:"Makes the request safe to repeat; without it one is made"`
		Text   string `json:"text" example:"For the office"`
		Type   string `json:"type,omitempty" example:"advisory"`
		Author string `json:"author,omitempty" doc:"The person or the program that makes the remark" example:"budget-bot"`
	}

	annotationChange struct {
		Text *string `json:"text,omitempty" example:"For the office"`
		Type *string `json:"type,omitempty" example:"advisory"`
	}
)

// OnDay is the parameter that finds transactions which another program wrote.
type OnDay struct {
	Date bankDate `query:"date" doc:"The day on which it stands; needed only for what another program wrote" example:"2025-08-15"`
}

// AnnotationPath are the parameters that name an annotation of the caller.
type AnnotationPath struct {
	BankTransactionPath
	OnDay
	Annotation string `path:"annotation" doc:"The annotation's id"`
}

type (
	addBankTransactionParams struct {
		WithBody
		BankAccountPath
		Key string `header:"Idempotency-Key" doc:"Names the request, so that a repeat is harmless at any time"`
	}
	changeBankTransactionParams struct {
		WithBody
		Guarded
		BankTransactionPath
		OnDay
	}
	deleteBankTransactionParams struct {
		Guarded
		BankTransactionPath
		OnDay
	}
	annotateParams struct {
		WithBody
		BankTransactionPath
		OnDay
	}
	changeAnnotationParams struct {
		WithBody
		AnnotationPath
	}
)

func (p BankTransactionPath) at(on OnDay) statements.At {
	return statements.At{AccountID: p.Account, ID: p.Transaction, Date: on.Date}
}

// transactionPath is where a transaction is found.
func transactionPath(t statements.Transaction) string {
	return "/v1/me/accounts/" + escape(t.AccountID) + "/transactions/" + escape(t.ID)
}

// readDecimal reads a decimal of a body; one that is left out is nil. Its faults are collected.
func readDecimal(wrong *problem.Fields, field string, text *payload.Decimal) *money.Decimal {
	if text == nil {
		return nil
	}
	d, err := money.ParseDecimal(string(*text))
	if err != nil {
		wrong.Add(field, `must be a plain decimal such as "-5.50": `+err.Error())
	}
	return &d
}

// readSplits reads the parts of a transaction.
func readSplits(wrong *problem.Fields, splits []newSplit) []statements.NewSplit {
	parts := make([]statements.NewSplit, len(splits))
	for i, s := range splits {
		amount := readDecimal(wrong, fmt.Sprintf("splits[%d].amount", i), &s.Amount)
		parts[i] = statements.NewSplit{Amount: *amount, TagIDs: s.TagIDs, Notes: s.Notes}
	}
	return parts
}

func (a *API) registerBankEdits() {
	const chapter, scope = tagBankTransactions, api.StatementsWrite
	const path = "/v1/me/accounts/{account}/transactions"
	registerBody(a.Router, operation{
		id: "add-bank-transaction", method: http.MethodPost, path: path, tag: chapter,
		scope: scope, personal: true, status: http.StatusCreated, repeats: true,
		summary: "Type a transaction in",
		description: "The rules fill in what is left out. A repeat with the same key gets the " +
			"transaction as it is by then, with status 200 and Idempotent-Replayed: true; another " +
			"request with the same key is a conflict that names the member. When a file brings it later, the two are " +
			"made one.",
		example: newBankTransaction{
			Date: "2025-08-15", Amount: "-5.50", Merchant: "Coffee Supreme",
		},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoAccount, statements.ErrNoTag,
			statements.ErrNoTransaction, statements.ErrKeyUsed,
		},
	}, a.addBankTransaction)
	registerBody(a.Router, operation{
		id: "change-bank-transaction", method: http.MethodPatch, path: path + "/{transaction}",
		tag: chapter, scope: scope, personal: true, summary: "Change a transaction",
		description: "What is left out stays as it is. A field that becomes another than it was is the " +
			"person's from then on: no file and no rule changes it any more, until it is reset.",
		example: bankTransactionChange{Notes: text("With Hana")},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoTag, statements.ErrNoTransaction,
			statements.ErrChanged,
		},
	}, a.changeBankTransaction)
	register(a.Router, operation{
		id: "delete-bank-transaction", method: http.MethodDelete, path: path + "/{transaction}",
		tag: chapter, scope: scope, personal: true, status: http.StatusNoContent,
		summary: "Delete a transaction", description: "No file brings it back.",
		problems: []*problem.Definition{
			statements.ErrNoTransaction, statements.ErrChanged,
		},
	}, a.deleteBankTransaction)
	registerBody(a.Router, operation{
		id: "annotate", method: http.MethodPost, path: path + "/{transaction}/annotations",
		tag: chapter, scope: scope, personal: true, status: http.StatusCreated,
		repeats: true, summary: "Add an annotation",
		description: "By a person or a program. It answers the transaction. A repeat with the same id " +
			"and contents changes nothing, with status 200 and Idempotent-Replayed: true; with other " +
			"contents it is a conflict that names the member.",
		example: newAnnotation{Text: "For the office", Type: "advisory", Author: "budget-bot"},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoTransaction, statements.ErrKeyUsed,
			statements.ErrTooMany,
		},
	}, a.annotate)
	registerBody(a.Router, operation{
		id: "change-annotation", method: http.MethodPatch,
		path: path + "/{transaction}/annotations/{annotation}", tag: chapter, scope: scope,
		personal: true, summary: "Change an annotation",
		example: annotationChange{Text: text("For the office")},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoTransaction, statements.ErrNoAnnotation,
		},
	}, a.changeAnnotation)
	register(a.Router, operation{
		id: "remove-annotation", method: http.MethodDelete,
		path: path + "/{transaction}/annotations/{annotation}", tag: chapter, scope: scope,
		personal: true, summary: "Remove an annotation",
		description: "Removing it again changes nothing.",
		problems:    []*problem.Definition{statements.ErrNoTransaction},
	}, a.removeAnnotation)
}

func (a *API) addBankTransaction(
	ctx context.Context, in *addBankTransactionParams, body *newBankTransaction,
) (*made[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	var wrong problem.Fields
	n := statements.NewTransaction{
		AccountID: in.Account, Key: in.Key, Date: body.Date, Currency: body.Currency,
		Merchant: body.Merchant, Notes: body.Notes, TagIDs: body.TagIDs, Transfer: body.Transfer,
		Amount: *readDecimal(&wrong, "amount", &body.Amount),
		Splits: readSplits(&wrong, body.Splits),
	}
	if err := wrong.Err(statements.ErrInvalid); err != nil {
		return nil, err
	}
	t, fresh, err := p.AddTransaction(ctx, n)
	if err != nil {
		return nil, err
	}
	return newMade(fresh, transactionPath(t), t.Version, bankTransactionOf(t)), nil
}

func (a *API) changeBankTransaction(
	ctx context.Context, in *changeBankTransactionParams, body *bankTransactionChange,
) (*stated[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	var wrong problem.Fields
	c := statements.TransactionChange{
		Date: body.Date, Amount: readDecimal(&wrong, "amount", body.Amount),
		Merchant: body.Merchant, Notes: body.Notes, TagIDs: body.TagIDs, Transfer: body.Transfer,
		Reset: body.Reset,
	}
	if body.Splits != nil {
		parts := readSplits(&wrong, *body.Splits)
		c.Splits = &parts
	}
	if err := wrong.Err(statements.ErrInvalid); err != nil {
		return nil, err
	}
	c.Version = in.version()
	t, err := p.ChangeTransaction(ctx, in.at(in.OnDay), c)
	if err != nil {
		return nil, err
	}
	return newStated(t.Version, bankTransactionOf(t)), nil
}

func (a *API) deleteBankTransaction(
	ctx context.Context, in *deleteBankTransactionParams,
) (*struct{}, error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return nil, p.DeleteTransaction(ctx, in.at(in.OnDay), in.version())
}

func (a *API) annotate(
	ctx context.Context, in *annotateParams, body *newAnnotation,
) (*made[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, t, fresh, err := p.Annotate(ctx, in.at(in.OnDay), statements.NewAnnotation(*body))
	if err != nil {
		return nil, err
	}
	path := transactionPath(t) + "/annotations/" + escape(v.ID)
	return newMade(fresh, path, t.Version, bankTransactionOf(t)), nil
}

func (a *API) changeAnnotation(
	ctx context.Context, in *changeAnnotationParams, body *annotationChange,
) (*stated[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	t, err := p.ChangeAnnotation(ctx, in.at(in.OnDay), in.Annotation,
		statements.AnnotationChange(*body))
	if err != nil {
		return nil, err
	}
	return newStated(t.Version, bankTransactionOf(t)), nil
}

func (a *API) removeAnnotation(
	ctx context.Context, in *AnnotationPath,
) (*stated[bankTransaction], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	t, err := p.RemoveAnnotation(ctx, in.at(in.OnDay), in.Annotation)
	if err != nil {
		return nil, err
	}
	return newStated(t.Version, bankTransactionOf(t)), nil
}
