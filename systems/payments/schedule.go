package payments

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// Receipt is the answer to a NewPayment.
type Receipt struct {
	Payment
	// Replayed reports that an earlier, equal request made the payment, which is as it is now.
	Replayed bool
}

// Schedule inserts a payment, once for its account and key. An equal request with the same key gets
// the payment as it is now, with Replayed set, however much later it comes, and regardless of the
// result of the payment; another request with the same key gets ErrKeyConflict.
//
// A payment that can never be paid, because its accounts or its merchant do not exist, are closed
// or have another currency, is refused, unless it is a repeat. To find that out takes two reads of
// accounts, of one read unit each, and a third of the merchant the first time that it is named.
// What time can heal, such as want of funds or a frozen account, is not asked for.
//
// It makes two conditional writes: first a small identity item, then the payment. When it stops in
// between, the payment is not there yet; the same request, sent again, completes it. Because that
// may have happened in the meantime, it reads the identity again, for one read unit.
func (s *Scheduler) Schedule(ctx context.Context, n NewPayment) (Receipt, error) {
	if err := n.check(); err != nil {
		return Receipt{}, err
	}
	now, keyed := instant(s.opts.Now()), n.Key != ""
	if !keyed {
		n.Key = s.opts.NewID()
	}
	p := Payment{
		ID: idOf(&n), AccountID: n.AccountID, PayeeID: n.PayeeID, MerchantID: n.MerchantID,
		Amount: n.Amount, Description: n.Description,
		Data: n.Data, Status: Scheduled, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	payer, refusal := s.payable(ctx, p)
	if payer.zone == nil {
		return Receipt{}, refusal
	}
	var err error
	if p.At, err = n.due(payer.zone, now); err != nil {
		return Receipt{}, err
	}
	n.At, p.Zone = p.At, payer.zoneName()
	if refusal != nil {
		return s.refused(ctx, &n, p, keyed, refusal)
	}
	identity := identityItem{
		ID: p.ID, Payer: p.AccountID, At: p.At, State: Scheduled, Hash: requestDigests.Of(&n),
		Version: 1, CreatedAt: now,
	}
	m, err := writing(ctx, s)
	if err != nil {
		return Receipt{}, err
	}
	err = m.identities.Create(ctx, s.store, identity)
	if errors.Is(err, singletable.ErrExists) {
		return m.repeat(ctx, s, p, &n)
	}
	if err != nil {
		return Receipt{}, failed("schedule payment", p.ID, err)
	}
	err = m.payments.Create(ctx, s.store, itemOf(p))
	if errors.Is(err, singletable.ErrExists) {
		// An equal request has completed it. This one made the identity, and so is the first.
		r, err := m.repeat(ctx, s, p, &n)
		r.Replayed = false
		return r, err
	}
	if err != nil {
		return Receipt{}, failed("schedule payment", p.ID, err)
	}
	return m.inPlace(ctx, s, p, &n)
}

// inPlace answers a request that wrote its payment. If an equal request had completed the payment
// before, and it was changed or moved since then, the one that was just written is a late copy: it
// is removed, and the answer is the payment as it is.
func (m *model) inPlace(
	ctx context.Context, s *Scheduler, p Payment, n *NewPayment,
) (Receipt, error) {
	identity, err := m.identityOf(ctx, s, p.ID)
	if err != nil {
		return Receipt{}, failed("schedule payment", p.ID, err)
	}
	if identity.Version == 1 {
		return Receipt{Payment: p}, nil
	}
	if err := m.discard(ctx, s, p); err != nil {
		return Receipt{}, err
	}
	r, err := m.repeat(ctx, s, p, n)
	r.Replayed = false // This one made the identity, and so is the first.
	return r, err
}

// refused answers a request that the books refuse: by the result of the first request with its
// key, if there is one, and else by the refusal.
func (s *Scheduler) refused(
	ctx context.Context, n *NewPayment, p Payment, keyed bool, refusal error,
) (Receipt, error) {
	if !keyed {
		return Receipt{}, refusal
	}
	m, err := current(ctx, s)
	if err != nil {
		return Receipt{}, err
	}
	receipt, err := m.repeat(ctx, s, p, n)
	if errors.Is(err, ErrNotFound) {
		return Receipt{}, refusal
	}
	return receipt, err
}

// repeat answers a request whose identity is there already. p is the payment as the request would
// make it.
func (m *model) repeat(
	ctx context.Context, s *Scheduler, p Payment, n *NewPayment,
) (Receipt, error) {
	for {
		identity, err := m.identityOf(ctx, s, p.ID)
		if err != nil {
			return Receipt{}, err
		}
		if field := difference(requestDigests, identity.Hash, n); field != "" {
			return Receipt{}, ErrKeyConflict.With("first", p.ID).With("field", field).
				Field(field, "is not that of the first request")
		}
		found, exists, err := m.locate(ctx, s, &identity)
		if err != nil {
			return Receipt{}, err
		}
		if exists {
			return Receipt{Payment: found, Replayed: true}, nil
		}
		if identity.Version != 1 {
			continue // It was moved between the two reads.
		}
		p.At = identity.At // Of a time after the first request, only that one knew the instant.
		err = m.complete(ctx, s, p)
		if err == nil {
			return Receipt{Payment: p, Replayed: true}, nil
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return Receipt{}, failed("schedule payment", p.ID, err)
		}
	}
}

// complete writes the payment of a request that stopped half way, provided that nothing was done
// with it in the meantime: each write that moves a payment raises its identity's version.
func (m *model) complete(ctx context.Context, s *Scheduler, p Payment) error {
	tx := s.store.NewTx()
	m.payments.CreateTx(tx, itemOf(p))
	m.identities.CheckTx(tx, identityItem{ID: p.ID}, m.identity.version.Equals(1))
	return tx.Commit(ctx)
}

// account returns what of an account never changes, or the ledger's ErrAccountNotFound.
func (s *Scheduler) account(ctx context.Context, id ledger.AccountID) (account, error) {
	if known, ok := s.accounts.Load(id); ok {
		return known.(account), nil
	}
	found, err := s.books.Account(ctx, id)
	if err != nil {
		return account{}, err
	}
	return s.remember(found), nil
}

// remember keeps what of an account never changes, and returns it.
func (s *Scheduler) remember(found ledger.Account) account {
	known := account{currency: found.Currency(), zone: s.books.Zone(found)}
	if _, there := s.accounts.Load(found.ID); there {
		return known
	}
	if s.accountCount.Add(1) > accountsMax {
		s.accounts.Clear()
		s.accountCount.Store(0)
	}
	s.accounts.Store(found.ID, known)
	return known
}
