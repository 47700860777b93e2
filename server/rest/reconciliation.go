package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// reconcile is the body that asks whether the books are right.
type reconcile struct {
	From   ledger.Date `json:"from,omitempty" format:"date" doc:"The first day; the beginning of the books without it" example:"2026-01-01"`
	To     ledger.Date `json:"to,omitempty" format:"date" doc:"The last day, which is included; everything until now without it" example:"2026-01-31"`
	Skip   int         `json:"skip,omitempty" minimum:"0" doc:"How many divergences to leave out before the first that is listed"`
	Limit  int         `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"How many divergences to list; 100 without it"`
	Cursor string      `json:"cursor,omitempty" doc:"Continues an earlier run of the same question, from the cursor of its last progress"`
}

// reconciliation is the result in an answer.
type reconciliation struct {
	From         ledger.Date     `json:"from,omitempty" doc:"The first day that was asked for" example:"2026-01-01"`
	To           ledger.Date     `json:"to,omitempty" doc:"The last day that was asked for" example:"2026-01-31"`
	Verdict      ledger.Verdict  `json:"verdict" enum:"balanced,diverges,undecided" doc:"balanced: everything was compared, and nothing diverges. undecided: nothing was found, but not everything could be compared"`
	Balanced     bool            `json:"balanced" doc:"Whether the verdict is balanced"`
	Until        instant         `json:"until" doc:"The instant that the sums are pinned to; what was posted later changes none of them"`
	Items        int             `json:"items" doc:"How many items of the table were looked at"`
	Others       int             `json:"others" doc:"How many of them are not the ledger's, and were left out"`
	Transactions int             `json:"transactions" doc:"How many the days have"`
	Legs         int             `json:"legs" doc:"How many the days have"`
	Accounts     int             `json:"accounts" doc:"How many there are"`
	Totals       []currencyTotal `json:"totals" nullable:"false" doc:"One for each currency"`
	Found        int             `json:"found" doc:"How many things diverge"`
	Divergences  []divergence    `json:"divergences" nullable:"false" doc:"Those of them that skip and limit choose"`
	Open         int             `json:"open" doc:"How many things could not be compared"`
	Undecided    []divergence    `json:"undecided" nullable:"false" doc:"The first of them, and why"`
}

type currencyTotal struct {
	Currency money.Currency `json:"currency" example:"USD"`
	Debits   string         `json:"debits" doc:"The sum of all debits of the days" example:"5.50"`
	Credits  string         `json:"credits" doc:"The sum of all credits of the days" example:"5.50"`
	Balances string         `json:"balances" doc:"The sum of all balances at the end of the days" example:"0.00"`
}

type divergence struct {
	Kind          ledger.DivergenceKind `json:"kind" example:"balance_wrong"`
	TransactionID ledger.TransactionID  `json:"transactionId,omitempty"`
	AccountID     ledger.AccountID      `json:"accountId,omitempty"`
	LegID         ledger.LegID          `json:"legId,omitempty"`
	Currency      money.Currency        `json:"currency,omitempty"`
	Entry         string                `json:"entry,omitempty" doc:"The primary key of the item in the table" example:"TXN#3f5f8b0e-8b0f-5d1e-9d6a-0d1b7c1f9a11 METADATA"`
	Want          string                `json:"want" doc:"What should be there"`
	Got           string                `json:"got" doc:"What is"`
}

// progress returns how far a reconciliation has come.
type progress struct {
	Step         string `json:"step" doc:"The part of the run: table, GSI1, GSI2 and, where these disagree, locate and recount" example:"table"`
	Items        int    `json:"items"`
	Transactions int    `json:"transactions"`
	Legs         int    `json:"legs"`
	Accounts     int    `json:"accounts"`
	Found        int    `json:"found"`
	Cursor       string `json:"cursor" doc:"Lets another run continue from here"`
}

// line is one line of a stream; one member is set.
type line struct {
	Progress *progress       `json:"progress,omitempty"`
	Report   *reconciliation `json:"report,omitempty" doc:"The outcome, on the last line"`
	Problem  *api.Problem    `json:"problem,omitempty" doc:"What ended the run, on the last line"`
}

type reconcileParams struct {
	WithBody
	Accept string `header:"Accept" hidden:"true"`
}

// streamed is an answer that writes itself.
type streamed struct {
	Body func(huma.Context)
}

func (a *API) registerReconciliation() {
	registerBody(a.Router, operation{
		id: "reconcile", method: http.MethodPost, path: "/v1/reconciliation",
		tag: "Reconciliation", scope: api.LedgerRead, stream: true,
		summary: "Check the books",
		description: "Reads the whole table and both indexes, and compares each transaction's header " +
			"with its legs, each leg with the one before it on its account, each stored balance " +
			"with the legs, each account with the directory, and each index entry with its item. " +
			"It changes nothing. Days choose which transactions count; without them all do. " +
			"Postings may go on: the sums are pinned to an instant, and what cannot be decided " +
			"makes the verdict undecided, never balanced. It may take minutes: with Accept: " +
			mediaLines + " the answer is a stream of JSON objects, one a line, each with the " +
			"member progress, and finally one with the member report or problem. A run that " +
			"ended early is continued from the cursor of its last progress.",
		example: reconcile{From: "2026-01-01", To: "2026-01-31"},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidCursor,
		},
	}, a.reconcile)
	response := a.huma.OpenAPI().Paths["/v1/reconciliation"].Post.Responses["200"]
	response.Description = "The outcome"
	response.Content = map[string]*huma.MediaType{
		mediaJSON:  {Schema: a.schema(typeOf[reconciliation]())},
		mediaLines: {Schema: a.schema(typeOf[line]())},
	}
}

func (a *API) reconcile(
	ctx context.Context, in *reconcileParams, body *reconcile,
) (*streamed, error) {
	query := ledger.ReconcileQuery{
		From: body.From, To: body.To, Skip: body.Skip, Limit: body.Limit, Cursor: body.Cursor,
	}
	if strings.Contains(in.Accept, mediaLines) {
		return &streamed{Body: func(c huma.Context) { a.streamReconciliation(c, query) }}, nil
	}
	r, err := a.deps.Ledger.Reconcile(ctx, query)
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", mediaJSON)
		c.SetStatus(http.StatusOK)
		// A caller that is gone cannot be told.
		_ = marshal(c.BodyWriter(), reconciliationOf(r))
	}}, nil
}

// streamReconciliation writes lines. What is wrong with the request itself is found before the
// first one, so that it still has a status of its own.
func (a *API) streamReconciliation(c huma.Context, query ledger.ReconcileQuery) {
	_, w := humago.Unwrap(c)
	flusher := http.NewResponseController(w)
	begun := false
	write := func(l line) {
		if !begun {
			begun = true
			c.SetHeader("Content-Type", mediaLines)
			c.SetStatus(http.StatusOK)
		}
		// When the caller is gone, the context ends the run.
		_ = json.NewEncoder(c.BodyWriter()).Encode(l)
		_ = flusher.Flush()
	}
	query.Progress = func(p ledger.ReconcileProgress) {
		made := progress(p)
		write(line{Progress: &made})
	}
	r, err := a.deps.Ledger.Reconcile(c.Context(), query)
	switch {
	case err == nil:
		made := reconciliationOf(r)
		write(line{Report: &made})
	case !begun:
		a.fail(c, err)
	default:
		write(line{Problem: &a.document(c.Context(), err).Problem})
	}
}

func reconciliationOf(r ledger.Reconciliation) reconciliation {
	diverging := func(d ledger.Divergence) divergence { return divergence(d) }
	return reconciliation{
		From: r.From, To: r.To, Verdict: r.Verdict(), Balanced: r.Balanced(),
		Until: instant(r.Until), Items: r.Items, Others: r.Others, Transactions: r.Transactions,
		Legs: r.Legs, Accounts: r.Accounts, Found: r.Found, Open: r.Open,
		Totals: convertAll(r.Totals, func(t ledger.CurrencyTotal) currencyTotal {
			return currencyTotal{
				Currency: t.Currency, Debits: t.Debits.Text(), Credits: t.Credits.Text(),
				Balances: t.Balances.Text(),
			}
		}),
		Divergences: convertAll(r.Divergences, diverging),
		Undecided:   convertAll(r.Undecided, diverging),
	}
}
