package sim

import "github.com/exchequer-dev/exchequer/client"

func (w *world) newModels() {
	w.ledger = &ledgerModel{writes: map[string]*write{},
		accounts: map[client.AccountID]*accountModel{}}
	w.locations = &locationModel{places: map[client.LocationID]*place{}, imports: map[string]bool{}}
	w.payments = &paymentModel{orders: map[string]*order{}}
	w.bank = &bankModel{uploads: map[client.UploadID]*bankUpload{},
		texts: map[client.TagID][]string{}}
	w.rates = &rateModel{saves: map[ratePair][]*rateSave{}}
}

// setUp makes what every round begins with, while nothing goes wrong.
func (w *world) setUp() error {
	c := w.newCaller(-1)
	if err := w.setUpLedger(c); err != nil {
		return err
	}
	if err := w.setUpBanking(c); err != nil {
		return err
	}
	for n := range placeCount / 2 {
		createLocation(c, step{ID: -200 - n, Do: "create location", A: 2 * n, B: 2 * n})
	}
	return w.failed()
}

// compare compares all that is stored with all that is known, when all is quiet.
func (w *world) compare() error {
	c := w.newCaller(-1)
	if _, err := c.RunPayments(w.ctx, client.PaymentRun{}); err != nil {
		return cannotTell("run payments", err)
	}
	if err := w.db().CatchUp(); err != nil {
		return err
	}
	entries, err := w.readEntries(c)
	if err != nil {
		return err
	}
	if err := w.comparePayments(c, entries); err != nil {
		return err
	}
	if err := w.compareLedger(c, entries); err != nil {
		return err
	}
	if err := w.compareLocations(c); err != nil {
		return err
	}
	if err := w.compareRates(c); err != nil {
		return err
	}
	return w.compareBanking(c)
}
