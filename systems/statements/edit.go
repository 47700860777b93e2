package statements

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// editsMax is how often a change is tried again when others change the same row: each attempt that
// fails is one of another writer that did not.
const editsMax = 20

// At names the transaction that is meant.
type At struct {
	AccountID, ID string
	// Date is the day of its entry. It is needed for transactions that another program
	// wrote, and may be left empty for all others.
	Date Date
}

// TransactionChange is what a person changes of a transaction; nil leaves as is.
//
// A field that becomes another than it was is the person's from then on: Transaction.Edited names
// it, and no file and no rule changes it any more.
type TransactionChange struct {
	Date     *Date
	Amount   *money.Decimal // Only of a transaction that was typed in.
	Merchant *string
	Notes    *string
	TagIDs   *[]string
	Transfer *bool
	// Splits divide the amount and have the tags from then on; none make it whole again.
	Splits *[]NewSplit
	// Reset names fields that are given back: they become what the bank wrote, or what the rules
	// make of it, as if they had never been changed. The date and the amount cannot be.
	Reset []string
	// Version is the version that the caller has seen; 0 means any.
	Version uint64
}

// NewSplit is one part of an amount that is to be divided.
type NewSplit struct {
	Amount money.Decimal
	TagIDs []string
	Notes  string
}

// ChangeTransaction changes a transaction and returns it as it is then. With another date it moves,
// also into another month, and keeps its id. The error is ErrInvalid, ErrNoTransaction, ErrNoTag or
// ErrChanged.
func (p *Person) ChangeTransaction(
	ctx context.Context, at At, c TransactionChange,
) (Transaction, error) {
	c, err := c.checked()
	if err != nil {
		return Transaction{}, err
	}
	var rules *ruleset
	if len(c.Reset) > 0 {
		if rules, err = p.rules().ruleset(ctx); err != nil {
			return Transaction{}, err
		}
	}
	return p.rows().revise(ctx, at, c.Version, func(t *Transaction) error {
		month := book.MonthOf(t.Date)
		if err := c.apply(t, rules); err != nil {
			return err
		}
		if c.TagIDs == nil && c.Splits == nil && month == book.MonthOf(t.Date) {
			return nil
		}
		return p.tagger().freshTags(ctx, t, c.asked())
	})
}

// DeleteTransaction removes a transaction. No file brings it back. Version is the version that the
// caller has seen; 0 means any. The error is ErrNoTransaction or ErrChanged.
func (p *Person) DeleteTransaction(ctx context.Context, at At, version uint64) error {
	for range editsMax {
		t, e, err := p.rows().locate(ctx, at)
		if err != nil {
			return err
		}
		if !isSeen(version, t.Version) {
			return changedTransaction(at.ID)
		}
		c := change{before: &t}
		if e != nil {
			after := *e
			after.State = Deleted
			c.entryBefore, c.entryAfter = e, &after
		}
		if err = p.rows().write(ctx, nil, []change{c}); !errors.Is(err, errRaced) {
			return err
		}
	}
	return ErrContended.With("items", "transaction "+at.ID)
}

// locate returns a transaction, and its entry if it has one.
func (p rowStore) locate(ctx context.Context, at At) (Transaction, *Entry, error) {
	t, e, err := p.transaction(ctx, at.AccountID, at.ID)
	if err == nil {
		if e.ID != t.ID {
			// The id was that of a row which became part of this transaction.
			own, found, err := p.entry(ctx, at.AccountID, t.ID)
			if err != nil || !found {
				return t, nil, err
			}
			e = own
		}
		return t, &e, nil
	}
	if at.Date == "" || !errors.Is(err, ErrNoTransaction) {
		return Transaction{}, nil, err
	}
	t, err = p.TransactionOf(ctx, at.AccountID, at.Date, at.ID)
	return t, nil, err
}

// revise lets f change a copy of a transaction, and writes it if it became another. F is called
// again when others changed the row in the meantime, unless the caller has seen a version.
func (p rowStore) revise(
	ctx context.Context, at At, version uint64, f func(*Transaction) error,
) (Transaction, error) {
	for range editsMax {
		before, e, err := p.locate(ctx, at)
		if err != nil {
			return Transaction{}, err
		}
		if !isSeen(version, before.Version) {
			return Transaction{}, changedTransaction(at.ID)
		}
		after := before.Clone()
		if err := f(after); err != nil {
			return Transaction{}, err
		}
		if reflect.DeepEqual(&before, after) {
			return before, nil
		}
		c := change{before: &before, after: after, entryBefore: e}
		c.entryAfter = entryOfEdited(e, &before, after)
		err = p.write(ctx, nil, []change{c})
		if err == nil {
			return *after, nil
		}
		if !errors.Is(err, errRaced) {
			return Transaction{}, err
		}
	}
	return Transaction{}, ErrContended.With("items", "transaction "+at.ID)
}

// entryOfEdited returns what is remembered of a row that becomes another, nil where that stays.
func entryOfEdited(e *Entry, before, after *Transaction) *Entry {
	if e == nil {
		return entryOf(after)
	}
	next := *e
	next.Date = after.Date
	if after.Source == FromPerson {
		next.Amount = after.Amount
		if after.Merchant != before.Merchant {
			next.Payee = book.ShortPayee(after.Merchant)
		}
	}
	if next == *e {
		return nil
	}
	return &next
}

// entryOf returns the entry of a transaction that no file brought.
func entryOf(t *Transaction) *Entry {
	return &Entry{UserID: t.UserID, AccountID: t.AccountID, Month: book.MonthOfID(t.ID), ID: t.ID,
		State: Live, Date: t.Date, Amount: t.Amount, Currency: t.Currency, Pending: t.Pending,
		Source: t.Source, Payee: book.ShortPayee(t.Merchant)}
}

func changedTransaction(id string) error {
	return ErrChanged.With("what", "Transaction "+id)
}

// checked refuses what can be right for no transaction, and returns the change with texts trimmed.
func (c TransactionChange) checked() (TransactionChange, error) {
	var wrong problem.Fields
	if c.Date != nil {
		checkDate(&wrong, "date", *c.Date)
	}
	if c.Amount != nil {
		checkAmount(&wrong, "amount", *c.Amount)
	}
	if c.Merchant != nil {
		merchant := book.PlainLine(*c.Merchant)
		checkText(&wrong, "merchant", merchant, 0, NameMax)
		c.Merchant = &merchant
	}
	if c.Notes != nil {
		checkLines(&wrong, "notes", *c.Notes, 0, NotesMax)
	}
	if c.TagIDs != nil {
		checkTagIDs(&wrong, "tagIds", *c.TagIDs)
	}
	if c.Splits != nil {
		checkSplits(&wrong, *c.Splits)
	}
	if c.TagIDs != nil && c.Splits != nil && len(*c.TagIDs) > 0 && len(*c.Splits) > 0 {
		wrong.Add("tagIds", "belong to the parts of a divided transaction")
	}
	c.checkReset(&wrong)
	return c, wrong.Err(ErrInvalid)
}

func (c TransactionChange) checkReset(wrong *problem.Fields) {
	set := map[string]bool{
		FieldMerchant: c.Merchant != nil, FieldNotes: c.Notes != nil, FieldTags: c.TagIDs != nil,
		FieldTransfer: c.Transfer != nil, FieldSplits: c.Splits != nil,
	}
	for i, field := range c.Reset {
		name := fmt.Sprintf("reset[%d]", i)
		isSet, known := set[field]
		switch {
		case !known:
			wrong.Addf(name, "%q is none of merchant, notes, tags, transfer and splits", field)
		case isSet:
			wrong.Addf(name, "%s is set by the same request", field)
		}
	}
}

// asked are the tags that the request names.
func (c TransactionChange) asked() map[string]bool {
	asked := map[string]bool{}
	if c.TagIDs != nil {
		for _, id := range *c.TagIDs {
			asked[id] = true
		}
	}
	if c.Splits != nil {
		for _, s := range *c.Splits {
			for _, id := range s.TagIDs {
				asked[id] = true
			}
		}
	}
	return asked
}

// apply changes a transaction. Texts of tags are left to be filled in.
func (c TransactionChange) apply(t *Transaction, rules *ruleset) error {
	var wrong problem.Fields
	if c.Amount != nil && *c.Amount != t.Amount {
		if t.Source != FromPerson {
			wrong.Addf("amount", "is what the bank wrote, %s", t.Amount)
		}
		t.Amount = *c.Amount
		t.Mark(FieldAmount)
	}
	if c.Date != nil && *c.Date != t.Date {
		t.Date = *c.Date
		t.Mark(FieldDate)
	}
	if c.Merchant != nil && *c.Merchant != t.Merchant {
		t.Merchant = *c.Merchant
		t.Mark(FieldMerchant)
	}
	if c.Notes != nil && *c.Notes != t.Notes {
		t.Notes = *c.Notes
		t.Mark(FieldNotes)
	}
	if c.Transfer != nil && *c.Transfer != t.Transfer {
		t.Transfer = *c.Transfer
		t.Mark(FieldTransfer)
	}
	resetFields(t, c.Reset)
	if c.Splits != nil {
		divide(t, *c.Splits)
	}
	if c.TagIDs != nil {
		if len(t.Splits) > 0 && len(*c.TagIDs) > 0 {
			wrong.Add("tagIds", "belong to the parts of a divided transaction")
		}
		setTags(t, *c.TagIDs)
	}
	checkSum(&wrong, t)
	if err := wrong.Err(ErrInvalid); err != nil {
		return err
	}
	if rules != nil {
		rules.try(t, c.Reset)
	}
	return nil
}
