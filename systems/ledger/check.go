package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Check returns why a posting would be refused if it were posted now, or nil, and writes nothing.
// It applies the rules of [Ledger.Post] in their order, except that it does not look up the key.
//
// It also returns the account of each leg, whose ID is empty if there is none. Accounts are read
// consistently, with one read unit each, and a merchant if this ledger has not met it yet. If the
// posting is wrong in itself nothing is read, and there are no accounts.
func (l *Ledger) Check(ctx context.Context, p Posting) ([]Account, error) {
	j, err := l.newRequest(ctx, p, OwnerCaller)
	if err != nil {
		return nil, err
	}
	keys := make([]accountItem, len(j.ids))
	for i, id := range j.ids {
		keys[i] = accountItem{ID: id}
	}
	found, err := modelOf(l).accounts.GetMany(ctx, l.store, keys, singletable.Consistent())
	if err != nil {
		return nil, failed("read accounts for", "checking", err)
	}
	known := make(map[AccountID]*Account, len(found))
	for i, item := range found {
		if item != nil {
			account := accountOf(*item)
			known[j.ids[i]] = &account
		} else if currency, ok := j.ids[i].systemCurrency(); ok {
			account := systemAccount(j.ids[i], currency, instant(l.opts.Now()))
			known[j.ids[i]] = &account // The first posting opens it.
		}
	}
	accounts, copies := make([]*Account, len(j.posting.Legs)), make([]Account, len(j.posting.Legs))
	for i := range j.posting.Legs {
		if account := known[j.posting.Legs[i].AccountID]; account != nil {
			accounts[i], copies[i] = account, *account
		}
	}
	if j.objection != nil {
		return copies, j.objection
	}
	return copies, j.posting.refusal(accounts)
}
