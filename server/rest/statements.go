package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// statement is a page of an account's statement in an answer.
type statement struct {
	AccountID ledger.AccountID `json:"accountId" example:"alice-usd"`
	From      ledger.Date      `json:"from" format:"date" example:"2026-01-01"`
	To        ledger.Date      `json:"to" format:"date" example:"2026-01-31"`
	Currency  money.Currency   `json:"currency" example:"USD"`
	Opening   string           `json:"opening" doc:"The balance before the days" example:"100.00"`
	Closing   string           `json:"closing" doc:"The balance after the days, as of the first page" example:"94.50"`
	Legs      []leg            `json:"legs" nullable:"false" doc:"The newest first, each with the balance after it"`
	Next      string           `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
}

type statementParams struct {
	AccountPageParams
	From ledger.Date `query:"from" doc:"The first day; without it 30 days before to" example:"2026-01-01"`
	To   ledger.Date `query:"to" doc:"The last day, which is included; without it today in the account's zone" example:"2026-01-31"`
}

func (a *API) registerStatement() {
	register(a.Router, operation{
		id: "get-statement", method: http.MethodGet, path: "/v1/accounts/{id}/statement",
		tag: "Accounts", scope: api.LedgerRead, summary: "Get a statement",
		description: "The legs of an account over calendar days, both included, with the opening " +
			"and the closing balance, which are the same on every page. Legs that are posted while " +
			"a reader turns the pages neither repeat nor hide a row. The days are those of the account's " +
			"zone. If they are left out, the answer has them; give them with the cursor.",
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidCursor, ledger.ErrAccountNotFound,
			ledger.ErrStatementIncomplete,
		},
	}, a.statement)
}

func (a *API) statement(
	ctx context.Context, in *statementParams,
) (*answer[statement], error) {
	s, err := a.deps.Ledger.Statement(ctx, ledger.StatementQuery{
		AccountID: in.ID, From: in.From, To: in.To, PageQuery: in.query(),
	})
	if err != nil {
		return nil, err
	}
	return &answer[statement]{Body: statement{
		AccountID: in.ID, From: s.From, To: s.To, Currency: s.Closing.Currency(),
		Opening: s.Opening.Text(), Closing: s.Closing.Text(), Legs: convertAll(s.Legs, legOf),
		Next: s.Next,
	}}, nil
}
