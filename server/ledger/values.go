package ledger

import (
	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func merchantOf(m ledger.Merchant) api.Merchant {
	return api.Merchant{
		ID: api.MerchantID(m.ID), Name: m.Name, Category: m.Category,
		SettlementAccountID: api.AccountID(m.SettlementAccountID),
		LocationID:          api.LocationID(m.LocationID), CreatedAt: api.At(m.CreatedAt),
	}
}

func accountOf(a ledger.Account) api.Account {
	return api.Account{
		ID: api.AccountID(a.ID), UserID: api.UserID(a.UserID), AccountType: a.AccountType,
		Status: api.AccountStatus(a.Status), Currency: a.Currency(),
		Balance: api.AmountOf(a.Balance), OverdraftLimit: api.AmountOf(a.OverdraftLimit),
		Unlimited: a.Unlimited, Zone: a.Zone, LocationID: api.LocationID(a.LocationID),
		Version: a.Version, LastPostedAt: api.At(a.LastPostedAt), CreatedAt: api.At(a.CreatedAt),
	}
}

func transactionOf(t ledger.Transaction) api.Transaction {
	return api.Transaction{
		ID: api.TransactionID(t.ID), IdempotencyKey: t.IdempotencyKey,
		Type: api.TransactionType(t.Type), Status: api.TransactionStatus(t.Status),
		MerchantID: api.MerchantID(t.MerchantID), Description: t.Description,
		Amount: api.AmountOf(t.Amount), Currency: t.Amount.Currency(), Metadata: t.Metadata,
		ReversalOf: api.TransactionID(t.ReversalOf), ReversedBy: api.TransactionID(t.ReversedBy),
		CreatedAt: api.At(t.CreatedAt),
	}
}

func entryOf(e ledger.Entry) api.Transaction {
	t := transactionOf(e.Transaction)
	t.Legs = rest.All(e.Legs, legOf)
	return t
}

func legOf(l ledger.Leg) api.Leg {
	return api.Leg{
		ID: api.LegID(l.ID), TransactionID: api.TransactionID(l.TransactionID),
		AccountID: api.AccountID(l.AccountID), Type: api.LegType(l.Type),
		Amount: api.AmountOf(l.Amount), Currency: l.Amount.Currency(),
		BalanceAfter: api.AmountOf(l.BalanceAfter), AccountVersion: l.AccountVersion,
		CreatedAt: api.At(l.CreatedAt),
	}
}

func reconciliationOf(r ledger.Reconciliation) api.Reconciliation {
	return api.Reconciliation{
		From: api.Date(r.From), To: api.Date(r.To), Verdict: api.Verdict(r.Verdict()),
		Balanced: r.Balanced(), Until: api.At(r.Until), Items: r.Items, Others: r.Others,
		Transactions: r.Transactions, Legs: r.Legs, Accounts: r.Accounts, Found: r.Found,
		Open: r.Open, Totals: rest.All(r.Totals, totalOf),
		Divergences: rest.All(r.Divergences, divergenceOf),
		Undecided:   rest.All(r.Undecided, divergenceOf),
	}
}

func totalOf(t ledger.CurrencyTotal) api.CurrencyTotal {
	return api.CurrencyTotal{
		Currency: t.Currency, Debits: api.AmountOf(t.Debits), Credits: api.AmountOf(t.Credits),
		Balances: api.AmountOf(t.Balances),
	}
}

func divergenceOf(d ledger.Divergence) api.Divergence {
	return api.Divergence{
		Kind: api.DivergenceKind(d.Kind), TransactionID: api.TransactionID(d.TransactionID),
		AccountID: api.AccountID(d.AccountID), LegID: api.LegID(d.LegID), Currency: d.Currency,
		Entry: d.Entry, Want: d.Want, Got: d.Got,
	}
}

func dateFaultOf(f ledger.DateFault) api.DateFault {
	return api.DateFault{
		Kind: api.DateFaultKind(f.Kind), TransactionID: api.TransactionID(f.TransactionID),
		AccountID: api.AccountID(f.AccountID), Entry: f.Entry, Was: api.At(f.Was),
		Is: api.At(f.Is), Mended: f.Mended, Why: f.Why,
	}
}

func shardsOf(
	epochs []ledger.Epoch, err error,
) (rest.Answer[api.List[api.StatusShards]], error) {
	return rest.OK(api.List[api.StatusShards]{
		Items: rest.All(epochs, func(e ledger.Epoch) api.StatusShards {
			return api.StatusShards{Count: e.Count, From: api.At(e.From)}
		}),
	}), err
}
