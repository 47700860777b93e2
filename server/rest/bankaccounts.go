package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of an account at a bank.
type (
	bankAccount struct {
		ID        string         `json:"id" example:"everyday"`
		Name      string         `json:"name" example:"Everyday"`
		Currency  money.Currency `json:"currency" example:"NZD"`
		Number    string         `json:"number,omitempty" doc:"As the files of the bank write it, often an IBAN" example:"12-3456-7890123-00"`
		Closed    bool           `json:"closed,omitempty"`
		Mapping   *fileMapping   `json:"mapping,omitempty" doc:"How the files of the bank are read, as the person confirmed it"`
		Version   uint64         `json:"version" doc:"Counts the changes; the ETag without its quotes"`
		CreatedAt instant        `json:"createdAt,omitzero"`
		UpdatedAt instant        `json:"updatedAt,omitzero"`
	}

	newBankAccount struct {
		ID       string         `json:"id,omitempty" doc:"Makes the request safe to repeat; without it one is made" example:"everyday"`
		Name     string         `json:"name" example:"Everyday"`
		Currency money.Currency `json:"currency" doc:"A code of ISO 4217" example:"NZD"`
		Number   string         `json:"number,omitempty" doc:"As the files of the bank write it; statements of other numbers in a file are left out" example:"12-3456-7890123-00"`
	}

	bankAccountChange struct {
		Name    *string      `json:"name,omitempty" example:"Everyday"`
		Number  *string      `json:"number,omitempty" doc:"Empty for none"`
		Closed  *bool        `json:"closed,omitempty"`
		Mapping *fileMapping `json:"mapping,omitempty" doc:"How the files of the bank are read; all of it is replaced"`
	}

	// fileMapping is how the files of a bank are read; bankfile explains its members.
	fileMapping bankfile.Mapping
)

// BankAccountPath is the parameter that names a bank account of the caller.
type BankAccountPath struct {
	Account string `path:"account" doc:"The account's id" example:"everyday"`
}

type (
	bankAccountParams struct {
		Conditional
		BankAccountPath
	}
	createBankAccountParams struct{ WithBody }
	changeBankAccountParams struct {
		WithBody
		Guarded
		BankAccountPath
	}
)

func bankAccountOf(v statements.Account) bankAccount {
	out := bankAccount{
		ID: v.ID, Name: v.Name, Currency: v.Currency, Number: v.Number, Closed: v.Closed,
		Version: v.Version, CreatedAt: instant(v.CreatedAt), UpdatedAt: instant(v.UpdatedAt),
	}
	if v.Mapping != nil {
		m := fileMapping(*v.Mapping)
		out.Mapping = &m
	}
	return out
}

func (a *API) registerBankAccounts() {
	const chapter, read, write = tagBankAccounts, api.StatementsRead, api.StatementsWrite
	register(a.Router, operation{
		id: "list-bank-accounts", method: http.MethodGet, path: "/v1/me/accounts", tag: chapter,
		scope: read, personal: true, summary: "List the accounts",
	}, a.bankAccounts)
	registerBody(a.Router, operation{
		id: "create-bank-account", method: http.MethodPost, path: "/v1/me/accounts", tag: chapter,
		scope: write, personal: true, status: http.StatusCreated, repeats: true,
		summary: "Create an account",
		description: "A repeat with the same id and contents gets the account with status 200 and " +
			"Idempotent-Replayed: true; with other contents it is a conflict that names the member.",
		example: newBankAccount{ID: "everyday", Name: "Everyday", Currency: "NZD"},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrKeyUsed, statements.ErrTooMany,
		},
	}, a.createBankAccount)
	register(a.Router, operation{
		id: "get-bank-account", method: http.MethodGet, path: "/v1/me/accounts/{account}",
		tag: chapter, scope: read, personal: true, summary: "Get an account",
		problems: []*problem.Definition{statements.ErrNoAccount},
	}, a.bankAccount)
	registerBody(a.Router, operation{
		id: "change-bank-account", method: http.MethodPatch, path: "/v1/me/accounts/{account}",
		tag: chapter, scope: write, personal: true, summary: "Change an account",
		description: "What is left out stays as it is. A mapping says how the files of the bank are " +
			"read; it is the same JSON that uploads answer with, and can be given to others.",
		example: bankAccountChange{Name: text("Everyday")},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoAccount, statements.ErrChanged,
		},
	}, a.changeBankAccount)
}

func text(s string) *string { return &s }

func (a *API) bankAccounts(ctx context.Context, _ *struct{}) (*answer[list[bankAccount]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.Start(ctx)
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	page := singletable.Page[statements.Account]{Items: s.Accounts}
	for _, item := range bad {
		if item.Entity == "Account" {
			page.Unreadable = append(page.Unreadable, item)
		}
	}
	return convert(page, bankAccountOf), nil
}

func (a *API) createBankAccount(
	ctx context.Context, _ *createBankAccountParams, body *newBankAccount,
) (*made[bankAccount], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, fresh, err := p.CreateAccount(ctx, statements.NewAccount(*body))
	if err != nil {
		return nil, err
	}
	return newMade(fresh, "/v1/me/accounts/"+escape(v.ID), v.Version, bankAccountOf(v)), nil
}

func (a *API) bankAccount(
	ctx context.Context, in *bankAccountParams,
) (*tagged[bankAccount], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, err := p.Account(ctx, in.Account)
	if err != nil {
		return nil, err
	}
	return newVersioned(in.IfNoneMatch, v.Version, bankAccountOf(v)), nil
}

func (a *API) changeBankAccount(
	ctx context.Context, in *changeBankAccountParams, body *bankAccountChange,
) (*stated[bankAccount], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	change := statements.AccountChange{Name: body.Name, Number: body.Number, Closed: body.Closed}
	change.Version = in.version()
	if body.Mapping != nil {
		m := bankfile.Mapping(*body.Mapping)
		change.Mapping = &m
	}
	v, err := p.ChangeAccount(ctx, in.Account, change)
	if err != nil {
		return nil, err
	}
	return newStated(v.Version, bankAccountOf(v)), nil
}
