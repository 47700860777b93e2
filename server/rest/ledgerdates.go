package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

type (
	repairDatesParams struct {
		Mend bool `query:"repair" doc:"Whether to rewrite the dates; without it nothing is written"`
	}

	dateRepair struct {
		Verdict      ledger.Verdict `json:"verdict" enum:"sound,faulty,undecided" doc:"sound: no date is ahead of the clock, or all were mended. undecided: none is left but those that could not be mended now"`
		Mended       bool           `json:"mended" doc:"Whether the verdict is sound"`
		Now          instant        `json:"now" doc:"The server's clock, by which dates were judged"`
		Transactions int            `json:"transactions" doc:"How many are dated ahead of the clock, or were until they were mended"`
		Accounts     int            `json:"accounts" doc:"How many were last posted to ahead of the clock, or were until they were mended"`
		Openings     int            `json:"openings" doc:"How many accounts, entries of the directory, merchants and records of requests were created ahead of the clock, or were until they were mended"`
		Left         int            `json:"left" doc:"How many of all these are not mended"`
		Faults       []dateFault    `json:"faults" nullable:"false" doc:"The first 100 of all these"`
		Open         int            `json:"open" doc:"How many could not be mended now, because other writers changed them each time or an index was behind"`
		Undecided    []dateFault    `json:"undecided" nullable:"false" doc:"The first 100 of them"`
	}

	dateFault struct {
		Kind          ledger.DateFaultKind `json:"kind" enum:"transaction_ahead,account_ahead,opening_ahead"`
		TransactionID ledger.TransactionID `json:"transactionId,omitempty"`
		AccountID     ledger.AccountID     `json:"accountId,omitempty"`
		Entry         string               `json:"entry,omitempty" doc:"The key of the item, of what was created ahead of the clock" example:"ACCOUNT#a METADATA"`
		Was           instant              `json:"was,omitzero" doc:"The stored date; absent if it cannot be read"`
		Is            instant              `json:"is,omitzero" doc:"The new date; absent if it is not mended"`
		Mended        bool                 `json:"mended"`
		Why           string               `json:"why,omitempty" doc:"Why it is not mended although that was asked for"`
	}
)

func (a *API) registerLedgerDates() {
	register(a.Router, operation{
		id: "repair-dates", method: http.MethodPost, path: "/v1/transactions/repair-dates",
		tag: "Transactions", scope: api.LedgerAdmin, stream: true,
		summary: "Check whether dates are ahead of the clock, and change them to now",
		description: "A server whose clock was ahead has dated its postings in the future, and since then " +
			"their accounts refuse others with account_from_future. Set the clocks right first, because " +
			"the clock of this server decides. With repair, such transactions are dated now, in the order " +
			"of the legs of each account; ids, amounts, balances and idempotency keys stay as they are. " +
			"Postings may go on. A run that ends early leaves books that reconcile, and another run " +
			"mends the rest. It reads the whole table.",
	}, a.repairDates)
}

func (a *API) repairDates(
	ctx context.Context, in *repairDatesParams,
) (*answer[dateRepair], error) {
	r, err := a.deps.Ledger.RepairDates(ctx, ledger.RepairDatesQuery{Mend: in.Mend})
	if err != nil {
		return nil, err
	}
	fault := func(f ledger.DateFault) dateFault {
		return dateFault{
			Kind: f.Kind, TransactionID: f.TransactionID, AccountID: f.AccountID, Entry: f.Entry,
			Was: instant(f.Was), Is: instant(f.Is), Mended: f.Mended, Why: f.Why,
		}
	}
	return &answer[dateRepair]{Body: dateRepair{
		Verdict: r.Verdict(), Mended: r.Mended(), Now: instant(r.Now),
		Transactions: r.Transactions, Accounts: r.Accounts, Openings: r.Openings,
		Left: r.Left, Faults: convertAll(r.Faults, fault),
		Open: r.Open, Undecided: convertAll(r.Undecided, fault),
	}}, nil
}
