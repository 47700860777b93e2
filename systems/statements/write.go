package statements

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// rowsOfOneWrite is how many new rows of one month fit in one transaction of the store: each is a
// transaction and an entry, and the sheet and the upload are one more each. The rest is for a tag
// or two.
const rowsOfOneWrite = (singletable.TxActionsMax - 4) / 2

// txSizeUsual bounds a write in bytes well below what the store takes, for what the rows are stored
// with comes on top.
const txSizeUsual = singletable.TxSizeMax * 3 / 4

// change is what happens to one row. A nil before is a new one, a nil after one that goes; what an
// entry is changed only where entryAfter is set.
type change struct {
	before, after           *Transaction
	entryBefore, entryAfter *Entry
}

// rowVersion is the version that a change gives to its row. A row that comes back, because an
// undone import is done again, goes on after the versions that it had: a writer that has read the
// row before it went would otherwise take the new one for it.
func (c *change) rowVersion() uint64 {
	switch {
	case c.before != nil:
		return c.before.Version + 1
	case c.entryBefore != nil:
		return c.entryBefore.Version + 1
	}
	return 1
}

// entryVersion is the version that a change gives to its entry. That of an entry whose row goes is
// higher than any version of the row.
func (c *change) entryVersion() uint64 {
	before := uint64(0)
	if c.entryBefore != nil {
		before = c.entryBefore.Version
	}
	if c.before != nil && c.after == nil {
		before = max(before, c.before.Version)
	}
	return before + 1
}

// errRaced means that a row is no longer as it was before the change.
var errRaced = errors.New("a row was changed meanwhile")

// healsMax is how often a write gives its rows the tags as they are now, when people change tags as
// often in the meantime.
const healsMax = 20

// place is where a sheet is.
type place struct {
	account, month string
	currency       money.Currency
}

func placeOf(t *Transaction) place {
	return place{t.AccountID, book.MonthOf(t.Date), t.Currency}
}

// sheets are sheets as they were last read or written. A writer of many rows of a month keeps
// them between writes, so that each sheet is read once. Not safe for concurrent use.
type sheets map[place]*Sheet

// write makes changes and keeps the sheets in step: all or nothing. It numbers the versions of what
// it writes, also in the changes themselves. The error is errRaced where a row is not as it was;
// sheets that others changed are read again. More adds actions to the same transaction; it is
// called for each attempt.
//
// A tag that comes to a row, or with a row to another month, is written only while it has the text
// of the row. Where a tag was changed in the meantime the rows get their tags as they are
// now; one that is gone becomes the one that it was merged into, or none. So a job that visits each
// month once after a tag was changed leaves none behind.
//
// Changes of too many tags or bytes for one transaction are made in several, each with some of the
// rows, and more in the last.
func (p rowStore) write(
	ctx context.Context, known sheets, changes []change, more ...func(*singletable.Tx),
) error {
	return p.writeAs(ctx, manner{token: true}, known, changes, more...)
}

// manner is how rows are written.
type manner struct {
	// token is what a repeat after a lost answer finds by that it happened. It costs the store much
	// for large writes: those who can see it in the rows go without, and look at them where the
	// error is singletable.ErrUnknown.
	token bool
	// demand, if set, adds conditions to each transaction that the rows are divided into. The error
	// is errRaced where one does not hold.
	demand func(*singletable.Tx)
}

// writeAs is write in some manner.
func (p rowStore) writeAs(
	ctx context.Context, how manner, known sheets, changes []change,
	more ...func(*singletable.Tx),
) error {
	if known == nil {
		known = sheets{}
	}
	now := p.now()
	for _, c := range changes {
		if c.after != nil {
			c.after.UserID, c.after.UpdatedAt = p.id, now
		}
	}
	for heals := 0; ; {
		after, err := p.recount(ctx, known, changes)
		if err != nil {
			return err
		}
		tx := p.store().NewTx()
		if how.token {
			tx.SetToken(newToken())
		}
		if how.demand != nil {
			how.demand(tx)
		}
		for i := range changes {
			p.changeRow(tx, &changes[i])
		}
		for _, add := range more {
			add(tx)
		}
		for _, s := range after {
			modelOf(p.Person).putSheet(tx, s)
		}
		p.checkTags(tx, changes)
		if n := len(changes); n > 1 &&
			(errors.Is(tx.Err(), singletable.ErrTooLarge) || tx.Size() > txSizeUsual) {
			if err := p.writeAs(ctx, how, known, changes[:n/2]); err != nil {
				return err
			}
			return p.writeAs(ctx, how, known, changes[n/2:], more...)
		}
		err = tx.Commit(ctx)
		if err == nil {
			for at, s := range after {
				s.Version++
				known[at] = s
			}
			number(changes)
			return nil
		}
		for at := range after {
			delete(known, at)
		}
		if onlySheets(err, modelOf(p.Person).sheets.Name()) {
			continue
		}
		if !p.isStaleTag(err) || heals == healsMax {
			return refusedWrite(err)
		}
		heals++
		for _, c := range changes {
			if c.after != nil {
				if err := p.tagger().freshTags(ctx, c.after, nil); err != nil {
					return err
				}
			}
		}
	}
}

// refusedWrite returns why rows were not written.
func refusedWrite(err error) error {
	if errors.Is(err, singletable.ErrConditionFailed) {
		return fmt.Errorf("%w: %w", errRaced, err)
	}
	return failed("write transactions", err)
}

// isStaleTag reports whether a tag is not as in a row.
func (p rowStore) isStaleTag(err error) bool {
	return slices.ContainsFunc(singletable.FailuresOf(err), func(f singletable.Failure) bool {
		return f.Kind == singletable.FailedCondition && f.Entity == modelOf(p.Person).tags.Name()
	})
}

// checkTags demands that tags which come to rows are as in the rows.
func (p rowStore) checkTags(tx *singletable.Tx, changes []change) {
	checked := map[Tag]bool{}
	for i := range changes {
		c := &changes[i]
		if c.after == nil {
			continue
		}
		had := map[Tag]bool{}
		if c.before != nil && book.MonthOf(c.before.Date) == book.MonthOf(c.after.Date) {
			for t := range tagsOfRow(c.before) {
				had[t] = true
			}
		}
		for t := range tagsOfRow(c.after) {
			if had[t] || checked[t] {
				continue
			}
			checked[t] = true
			m := modelOf(p.Person)
			m.tags.CheckTx(tx, Tag{UserID: p.id, ID: t.ID}, m.tags.Exists(),
				m.tagText.Equals(t.Text))
		}
	}
}

// tagsOfRow yields the tags of a row and its parts, as ids and texts.
func tagsOfRow(t *Transaction) iter.Seq[Tag] {
	return func(yield func(Tag) bool) {
		pairs := func(ids, texts []string) bool {
			for i, id := range ids {
				tag := Tag{ID: id}
				if i < len(texts) {
					tag.Text = texts[i]
				}
				if !yield(tag) {
					return false
				}
			}
			return true
		}
		if !pairs(t.TagIDs, t.Tags) {
			return
		}
		for i := range t.Splits {
			if !pairs(t.Splits[i].TagIDs, t.Splits[i].Tags) {
				return
			}
		}
	}
}

// recount returns the sheets as they will be, of those that become others.
func (p rowStore) recount(
	ctx context.Context, known sheets, changes []change,
) (map[place]*Sheet, error) {
	after := map[place]*Sheet{}
	count := func(t *Transaction, sign int) error {
		at := placeOf(t)
		if after[at] == nil {
			before, err := p.sheet(ctx, known, at)
			if err != nil {
				return err
			}
			after[at] = before.clone()
		}
		if err := after[at].count(t, sign); err != nil {
			return fmt.Errorf("total of %s %s: %w", at.month, at.currency, err)
		}
		return nil
	}
	for _, c := range changes {
		// A row of another program, which has no version, was never counted.
		counted := c.before != nil && c.before.Version > 0
		if counted && c.after != nil && countsSame(c.before, c.after) {
			continue
		}
		if counted {
			if err := count(c.before, -1); err != nil {
				return nil, err
			}
		}
		if c.after != nil {
			if err := count(c.after, 1); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// countsSame reports whether sheets take no notice of a change.
func countsSame(a, b *Transaction) bool {
	return placeOf(a) == placeOf(b) && a.Amount == b.Amount && a.Transfer == b.Transfer &&
		a.Merchant == b.Merchant && slices.Equal(a.TagIDs, b.TagIDs) &&
		slices.EqualFunc(a.Splits, b.Splits, func(a, b Split) bool {
			return a.Amount == b.Amount && slices.Equal(a.TagIDs, b.TagIDs)
		})
}

// sheet returns a sheet as it is, an empty one if there is none.
func (p rowStore) sheet(ctx context.Context, known sheets, at place) (*Sheet, error) {
	if s := known[at]; s != nil {
		return s, nil
	}
	key := Sheet{UserID: p.id, AccountID: at.account, Month: Date(at.month + "-01"),
		Currency: at.currency}
	s, found, err := modelOf(p.Person).sheets.Get(ctx, p.store(), key, singletable.Consistent())
	if err != nil {
		return nil, failed("read totals", err)
	}
	if !found {
		s = key
	}
	known[at] = &s
	return &s, nil
}

// changeRow adds the writes of one change to a transaction.
func (p rowStore) changeRow(tx *singletable.Tx, c *change) {
	m := modelOf(p.Person)
	asBefore := func() []singletable.Cond[Transaction] {
		return []singletable.Cond[Transaction]{
			m.transactions.Exists(), m.versions.transaction.Equals(c.before.Version)}
	}
	switch {
	case c.before == nil && c.after != nil:
		v := *c.after
		v.Version = c.rowVersion()
		m.transactions.CreateTx(tx, v)
	case c.before != nil && c.after == nil:
		m.transactions.DeleteTx(tx, *c.before, asBefore()...)
	case c.before != nil:
		v := *c.after
		v.Version = c.rowVersion()
		if c.before.Date == v.Date {
			m.transactions.PutTx(tx, v, asBefore()...)
		} else {
			m.transactions.DeleteTx(tx, *c.before, asBefore()...)
			m.transactions.CreateTx(tx, v)
		}
	}
	if c.entryAfter == nil {
		return
	}
	e := *c.entryAfter
	e.Version = c.entryVersion()
	if c.entryBefore == nil {
		m.entries.CreateTx(tx, e)
		return
	}
	m.entries.PutTx(tx, e, m.entries.Exists(), m.versions.entry.Equals(c.entryBefore.Version))
}

// number gives what was written its version.
func number(changes []change) {
	for i := range changes {
		c := &changes[i]
		if c.after != nil {
			c.after.Version = c.rowVersion()
		}
		if c.entryAfter != nil {
			c.entryAfter.Version = c.entryVersion()
		}
	}
}

// putSheet writes a sheet if it is still the one that was read.
func (m *model) putSheet(tx *singletable.Tx, s *Sheet) {
	v := *s
	v.Version++
	if s.Version == 0 {
		m.sheets.CreateTx(tx, v)
		return
	}
	m.sheets.PutTx(tx, v, m.versions.sheet.Equals(s.Version))
}

// onlySheets reports whether nothing but conditions of sheets failed.
func onlySheets(err error, entity string) bool {
	failures := singletable.FailuresOf(err)
	return len(failures) > 0 && !slices.ContainsFunc(failures, func(f singletable.Failure) bool {
		return f.Kind != singletable.FailedCondition || f.Entity != entity
	})
}
