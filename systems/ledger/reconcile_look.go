package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// This file looks up what the items of a page name. What a page needs is read in batches before it
// is checked; what is looked at again is read again.

// accountState is what a check has to know about an account that an item names.
type accountState struct {
	exists   bool
	currency money.Currency // "" if it cannot be read
}

// lookups holds what was looked up for a page. An item that is not there is a nil.
type lookups struct {
	r         *reconciler
	accounts  map[AccountID]accountState
	entries   map[AccountID]*directoryItem
	merchants map[MerchantID]bool
	headers   map[TransactionID]*transactionItem
	requests  map[string]*requestItem
}

func newLookups(r *reconciler) lookups {
	return lookups{r: r, accounts: map[AccountID]accountState{},
		entries: map[AccountID]*directoryItem{}, merchants: map[MerchantID]bool{},
		headers: map[TransactionID]*transactionItem{}, requests: map[string]*requestItem{}}
}

// prefetch looks up what the items of a page name.
func (k *lookups) prefetch(ctx context.Context, items []stored) error {
	var accounts, entries []AccountID
	var merchants []MerchantID
	var headers []TransactionID
	var requests []string
	for i := range items {
		a := &items[i].AuditItem
		switch a.Entity() {
		case legEntity:
			accounts = append(accounts, AccountID(a.Text("AccountID")))
		case directoryEntity:
			accounts = append(accounts, AccountID(a.Text("AccountID")))
			requests = append(requests, a.Text("RequestID"))
		case accountEntity:
			entries = append(entries, named(a).AccountID)
		case merchantEntity:
			requests = append(requests, a.Text("RequestID"))
		case requestEntity:
			accounts = append(accounts, AccountID(a.Text("AccountID")))
			merchants = append(merchants, MerchantID(a.Text("MerchantID")))
		case headerEntity:
			merchants = append(merchants, MerchantID(a.Text("MerchantID")))
			headers = append(headers, TransactionID(a.Text("ReversalOf")),
				TransactionID(a.Text("ReversedBy")))
		}
	}
	for _, read := range [...]func() error{
		func() error { return k.readAccounts(ctx, accounts) },
		func() error { return k.readEntries(ctx, entries) },
		func() error { return k.readMerchants(ctx, merchants) },
		func() error { return k.readHeaders(ctx, headers) },
		func() error { return k.readRequests(ctx, requests) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads the items of some ids that are not known yet, and hands each to use.
func fetch[ID ~string, T, V any](
	ctx context.Context, k *lookups, e *singletable.Entity[T], ids []ID, known map[ID]V,
	at func(ID) T, use func(ID, *singletable.AuditItem),
) error {
	var want []ID
	var keys []T
	asked := map[ID]bool{"": true}
	for _, id := range ids {
		if _, ok := known[id]; !ok && !asked[id] {
			asked[id] = true
			want, keys = append(want, id), append(keys, at(id))
		}
	}
	if len(want) == 0 {
		return nil
	}
	found, err := e.AuditMany(ctx, k.r.store, keys)
	if err != nil {
		return failed("read", e.Name(), err)
	}
	for i, id := range want {
		use(id, found[i])
	}
	return nil
}

func (k *lookups) readAccounts(ctx context.Context, ids []AccountID) error {
	for _, id := range ids {
		if currency, ok := k.r.known.get(id); ok {
			k.accounts[id] = accountState{true, currency}
		}
	}
	m := k.r.design
	return fetch(ctx, k, m.accounts, ids, k.accounts,
		func(id AccountID) accountItem { return accountItem{ID: id} },
		func(id AccountID, a *singletable.AuditItem) {
			if a == nil || a.Entity() != accountEntity {
				k.accounts[id] = accountState{}
				return
			}
			state := accountState{exists: true}
			if item, ok, err := m.accounts.FromAudit(a); ok && err == nil {
				state.currency = item.Currency
				k.r.known.put(id, item.Currency)
			}
			k.accounts[id] = state
		})
}

func (k *lookups) readEntries(ctx context.Context, ids []AccountID) error {
	m := k.r.design
	return fetch(ctx, k, m.directory, ids, k.entries,
		func(id AccountID) directoryItem { return directoryItem{AccountID: id} },
		func(id AccountID, a *singletable.AuditItem) {
			k.entries[id] = nil
			if a == nil {
				return
			}
			if item, ok, err := m.directory.FromAudit(a); ok && err == nil {
				k.entries[id] = &item
			}
		})
}

func (k *lookups) readMerchants(ctx context.Context, ids []MerchantID) error {
	return fetch(ctx, k, k.r.design.merchants, ids, k.merchants,
		func(id MerchantID) merchantItem { return merchantItem{ID: id} },
		func(id MerchantID, a *singletable.AuditItem) {
			k.merchants[id] = a != nil && a.Entity() == merchantEntity
		})
}

func (k *lookups) readHeaders(ctx context.Context, ids []TransactionID) error {
	m := k.r.design
	return fetch(ctx, k, m.transactions, ids, k.headers,
		func(id TransactionID) transactionItem { return transactionItem{ID: id} },
		func(id TransactionID, a *singletable.AuditItem) {
			k.headers[id] = nil
			if a == nil {
				return
			}
			if item, ok, err := m.transactions.FromAudit(a); ok && err == nil {
				k.headers[id] = &item
			}
		})
}

func (k *lookups) readRequests(ctx context.Context, ids []string) error {
	m := k.r.design
	return fetch(ctx, k, m.requests, ids, k.requests,
		func(id string) requestItem { return requestItem{ID: id} },
		func(id string, a *singletable.AuditItem) {
			k.requests[id] = nil
			if a == nil {
				return
			}
			if item, ok, err := m.requests.FromAudit(a); ok && err == nil {
				k.requests[id] = &item
			}
		})
}

// account returns the state of an account.
func (k *lookups) account(ctx context.Context, id AccountID) (accountState, error) {
	if id == "" {
		return accountState{}, nil
	}
	err := k.readAccounts(ctx, []AccountID{id})
	return k.accounts[id], err
}

// listed returns an account's entry in the directory, nil if there is none.
func (k *lookups) listed(ctx context.Context, id AccountID) (*directoryItem, error) {
	err := k.readEntries(ctx, []AccountID{id})
	return k.entries[id], err
}

// merchant reports whether there is a merchant.
func (k *lookups) merchant(ctx context.Context, id MerchantID) (bool, error) {
	err := k.readMerchants(ctx, []MerchantID{id})
	return k.merchants[id], err
}

// header returns the header of a transaction, nil if there is none.
func (k *lookups) header(ctx context.Context, id TransactionID) (*transactionItem, error) {
	err := k.readHeaders(ctx, []TransactionID{id})
	return k.headers[id], err
}

// request returns the record of a request, nil if there is none.
func (k *lookups) request(ctx context.Context, id string) (*requestItem, error) {
	err := k.readRequests(ctx, []string{id})
	return k.requests[id], err
}
