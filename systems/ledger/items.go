package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// This file turns nouns into items and back, and holds the two changes of an item that postings
// make.

func itemOfAccount(a *Account) accountItem {
	return accountItem{
		ID:             a.ID,
		UserID:         a.UserID,
		AccountType:    a.AccountType,
		Balance:        a.Balance.Units(),
		Currency:       a.Balance.Currency(),
		Status:         a.Status,
		OverdraftLimit: a.OverdraftLimit.Units(),
		Unlimited:      a.Unlimited,
		Zone:           a.Zone,
		LocationID:     a.LocationID,
		Version:        a.Version,
		Revision:       a.Revision,
		LastPostedAt:   a.LastPostedAt,
		CreatedAt:      a.CreatedAt,
	}
}

func accountOf(i accountItem) Account {
	return Account{
		ID:             i.ID,
		UserID:         i.UserID,
		AccountType:    i.AccountType,
		Balance:        amountOf(i.Balance, i.Currency),
		Status:         i.Status,
		OverdraftLimit: amountOf(i.OverdraftLimit, i.Currency),
		Unlimited:      i.Unlimited,
		Zone:           i.Zone,
		LocationID:     i.LocationID,
		Version:        i.Version,
		Revision:       i.Revision,
		LastPostedAt:   i.LastPostedAt,
		CreatedAt:      i.CreatedAt,
	}
}

func merchantOf(i merchantItem) Merchant {
	return Merchant{
		ID: i.ID, Name: i.Name, Category: i.Category,
		SettlementAccountID: i.SettlementAccountID, LocationID: i.LocationID,
		CreatedAt: i.CreatedAt,
	}
}

func itemOfTransaction(t *Transaction) transactionItem {
	return transactionItem{
		ID:             t.ID,
		IdempotencyKey: t.IdempotencyKey,
		Type:           t.Type,
		Status:         t.Status,
		MerchantID:     t.MerchantID,
		Description:    t.Description,
		Amount:         t.Amount.Units(),
		Currency:       t.Amount.Currency(),
		Metadata:       t.Metadata,
		ReversalOf:     t.ReversalOf,
		ReversedBy:     t.ReversedBy,
		RequestHash:    t.requestHash,
		CreatedAt:      t.CreatedAt,
	}
}

func transactionOf(i transactionItem) Transaction {
	return Transaction{
		ID:             i.ID,
		IdempotencyKey: i.IdempotencyKey,
		Type:           i.Type,
		Status:         i.Status,
		MerchantID:     i.MerchantID,
		Description:    i.Description,
		Amount:         amountOf(i.Amount, i.Currency),
		Metadata:       i.Metadata,
		ReversalOf:     i.ReversalOf,
		ReversedBy:     i.ReversedBy,
		requestHash:    i.RequestHash,
		CreatedAt:      i.CreatedAt,
	}
}

func itemOfLeg(l *Leg) legItem {
	return legItem{
		ID:             l.ID,
		TransactionID:  l.TransactionID,
		AccountID:      l.AccountID,
		Type:           l.Type,
		Amount:         l.Amount.Units(),
		Currency:       l.Amount.Currency(),
		BalanceAfter:   l.BalanceAfter.Units(),
		AccountVersion: l.AccountVersion,
		CreatedAt:      l.CreatedAt,
	}
}

func legOf(i legItem) Leg {
	return Leg{
		ID:             i.ID,
		TransactionID:  i.TransactionID,
		AccountID:      i.AccountID,
		Type:           i.Type,
		Amount:         amountOf(i.Amount, i.Currency),
		BalanceAfter:   amountOf(i.BalanceAfter, i.Currency),
		AccountVersion: i.AccountVersion,
		CreatedAt:      i.CreatedAt,
	}
}

// amountOf puts together what is stored apart. Items whose currency is unknown are not read (see
// soundAccount and the others); a header and a leg may have none, which is found elsewhere.
func amountOf(units money.Decimal, currency money.Currency) money.Amount {
	amount, err := money.New(units, currency)
	if err != nil && currency != "" {
		panic("ledger: an item in the currency " + string(currency) + " was not checked")
	}
	return amount
}

// openTx adds a new account and its entry in the directory to a transaction.
func (m *model) openTx(tx *singletable.Tx, a *Account) {
	m.accounts.CreateTx(tx, itemOfAccount(a))
	m.directory.CreateTx(tx, directoryItem{AccountID: a.ID, CreatedAt: a.CreatedAt})
}

// soundAccount checks an account that was read.
func soundAccount(i *accountItem) *singletable.AttributeError {
	if i.OverdraftLimit.Sign() < 0 {
		return &singletable.AttributeError{Attribute: "OverdraftLimit",
			Reason: errors.New("is negative")}
	}
	return soundCurrency(i.Currency)
}

// soundTransaction checks a header that was read. One that another program wrote has no currency.
func soundTransaction(i *transactionItem) *singletable.AttributeError {
	if i.Amount.Sign() < 0 {
		return &singletable.AttributeError{Attribute: "Amount", Reason: errors.New("is negative")}
	}
	return soundCurrency(i.Currency)
}

// soundRequest checks the record of a request that was read.
func soundRequest(i *requestItem) *singletable.AttributeError {
	if (i.AccountID == "") == (i.MerchantID == "") {
		return &singletable.AttributeError{Attribute: "AccountID",
			Reason: errors.New("must be there if and only if there is no MerchantID")}
	}
	return nil
}

// soundShards checks the numbers of shards that were read.
func soundShards(i *shardsItem) *singletable.AttributeError {
	wrong := func(reason string) *singletable.AttributeError {
		return &singletable.AttributeError{Attribute: "Epochs", Reason: errors.New(reason)}
	}
	if len(i.Epochs) == 0 {
		return wrong("has no number of shards")
	}
	for at, e := range i.Epochs {
		if e.Count < 1 || e.Count > ShardsMax {
			return wrong(fmt.Sprintf("has %d shards, outside 1 to %d", e.Count, ShardsMax))
		}
		if at > 1 && !e.From.After(i.Epochs[at-1].From) {
			return wrong("is not in the order of time")
		}
	}
	return nil
}

// soundLeg checks a leg that was read.
func soundLeg(i *legItem) *singletable.AttributeError {
	if i.Amount.Sign() < 0 {
		return &singletable.AttributeError{Attribute: "Amount", Reason: errors.New("is negative")}
	}
	return soundCurrency(i.Currency)
}

func soundCurrency(currency money.Currency) *singletable.AttributeError {
	if currency == "" {
		return nil
	}
	if _, err := money.New(money.Decimal{}, currency); err != nil {
		return &singletable.AttributeError{Attribute: "Currency", Reason: fmt.Errorf(
			"is %q, which is not a code of ISO 4217", string(currency))}
	}
	return nil
}

// changeBalance adds the change of one account by a posting to a transaction. The version makes it
// depend on every posting before, the revision on every other change; the status is there for
// programs that change it without a revision.
func (m *model) changeBalance(tx *singletable.Tx, before, after *Account) {
	at := accountItem{ID: after.ID}
	if before.Revision == 0 { // Another program made the account.
		m.accounts.UpdateTx(tx, at,
			m.version.Missing(), m.revision.Missing(), m.status.Equals(AccountActive),
			m.balance.Equals(before.Balance.Units()),
			m.balance.Set(after.Balance.Units()), m.version.Set(after.Version),
			m.revision.Set(after.Revision), m.lastPostedAt.Set(after.LastPostedAt))
		return
	}
	m.accounts.UpdateTx(tx, at,
		m.version.Equals(before.Version), m.revision.Equals(before.Revision),
		m.status.Equals(AccountActive),
		m.balance.Set(after.Balance.Units()), m.version.Set(after.Version),
		m.lastPostedAt.Set(after.LastPostedAt))
}

// addToBalance is changeBalance for an account that the same transaction changes already: the kit
// makes one change of both. Sums can be put together; values can not.
func (m *model) addToBalance(tx *singletable.Tx, before, after *Account) {
	change, _ := after.Balance.Sub(before.Balance) // Within the sums of one posting.
	m.accounts.UpdateTx(tx, accountItem{ID: after.ID},
		m.version.Equals(before.Version), m.status.Equals(AccountActive),
		m.balance.Add(change.Units()), m.version.Add(after.Version-before.Version),
		m.lastPostedAt.Set(after.LastPostedAt))
}

// changeAccount writes a change of an account's status or overdraft limit. The version is among the
// conditions because what is allowed may depend on the balance.
func (m *model) changeAccount(
	ctx context.Context, s *singletable.Store, before, after *Account,
) error {
	version, revision := m.version.Equals(before.Version), m.revision.Equals(before.Revision)
	if before.Revision == 0 {
		version, revision = m.balance.Equals(before.Balance.Units()), m.revision.Missing()
	}
	_, err := m.accounts.Update(ctx, s, accountItem{ID: after.ID}, version, revision,
		m.status.Set(after.Status),
		m.limit.Set(after.OverdraftLimit.Units()),
		m.unlimited.Set(after.Unlimited),
		m.revision.Set(after.Revision))
	return err
}

// markReversed adds the other half of a reversal to a transaction: the original's new status and
// its link to the reversal.
func (m *model) markReversed(tx *singletable.Tx, original *Transaction, by TransactionID) {
	m.transactions.UpdateTx(tx, transactionItem{ID: original.ID},
		m.transactions.WithKnown(itemOfTransaction(original)),
		m.state.Equals(Completed),
		m.state.Set(Reversed),
		m.reversedBy.Set(by))
}
