package ledger

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// accountTypeDefault is the type of an account whose request has none.
const accountTypeDefault = "checking"

func (h *handlers) openAccount(
	ctx context.Context, in api.OpenAccountRequest,
) (out rest.Answer[api.Account], err error) {
	body := in.Account
	var wrong problem.Fields
	if body.Currency != "" {
		rest.CheckCurrency(&wrong, "currency", body.Currency)
	}
	limit := money.Amount{}
	if body.OverdraftLimit != "" {
		limit = readAmount(&wrong, "overdraftLimit", body.OverdraftLimit, body.Currency)
	}
	if err := wrong.Err(ledger.ErrInvalidRequest); err != nil {
		return out, err
	}
	opened, err := h.ledger.OpenAccount(ctx, ledger.NewAccount{
		ID: ledger.AccountID(body.ID), IdempotencyKey: in.IdempotencyKey,
		UserID:      ledger.UserID(body.UserID),
		AccountType: cmp.Or(body.AccountType, accountTypeDefault), Currency: body.Currency,
		OverdraftLimit: limit, Unlimited: body.Unlimited, Zone: body.Zone,
		LocationID: ledger.LocationID(body.LocationID),
	})
	if err != nil {
		return out, err
	}
	path := "/v1/accounts/" + string(opened.ID)
	return rest.Made(opened.Replayed, path, accountOf(opened.Account)), nil
}

func (h *handlers) accounts(
	ctx context.Context, in api.Page,
) (rest.Answer[api.List[api.Account]], error) {
	page, err := h.ledger.Accounts(ctx, pageOf(in))
	return rest.OK(rest.List(page, accountOf)), err
}

func (h *handlers) accountsOfUser(
	ctx context.Context, in api.UserAccountsQuery,
) (rest.Answer[api.List[api.Account]], error) {
	page, err := h.ledger.AccountsOfUser(ctx, ledger.UserID(in.User), pageOf(in.Page))
	return rest.OK(rest.List(page, accountOf)), err
}

func (h *handlers) account(
	ctx context.Context, in api.AccountPath,
) (rest.Answer[api.Account], error) {
	return answerOf(h.ledger.Account(ctx, ledger.AccountID(in.ID)))
}

// answerOf returns the answer that is an account with its ETag.
func answerOf(a ledger.Account, err error) (rest.Answer[api.Account], error) {
	if err != nil {
		return rest.Answer[api.Account]{}, err
	}
	return rest.Tagged(tagOf(a), accountOf(a)), nil
}

// changeStatus returns the handler of an operation that changes the status of an account.
func (h *handlers) changeStatus(
	change func(context.Context, ledger.AccountID, ...ledger.Account) (ledger.Account, error),
) func(context.Context, api.ChangeAccountRequest) (rest.Answer[api.Account], error) {
	return func(
		ctx context.Context, in api.ChangeAccountRequest,
	) (rest.Answer[api.Account], error) {
		return answerOf(change(ctx, ledger.AccountID(in.ID), expected(in.Guarded)...))
	}
}

func (h *handlers) closeAccount(
	ctx context.Context, in api.CloseAccountRequest,
) (out rest.Answer[api.Account], err error) {
	id := ledger.AccountID(in.ID)
	// What the ledger refuses, and an account that is closed, needs no look at payments.
	found, err := h.ledger.Account(ctx, id)
	if err == nil && !in.WithOpenPayments && !found.System() && found.Balance.IsZero() &&
		found.Status != ledger.AccountClosed {
		if err := h.opts.OpenPayments(ctx, id); err != nil {
			return out, err
		}
	}
	return answerOf(h.ledger.CloseAccount(ctx, id, expected(in.Guarded)...))
}

func (h *handlers) setOverdraft(
	ctx context.Context, in api.SetOverdraftRequest,
) (out rest.Answer[api.Account], err error) {
	id, body := ledger.AccountID(in.ID), in.Overdraft
	// The ledger takes a limit in the account's currency, which the body need not repeat.
	currency := body.Currency
	if currency == "" {
		found, err := h.ledger.Account(ctx, id)
		if err != nil {
			return out, err
		}
		currency = found.Currency()
	}
	var wrong problem.Fields
	rest.CheckCurrency(&wrong, "currency", currency)
	limit, _ := money.New(money.Decimal{}, currency) // An unknown currency has its own check.
	switch {
	case body.OverdraftLimit != "":
		limit = readAmount(&wrong, "overdraftLimit", body.OverdraftLimit, currency)
	case !body.Unlimited:
		// A change without a limit must not remove the present one.
		wrong.Add("overdraftLimit", "is missing: give 0 for no overdraft, or unlimited")
	}
	if err := wrong.Err(ledger.ErrInvalidRequest); err != nil {
		return out, err
	}
	return answerOf(h.ledger.SetOverdraft(ctx, id, limit, body.Unlimited,
		expected(in.Guarded)...))
}

func (h *handlers) legsOfAccount(
	ctx context.Context, in api.LegsQuery,
) (rest.Answer[api.List[api.Leg]], error) {
	page, err := h.ledger.LegsOfAccount(ctx, ledger.LegsQuery{
		AccountID: ledger.AccountID(in.ID), From: in.From.Bound(), To: in.To.Bound(),
		PageQuery: pageOf(in.Page),
	})
	return rest.OK(rest.List(page, legOf)), err
}

func (h *handlers) accountStatement(
	ctx context.Context, in api.AccountStatementQuery,
) (out rest.Answer[api.AccountStatement], err error) {
	s, err := h.ledger.Statement(ctx, ledger.StatementQuery{
		AccountID: ledger.AccountID(in.ID), From: ledger.Date(in.From), To: ledger.Date(in.To),
		PageQuery: pageOf(in.Page),
	})
	if err != nil {
		return out, err
	}
	return rest.OK(api.AccountStatement{
		AccountID: in.ID, From: api.Date(s.From), To: api.Date(s.To),
		Currency: s.Closing.Currency(), Opening: api.AmountOf(s.Opening),
		Closing: api.AmountOf(s.Closing), Legs: rest.All(s.Legs, legOf), Next: s.Next,
	}), nil
}

// tagOf returns the ETag of an account. It changes with every change: the version counts the legs,
// and the revision everything else.
func tagOf(a ledger.Account) string {
	return strconv.FormatUint(a.Version, 10) + "." + strconv.FormatUint(a.Revision, 10)
}

// expected returns the account that a change expects, or nothing if any state is accepted.
func expected(g api.Guarded) []ledger.Account {
	if g.IfMatch == "" {
		return nil
	}
	version, revision, _ := strings.Cut(g.Tag(), ".")
	var a ledger.Account
	// The ETag is that of the account as it is: both are numbers.
	a.Version, _ = strconv.ParseUint(version, 10, 64)
	a.Revision, _ = strconv.ParseUint(revision, 10, 64)
	return []ledger.Account{a}
}
