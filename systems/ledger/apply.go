package ledger

import (
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// refusal returns why the books refuse a posting: the first problem in the order of Problems,
// or nil. accounts has the account of each leg, the same one for legs of one account, and nil where
// there is none. Legs of one account are one change: its rules are applied to the sum of them.
func (p *Posting) refusal(accounts []*Account) error {
	for i, a := range accounts {
		if a == nil {
			return ErrAccountNotFound.With("account", p.Legs[i].AccountID).
				Field(legField(i, "accountId"), "does not exist")
		}
	}
	for i, a := range accounts {
		if given := p.Legs[i].Amount.Currency(); given != a.Currency() {
			return ErrCurrencyMismatch.With("account", a.ID).With("currency", a.Currency()).
				With("given", given).Field(legField(i, "currency"), "is not the account's")
		}
	}
	for i, a := range accounts {
		if a.Status == AccountClosed {
			return ErrAccountClosed.With("account", a.ID).
				Field(legField(i, "accountId"), "is a closed account")
		}
	}
	for i, a := range accounts {
		if a.Status != AccountActive {
			return ErrAccountFrozen.With("account", a.ID).
				Field(legField(i, "accountId"), "is a frozen account")
		}
	}
	for i, a := range accounts {
		credits, debits := p.change(a.ID)
		// Credits are posted first, so the balance and all credits must fit, and then the rest.
		peak, err := a.Balance.Add(credits)
		if err == nil {
			_, err = peak.Sub(debits)
		}
		if err != nil {
			return ErrBalanceTooLarge.With("account", a.ID).With("limit", money.DigitsMax).
				Field(legField(i, "amount"), "is too large for the account's balance")
		}
	}
	for i, a := range accounts {
		if a.Unlimited {
			continue
		}
		if need := p.need(a); need.Sign() > 0 && moreThan(need, a.Available()) {
			return ErrInsufficientFunds.With("account", a.ID).With("available", a.Available()).
				With("needed", need).Field(legField(i, "amount"), "is more than the account has")
		}
	}
	return nil
}

// change sums up the legs of an account. Sums of amounts that check has added up before cannot
// exceed a limit.
func (p *Posting) change(id AccountID) (credits, debits money.Amount) {
	for i := range p.Legs {
		l := &p.Legs[i]
		if l.AccountID != id {
			continue
		}
		if l.Type == Credit {
			credits, _ = credits.Add(l.Amount)
		} else {
			debits, _ = debits.Add(l.Amount)
		}
	}
	return credits, debits
}

// need returns by how much an account must be able to go down; it is negative when the account
// gains, which a balance below its limit may always do.
func (p *Posting) need(a *Account) money.Amount {
	credits, debits := p.change(a.ID)
	need, _ := debits.Sub(credits)
	return need
}

func moreThan(a, b money.Amount) bool {
	order, err := a.Cmp(b)
	return err == nil && order > 0
}

// lastAhead returns the first of the accounts whose last instant is further ahead of the clock than
// clocks may differ, or nil.
func lastAhead(accounts []*Account, now time.Time) *Account {
	for _, a := range accounts {
		if a.LastPostedAt.After(now.Add(ClockSkewMax)) {
			return a
		}
	}
	return nil
}

// apply posts the legs of a posting that nothing refuses, and changes the accounts in place. The
// legs are returned in the order in which they were sent, all of one instant, which is never
// before an account's last one. Among the legs of one account credits are posted before debits, so
// that no balance on a statement is below what the rules allow.
func (p *Posting) apply(place legPlace, accounts []*Account) []Leg {
	place.at = instant(place.at)
	for _, a := range accounts {
		if a.LastPostedAt.After(place.at) {
			place.at = a.LastPostedAt
		}
	}
	legs := make([]Leg, len(p.Legs))
	for _, kind := range [...]LegType{Credit, Debit} {
		for i := range p.Legs {
			if l := &p.Legs[i]; l.Type == kind {
				place.index = i
				legs[i] = accounts[i].post(l, place)
			}
		}
	}
	return legs
}

// legPlace is where and when a leg is posted, and the mark of the attempt that does it.
type legPlace struct {
	transaction TransactionID
	mark        uint64
	index       int
	at          time.Time
}

// post changes the account by one leg. The sums were checked by refusal.
func (a *Account) post(l *PostingLeg, place legPlace) Leg {
	if l.Type == Credit {
		a.Balance, _ = a.Balance.Add(l.Amount)
	} else {
		a.Balance, _ = a.Balance.Sub(l.Amount)
	}
	a.Version++
	a.Revision = max(a.Revision, 1)
	a.LastPostedAt = place.at
	return Leg{
		ID:             legID(a.Version, place.index, place.mark),
		TransactionID:  place.transaction,
		AccountID:      a.ID,
		Type:           l.Type,
		Amount:         l.Amount,
		BalanceAfter:   a.Balance,
		AccountVersion: a.Version,
		CreatedAt:      place.at,
	}
}

// reversal returns the posting that takes back a transaction: the same legs, each in the other
// direction, so that every account shows what it showed before with the opposite sign. The rules of
// an account are applied to the sum of its legs, so an account that money only passed through may
// be empty.
func (e Entry) reversal() Posting {
	p := Posting{
		Type:        Reversal,
		MerchantID:  e.Transaction.MerchantID,
		Description: e.Transaction.Description,
		Currency:    e.Transaction.Amount.Currency(),
	}
	for _, l := range e.Legs {
		p.Legs = append(p.Legs, PostingLeg{l.AccountID, l.Type.opposite(), l.Amount})
	}
	// The mark on the original is one write more than the original took.
	if 2+len(p.Legs)+p.accounts() > actionsMax {
		p.Legs = p.net()
	}
	return p
}

// opposite returns the other direction.
func (t LegType) opposite() LegType {
	if t == Debit {
		return Credit
	}
	return Debit
}

// net returns one leg for each account, of the sum of its legs, for a reversal that would not fit
// into one write otherwise. If all sums are zero, the first account gets a debit and a credit of
// the whole amount instead: a transaction has at least two legs.
func (p *Posting) net() []PostingLeg {
	var legs []PostingLeg
	for i, l := range p.Legs {
		if p.firstLegOf(l.AccountID) != i {
			continue
		}
		credits, debits := p.change(l.AccountID)
		net, _ := credits.Sub(debits)
		if kind := Credit; net.Sign() != 0 {
			if net.Sign() < 0 {
				kind = Debit
			}
			legs = append(legs, PostingLeg{l.AccountID, kind, net.Abs()})
		}
	}
	if len(legs) == 0 && len(p.Legs) > 0 {
		first := p.Legs[0].AccountID
		_, gross := p.change(first)
		legs = []PostingLeg{{first, Debit, gross}, {first, Credit, gross}}
	}
	return legs
}
