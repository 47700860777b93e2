package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

var reconciliationChapter = &Chapter{
	Name: "Reconciliation", System: "ledger", Description: "Whether the books are right",
}

type (
	// Verdict is the result of a check.
	Verdict string
	// DivergenceKind is what is wrong with a part of the ledger.
	DivergenceKind string
	// DateFaultKind is what is dated ahead of the clock.
	DateFaultKind string
)

// The verdicts of checks.
const (
	// VerdictSound means that everything was compared and no error was found.
	VerdictSound Verdict = "sound"
	// VerdictFaulty means that an error was found.
	VerdictFaulty Verdict = "faulty"
	// VerdictBalanced means that the whole ledger was compared and nothing diverges.
	VerdictBalanced Verdict = "balanced"
	// VerdictDiverges means that something diverges.
	VerdictDiverges Verdict = "diverges"
	// VerdictUndecided means that no error was found, but not everything could be compared.
	VerdictUndecided Verdict = "undecided"
)

// NewReconciliation is the body that selects the part of the ledger to check: all of it, or the
// transactions of calendar days.
type NewReconciliation struct {
	From   Date   `json:"from,omitempty" format:"date" doc:"The first day; the beginning of the books without it" example:"2026-01-01"`
	To     Date   `json:"to,omitempty" format:"date" doc:"The last day, which is included; everything until now without it" example:"2026-01-31"`
	Skip   int    `json:"skip,omitempty" minimum:"0" doc:"How many divergences to leave out before the first that is listed"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"How many divergences to list; 100 without it"`
	Cursor string `json:"cursor,omitempty" doc:"Continues an earlier run of the same question, from the cursor of its last progress"`
}

// Reconciliation is the result of a check of the ledger.
type Reconciliation struct {
	From         Date            `json:"from,omitempty" doc:"The first day that was asked for" example:"2026-01-01"`
	To           Date            `json:"to,omitempty" doc:"The last day that was asked for" example:"2026-01-31"`
	Verdict      Verdict         `json:"verdict" enum:"balanced,diverges,undecided" doc:"balanced: everything was compared, and nothing diverges. undecided: nothing was found, but not everything could be compared"`
	Balanced     bool            `json:"balanced" doc:"Whether the verdict is balanced"`
	Until        Instant         `json:"until" doc:"The instant that the sums are pinned to; what was posted later changes none of them"`
	Items        int             `json:"items" doc:"How many items of the table were looked at"`
	Others       int             `json:"others" doc:"How many of them are not the ledger's, and were left out"`
	Transactions int             `json:"transactions" doc:"How many the days have"`
	Legs         int             `json:"legs" doc:"How many the days have"`
	Accounts     int             `json:"accounts" doc:"How many there are"`
	Totals       []CurrencyTotal `json:"totals" nullable:"false" doc:"One for each currency"`
	Found        int             `json:"found" doc:"How many things diverge"`
	Divergences  []Divergence    `json:"divergences" nullable:"false" doc:"Those of them that skip and limit choose"`
	Open         int             `json:"open" doc:"How many things could not be compared"`
	Undecided    []Divergence    `json:"undecided" nullable:"false" doc:"The first of them, and why"`
}

// CurrencyTotal is the totals of one currency.
type CurrencyTotal struct {
	Currency money.Currency `json:"currency" example:"USD"`
	Debits   Amount         `json:"debits" doc:"The sum of all debits of the days" example:"5.50"`
	Credits  Amount         `json:"credits" doc:"The sum of all credits of the days" example:"5.50"`
	Balances Amount         `json:"balances" doc:"The sum of all balances at the end of the days" example:"0.00"`
}

// Divergence is one error that was found.
type Divergence struct {
	Kind          DivergenceKind `json:"kind" example:"balance_wrong"`
	TransactionID TransactionID  `json:"transactionId,omitempty"`
	AccountID     AccountID      `json:"accountId,omitempty"`
	LegID         LegID          `json:"legId,omitempty"`
	Currency      money.Currency `json:"currency,omitempty"`
	Entry         string         `json:"entry,omitempty" doc:"The primary key of the item in the table" example:"TXN#3f5f8b0e-8b0f-5d1e-9d6a-0d1b7c1f9a11 METADATA"`
	Want          string         `json:"want" doc:"What should be there"`
	Got           string         `json:"got" doc:"What is"`
}

// ReconcileProgress is the progress of a reconciliation.
type ReconcileProgress struct {
	Step         string `json:"step" doc:"The part of the run: table, GSI1, GSI2 and, where these disagree, locate and recount" example:"table"`
	Items        int    `json:"items"`
	Transactions int    `json:"transactions"`
	Legs         int    `json:"legs"`
	Accounts     int    `json:"accounts"`
	Found        int    `json:"found"`
	Cursor       string `json:"cursor" doc:"Lets another run continue from here"`
}

// DateRepair is the result of a search for dates that are ahead of the clock.
type DateRepair struct {
	Verdict      Verdict     `json:"verdict" enum:"sound,faulty,undecided" doc:"sound: no date is ahead of the clock, or all were mended. undecided: none is left but those that could not be mended now"`
	Mended       bool        `json:"mended" doc:"Whether the verdict is sound"`
	Now          Instant     `json:"now" doc:"The server's clock, by which dates were judged"`
	Transactions int         `json:"transactions" doc:"How many are dated ahead of the clock, or were until they were mended"`
	Accounts     int         `json:"accounts" doc:"How many were last posted to ahead of the clock, or were until they were mended"`
	Openings     int         `json:"openings" doc:"How many accounts, entries of the directory, merchants and records of requests were created ahead of the clock, or were until they were mended"`
	Left         int         `json:"left" doc:"How many of all these are not mended"`
	Faults       []DateFault `json:"faults" nullable:"false" doc:"The first 100 of all these"`
	Open         int         `json:"open" doc:"How many could not be mended now, because other writers changed them each time or an index was behind"`
	Undecided    []DateFault `json:"undecided" nullable:"false" doc:"The first 100 of them"`
}

// DateFault is a date that is ahead of the clock.
type DateFault struct {
	Kind          DateFaultKind `json:"kind" enum:"transaction_ahead,account_ahead,opening_ahead"`
	TransactionID TransactionID `json:"transactionId,omitempty"`
	AccountID     AccountID     `json:"accountId,omitempty"`
	Entry         string        `json:"entry,omitempty" doc:"The key of the item, of what was created ahead of the clock" example:"ACCOUNT#a METADATA"`
	Was           Instant       `json:"was,omitzero" doc:"The stored date; absent if it cannot be read"`
	Is            Instant       `json:"is,omitzero" doc:"The new date; absent if it is not mended"`
	Mended        bool          `json:"mended"`
	Why           string        `json:"why,omitempty" doc:"Why it is not mended although that was asked for"`
}

// StatusShards is a number of shards of the transactions of one status, and its start.
type StatusShards struct {
	Count int     `json:"count" doc:"Over how many shards the transactions of one status are spread" example:"4"`
	From  Instant `json:"from,omitzero" doc:"For transactions that are created from then on; absent on the first"`
}

// MoreStatusShards is the body that grows the number of shards.
type MoreStatusShards struct {
	Count int     `json:"count" doc:"More than there are; at most 64" example:"4"`
	From  Instant `json:"from,omitzero" doc:"The instant from which on it holds; now without it" example:"2026-02-01T00:00:00Z"`
}

// The requests.
type (
	// ReconcileRequest checks the ledger.
	ReconcileRequest struct {
		Reconciliation NewReconciliation `body:""`
	}

	// RepairDatesRequest finds dates that are ahead of the clock and, on request, changes them.
	RepairDatesRequest struct {
		Repair bool `query:"repair" doc:"Whether to rewrite the dates; without it nothing is written"`
	}

	// GrowStatusShardsRequest grows the number of shards.
	GrowStatusShardsRequest struct {
		Shards MoreStatusShards `body:""`
	}
)

// The operations.
var (
	Reconcile = streamOp[ReconcileRequest, ReconcileProgress, Reconciliation](Operation{
		ID: "reconcile", Method: http.MethodPost, Path: "/v1/reconciliation",
		Chapter: reconciliationChapter, Scope: LedgerRead, Summary: "Check the books",
		Description: "Reads the whole table and both indexes, and compares each transaction's header " +
			"with its legs, each leg with the one before it on its account, each stored balance " +
			"with the legs, each account with the directory, and each index entry with its item. " +
			"It changes nothing. Days choose which transactions count; without them all do. " +
			"Postings may go on: the sums are pinned to an instant, and what cannot be decided " +
			"makes the verdict undecided, never balanced. A run that ended early is continued from " +
			"the cursor of its last progress.",
		Example:  NewReconciliation{From: "2026-01-01", To: "2026-01-31"},
		Problems: []problem.Code{"request_invalid", "cursor_invalid"},
		Safe:     always, // It only reads.
	})
	RepairDates = op[RepairDatesRequest, DateRepair](Operation{
		ID: "repair-dates", Method: http.MethodPost, Path: "/v1/transactions/repair-dates",
		Chapter: transactionsChapter, Scope: LedgerAdmin, Stream: true,
		Summary: "Check whether dates are ahead of the clock, and change them to now",
		Description: "A server whose clock was ahead has dated its postings in the future, and since then " +
			"their accounts refuse others with account_from_future. Set the clocks right first, because " +
			"the clock of this server decides. With repair, such transactions are dated now, in the order " +
			"of the legs of each account; ids, amounts, balances and idempotency keys stay as they are. " +
			"Postings may go on. A run that ends early leaves books that reconcile, and another run " +
			"mends the rest. It reads the whole table.",
	})
	ListTransactionShards = op[None, List[StatusShards]](Operation{
		ID: "list-transaction-shards", Method: http.MethodGet, Path: "/v1/transactions/shards",
		Chapter: transactionsChapter, Scope: LedgerRead, AnyLayout: true,
		Summary: "List over how many shards transactions are spread",
		Description: "The earliest number first, each with the instant from which on it holds. Lists by " +
			"status ask the shards of all numbers.",
	})
	GrowTransactionShards = op[GrowStatusShardsRequest, List[StatusShards]](Operation{
		ID: "grow-transaction-shards", Method: http.MethodPost, Path: "/v1/transactions/shards",
		Chapter: transactionsChapter, Scope: LedgerAdmin, AnyLayout: true,
		Summary: "Spread transactions over more shards from an instant on",
		Description: "Nothing that is stored is rewritten, and nothing is hidden: lists by status ask the " +
			"shards of all numbers. Growing to the last number again changes nothing.",
		Example: MoreStatusShards{Count: 4},
		Problems: []problem.Code{
			"request_invalid", "status_shards_invalid", "status_epoch_too_early",
		},
		Safe: always, // Growing again to the same number changes nothing.
	})
)
