package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// This file completes items that other programs wrote. The published layout has no currency in the
// header of a transaction: it is that of the legs. A leg without one is in the currency of its
// account. What cannot be completed is an item that cannot be read.

// completeLegs fills in the currencies of legs. It returns the leg that cannot be read as the error
// at its place.
func (l *Ledger) completeLegs(ctx context.Context, legs []legItem) ([]error, error) {
	var at []accountItem
	var incomplete []int
	for i := range legs {
		if legs[i].Currency == "" {
			at = append(at, accountItem{ID: legs[i].AccountID})
			incomplete = append(incomplete, i)
		}
	}
	if incomplete == nil {
		return nil, nil
	}
	m := modelOf(l)
	accounts, err := m.accounts.GetEach(ctx, l.store, at, singletable.Consistent())
	if err != nil {
		return nil, failed("read accounts of", "legs", err)
	}
	bad := make([]error, len(legs))
	for n, i := range incomplete {
		switch got := accounts[n]; {
		case got.Unreadable != nil:
			bad[i] = m.legs.Unreadable(legs[i], "Currency", fmt.Errorf(
				"is absent, and the account cannot be read: %w", got.Unreadable))
		case got.Value == nil:
			bad[i] = m.legs.Unreadable(legs[i], "Currency",
				errors.New("is absent, and there is no account to take it from"))
		default:
			legs[i].Currency = got.Value.Currency
		}
	}
	return bad, nil
}

// completeHeader fills in the currency of a header from its legs.
func (m *model) completeHeader(header *transactionItem, legs []legItem) error {
	if header.Currency != "" {
		return nil
	}
	var found money.Currency
	for i := range legs {
		switch c := legs[i].Currency; {
		case found == "":
			found = c
		case found != c:
			return m.transactions.Unreadable(*header, "Currency", fmt.Errorf(
				"is absent, and the legs are in both %s and %s", found, c))
		}
	}
	if found == "" {
		return m.transactions.Unreadable(*header, "Currency",
			errors.New("is absent, and there are no legs to take it from"))
	}
	header.Currency = found
	return nil
}

// headerOf returns a transaction, whose currency is that of its legs if it has none of its own.
func (l *Ledger) headerOf(ctx context.Context, i transactionItem) (Transaction, error) {
	if i.Currency != "" {
		return transactionOf(i), nil
	}
	e, found, err := l.entry(ctx, i.ID)
	if err != nil {
		return Transaction{}, err
	}
	if !found { // It is not there any more.
		return Transaction{}, modelOf(l).completeHeader(&i, nil)
	}
	return e.Transaction, nil
}

// completeLeg is completeLegs for one leg.
func (l *Ledger) completeLeg(ctx context.Context, i legItem) (Leg, error) {
	legs := []legItem{i}
	bad, err := l.completeLegs(ctx, legs)
	if err != nil {
		return Leg{}, err
	}
	if bad != nil && bad[0] != nil {
		return Leg{}, bad[0]
	}
	return legOf(legs[0]), nil
}

// entryOf puts a transaction together.
func (l *Ledger) entryOf(ctx context.Context, items entryItems) (Entry, error) {
	bad, err := l.completeLegs(ctx, items.legs)
	if err = errors.Join(err, errors.Join(bad...)); err != nil {
		return Entry{}, err
	}
	if err := modelOf(l).completeHeader(items.header, items.legs); err != nil {
		return Entry{}, err
	}
	e := Entry{Transaction: transactionOf(*items.header), Legs: make([]Leg, len(items.legs))}
	for i := range items.legs {
		e.Legs[i] = legOf(items.legs[i])
	}
	return e, nil
}

// foreignByKey returns the transaction of another program that holds an idempotency key. Its id
// does not follow from the key, so that only the index finds it, which on Amazon DynamoDB follows
// the table a moment later. A key that a transaction of this package holds belongs to that one.
func (l *Ledger) foreignByKey(ctx context.Context, key string) (Entry, bool, error) {
	var foreign TransactionID
	for found, err := range modelOf(l).byKey.All(ctx, l.store, ByKey{key}) {
		switch {
		case err != nil:
			return Entry{}, false, failed("find transaction by key", key, err)
		case found.ID == l.transactionID(key):
			return Entry{}, false, nil
		case found.ReversalOf == "" && !owned(found.ID, l.opts.Tenant, key):
			foreign = found.ID
		}
	}
	if foreign == "" {
		return Entry{}, false, nil
	}
	return l.entry(ctx, foreign)
}

// heldByOther answers a request whose key a transaction of another program holds: an equal request
// is a replay, and every other one is a conflict. A transaction that holds the key and cannot be
// read is an error, because nothing is known of the request then.
func (l *Ledger) heldByOther(
	ctx context.Context, key string, r *request,
) (Receipt, bool, error) {
	if key == "" || l.opts.SoleWriter {
		return Receipt{}, false, nil
	}
	found, held, err := l.foreignByKey(ctx, key)
	if err != nil || !held {
		return Receipt{}, false, err
	}
	receipt, err := r.replay(found) // It has no digest, so that its content is compared.
	return receipt, true, err
}
