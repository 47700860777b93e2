package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func (h *handlers) createMerchant(
	ctx context.Context, in api.CreateMerchantRequest,
) (out rest.Answer[api.Merchant], err error) {
	body := in.Merchant
	m, err := h.ledger.CreateMerchant(ctx, ledger.NewMerchant{
		ID: ledger.MerchantID(body.ID), IdempotencyKey: in.IdempotencyKey, Name: body.Name,
		Category:            body.Category,
		SettlementAccountID: ledger.AccountID(body.SettlementAccountID),
		LocationID:          ledger.LocationID(body.LocationID),
	})
	if err != nil {
		return out, err
	}
	return rest.Made(m.Replayed, "/v1/merchants/"+string(m.ID), merchantOf(m.Merchant)), nil
}

func (h *handlers) merchant(
	ctx context.Context, in api.MerchantPath,
) (rest.Answer[api.Merchant], error) {
	m, err := h.ledger.Merchant(ctx, ledger.MerchantID(in.ID))
	// A merchant never changes, so its only version is the first.
	return rest.Tagged("1", merchantOf(m)), err
}

func (h *handlers) reconcile(
	ctx context.Context, in api.ReconcileRequest, progress func(api.ReconcileProgress),
) (api.Reconciliation, error) {
	q := in.Reconciliation
	r, err := h.ledger.Reconcile(ctx, ledger.ReconcileQuery{
		From: ledger.Date(q.From), To: ledger.Date(q.To), Skip: q.Skip, Limit: q.Limit,
		Cursor:   q.Cursor,
		Progress: func(p ledger.ReconcileProgress) { progress(api.ReconcileProgress(p)) },
	})
	return reconciliationOf(r), err
}

func (h *handlers) repairDates(
	ctx context.Context, in api.RepairDatesRequest,
) (out rest.Answer[api.DateRepair], err error) {
	r, err := h.ledger.RepairDates(ctx, ledger.RepairDatesQuery{Mend: in.Repair})
	if err != nil {
		return out, err
	}
	return rest.OK(api.DateRepair{
		Verdict: api.Verdict(r.Verdict()), Mended: r.Mended(), Now: api.At(r.Now),
		Transactions: r.Transactions, Accounts: r.Accounts, Openings: r.Openings,
		Left: r.Left, Faults: rest.All(r.Faults, dateFaultOf),
		Open: r.Open, Undecided: rest.All(r.Undecided, dateFaultOf),
	}), nil
}

func (h *handlers) shards(
	ctx context.Context, _ api.None,
) (rest.Answer[api.List[api.StatusShards]], error) {
	return shardsOf(h.ledger.Epochs(ctx))
}

func (h *handlers) growShards(
	ctx context.Context, in api.GrowStatusShardsRequest,
) (rest.Answer[api.List[api.StatusShards]], error) {
	return shardsOf(h.ledger.Grow(ctx, in.Shards.Count, in.Shards.From.Time))
}
