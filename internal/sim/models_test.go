package sim

import "github.com/exchequer-dev/exchequer/client"

func (w *world) newModels() {
	w.ledger = &ledgerModel{writes: map[string]*write{},
		accounts: map[client.AccountID]*accountModel{}}
	w.locations = &locationModel{places: map[client.LocationID]*place{}, imports: map[string]bool{}}
	w.payments = &paymentModel{orders: map[string]*order{}}
	w.bank = &bankModel{uploads: map[client.UploadID]*bankUpload{},
		texts: map[client.TagID][]string{}, rules: map[client.RuleID]bool{}}
	w.rates = &rateModel{saves: map[ratePair][]*rateSave{}, days: map[rateDay][]*rateSave{}}
}

// books reports whether a round has the ledger: payments need it too.
func (p *plan) books() bool { return !p.lacks("ledger") || !p.lacks("payments") }

// setUp makes what every round begins with, while nothing goes wrong.
func (w *world) setUp() error {
	c := w.newCaller(-1)
	if w.plan.books() {
		if err := w.setUpLedger(c); err != nil {
			return err
		}
	}
	if !w.plan.lacks("statements") {
		if err := w.setUpBanking(c); err != nil {
			return err
		}
	}
	if !w.plan.lacks("locations") {
		for n := range placeCount / 2 {
			createLocation(c, step{ID: -200 - n, Do: "create location", A: 2 * n, B: 2 * n})
		}
	}
	return w.failed()
}

// compare compares all that is stored with all that is known, when all is quiet.
func (w *world) compare() error {
	c := w.newCaller(-1)
	if w.plan.books() {
		if err := w.compareBooks(c); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		system  string
		compare func(*caller) error
	}{
		{"locations", w.compareLocations},
		{"rates", w.compareRates},
		{"statements", w.compareBanking},
	} {
		if w.plan.lacks(of.system) {
			continue
		}
		if err := of.compare(c); err != nil {
			return err
		}
	}
	return nil
}

// compareBooks runs the payments that are due, and compares payments and ledger.
func (w *world) compareBooks(c *caller) error {
	if !w.plan.lacks("payments") {
		if _, err := c.RunPayments(w.ctx, client.PaymentRun{}); err != nil {
			return cannotTell("run payments", err)
		}
		if err := w.db().CatchUp(); err != nil {
			return err
		}
	}
	entries, err := w.readEntries(c)
	if err != nil {
		return err
	}
	if !w.plan.lacks("payments") {
		if err := w.comparePayments(c, entries); err != nil {
			return err
		}
	}
	return w.compareLedger(c, entries)
}
