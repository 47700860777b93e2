package match

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// Verdict is the outcome of a row of a file.
type Verdict string

// The verdicts.
const (
	New     Verdict = "new"
	Known   Verdict = "known"   // There already.
	Merged  Verdict = "merged"  // Part of a transaction that was there: pending, or typed in.
	Deleted Verdict = "deleted" // Deleted before by the person, or now by the bank.
	Skipped Verdict = "skipped" // No entry of this account.
	Refused Verdict = "refused" // It cannot be read.
	// Warned is no row at all but a remark on something that does not add up.
	Warned Verdict = "warned"
)

// Decision is the outcome of one row of a file, and why.
type Decision struct {
	Line    int     `json:"line"`
	Verdict Verdict `json:"verdict"`
	// ID is the transaction that the row becomes, or is part of.
	ID string `json:"id,omitempty"`
	// Why is a sentence for people; empty where there is nothing to explain.
	Why      string         `json:"why,omitempty"`
	Date     book.Date      `json:"date,omitempty"`
	Amount   *money.Decimal `json:"amount,omitempty"`
	Currency money.Currency `json:"currency,omitempty"`
	Text     string         `json:"text,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	// Raw is the row as the file has it, for those that are no entries.
	Raw string `json:"raw,omitempty"`
	// Transaction is what a row that is not there yet will be. Only Preview gives it.
	Transaction *book.Transaction `json:"-"`
}

// Deed is what an import has to do for a row.
type Deed uint8

// The deeds.
const (
	Nothing Deed = iota
	Create       // Write a new row.
	Revive       // Write one again that an undone import had brought.
	Merge        // Make it part of a row that was pending or typed in.
	Correct      // Change a row that the bank corrects.
	Remove       // Remove a row that the bank takes back.
)

// Row is a decision with what is needed to carry it out.
type Row struct {
	Decision
	No     int // Of the row in the file, from 0.
	Do     Deed
	Target string // The transaction that the row becomes part of.
	As     string // The id of the row's own entry.
	// Version is that of the entry of a row that comes back.
	Version       uint64
	Bank, Content string // What the entry is known by.
	Row           *book.Transaction
}

// Source is a file with its rows.
type Source interface {
	// Each passes every row to take, with its number from 0.
	Each(ctx context.Context, take func(no int, row *parsed.Row) error) ([]bankfile.Total, error)
	// IsOurs reports whether the rows of a statement are of the account, and IsFinal whether they
	// are booked for good.
	IsOurs(statement int) bool
	IsFinal(statement int) bool
	// Why returns why the rows of a statement that is not ours are left out.
	Why(statement int) string
}

// Options are what a plan needs to know in addition to the rows.
type Options struct {
	// Currency is the account's.
	Currency money.Currency
	// Base has what all rows of the file share: its account and upload for example.
	Base book.Transaction
	// Apply applies the rules of the person to a new row. May be nil.
	Apply func(*book.Transaction)
	// Corrects reports that some rows of the file correct others.
	Corrects bool
}

// Plan decides the outcome of each row of a file. Preview and Import have the same one. It is not
// safe for concurrent use.
type Plan struct {
	src   Source
	known *KnownRows
	o     Options

	// stable reports that the bank keeps its ids: some that are known are in the file.
	stable    bool
	claims    map[int]int32        // By row of the file: the row that it is found to be.
	covers    map[int]int32        // The booked row that a pending one is about.
	corrected map[hash]correction  // By the bank id of the row that is corrected there.
	replaces  map[hash]hash        // By the bank id of a correction: that of the row it corrects.
	corrects  map[int32]correction // The one that counts, by the row that it is about.
}

// NewPlan returns the plan of a file. If anything is known of its months, or if it has corrections,
// it looks through the file first. The error is that of the source.
func NewPlan(ctx context.Context, src Source, known *KnownRows, o Options) (*Plan, error) {
	pl := &Plan{src: src, known: known, o: o, corrected: map[hash]correction{},
		replaces: map[hash]hash{}, corrects: map[int32]correction{}}
	if len(known.rows) == 0 && !o.Corrects {
		return pl, nil
	}
	return pl, pl.prepare(ctx)
}

// correction is the place of a row that corrects another one.
type correction struct{ no, line int }

// prepare looks through the file for what must be known of all of it before the first row can be
// decided.
func (pl *Plan) prepare(ctx context.Context) error {
	sums, payees := map[uint64]bool{}, map[uint64]bool{}
	for _, c := range pl.known.candidates {
		r := &pl.known.rows[c.row]
		sums[r.amount] = true
		payees[r.payee] = payees[r.payee] || r.is(rowPending)
	}
	delete(payees, 0)
	err := pl.each(ctx, func(no int, row *parsed.Row, key bankfile.Key) error {
		if row.Entry.Corrects != "" {
			of := hashOf(book.KeyHash(row.Entry.Corrects))
			pl.corrected[of] = correction{no, row.Line}
			if key.ID != "" {
				pl.replaces[hashOf(book.KeyHash(key.ID))] = of
			}
		}
		f := pl.freeRow(no, row)
		if _, hit := pl.byBank(key, &f); hit >= 0 {
			pl.take(hit)
			r := &pl.known.rows[hit]
			r.flags |= rowInFile
			if r.state != rowUndone && !r.is(rowMine) && !r.is(rowPending) {
				pl.stable = true
			}
		}
		return nil
	})
	if err != nil || len(pl.known.rows) == 0 {
		return err
	}
	pl.settleCorrections()
	var free, pending []freeRow
	given := map[hash]bool{}
	err = pl.each(ctx, func(no int, row *parsed.Row, key bankfile.Key) error {
		f := pl.freeRow(no, row)
		if found := pl.identify(&f, row, key, given); found.hit >= 0 {
			pl.take(found.hit)
			if pl.known.rows[found.hit].state != rowUndone {
				return nil
			}
		}
		if f.pending {
			pending = append(pending, f)
		}
		if f.pending || sums[f.sum] || payees[f.payee] {
			free = append(free, f)
		}
		return nil
	})
	pl.claims = pl.known.claimed(free)
	pl.covers = pl.known.covered(pending, pl.claims)
	return err
}

// take notes that a row of the file is some known row, and what that became part of.
func (pl *Plan) take(hit int32) {
	r := &pl.known.rows[hit]
	r.flags |= rowTaken
	if r.state == rowMerged && r.of >= 0 {
		pl.known.rows[r.of].flags |= rowTaken
	}
}

// settleCorrections finds the row that each correction is about. Of several of one row in a file
// the last one counts, and no other row of the file is taken for it.
func (pl *Plan) settleCorrections() {
	for of, c := range pl.corrected {
		at := pl.correctedBy(of)
		if at < 0 {
			continue
		}
		pl.known.rows[at].flags |= rowTaken
		if before, found := pl.corrects[at]; !found || before.no < c.no {
			pl.corrects[at] = c
		}
	}
}

// correctedBy returns the row that is meant where a bank corrects the one with some id, -1 for
// none: the row of that id, or what it became part of; a correction in the same file replaces
// what it corrects.
func (pl *Plan) correctedBy(id hash) int32 {
	for range len(pl.replaces) + 1 {
		if at, found := pl.known.byBank[id]; found {
			r := &pl.known.rows[at]
			if r.state == rowMerged && r.of >= 0 {
				at = r.of
			}
			if r = &pl.known.rows[at]; r.state != rowLive || r.is(rowMine) {
				return -1
			}
			return at
		}
		next, found := pl.replaces[id]
		if !found {
			return -1
		}
		id = next
	}
	return -1
}

// freeRow returns what rows are matched by.
func (pl *Plan) freeRow(no int, row *parsed.Row) freeRow {
	e := &row.Entry
	f := freeRow{no: no, day: dayNumber(e.Date), amount: e.Amount, currency: pl.currency(e),
		pending: e.Pending || !pl.src.IsFinal(row.Statement)}
	f.sum = amountHash(f.amount, f.currency)
	f.payee = textHash(payeeKey(book.ShortPayee(book.MerchantOf(e))))
	return f
}

func (pl *Plan) currency(e *bankfile.Entry) money.Currency {
	if e.Currency == "" {
		return pl.o.Currency
	}
	return e.Currency
}

// correcting reports that a row corrects another by its own id, so that it is not that other one
// though its content may be the same.
func correcting(e *bankfile.Entry, key bankfile.Key) bool {
	return e.Corrects != "" && key.ID != ""
}

// idDays is how far apart two rows with one bank id and one amount may be to be the same.
const idDays = 8

// byBank returns the row that has the bank id of a row of the file, -1 for none. An id that is used
// for another row now is counted again by the bank with each file and proves Nothing, so the keys
// come back without it.
func (pl *Plan) byBank(key bankfile.Key, f *freeRow) (bankfile.Key, int32) {
	if key.ID == "" || len(pl.known.byBank) == 0 {
		return key, -1
	}
	hit, found := pl.known.byBank[hashOf(book.KeyHash(key.ID))]
	if !found {
		return key, -1
	}
	if pl.sameByID(hit, f) || pl.byContent(key) == hit {
		return key, hit
	}
	key.ID = ""
	return key, -1
}

// sameByID reports whether a row with the bank id of a row of the file may be that one: it is of
// about the same day and of the same amount. Only what was pending may get another amount, if it
// has the same payee or nearly that amount, and while it is still pending its day stays.
func (pl *Plan) sameByID(hit int32, f *freeRow) bool {
	r := &pl.known.rows[hit]
	far := max(f.day-r.day, r.day-f.day)
	switch mine := r.is(rowMine); {
	case far > idDays || mine && far > 0: // What this file brought is of its own day.
		return false
	case mine || r.amount == f.sum || !r.is(rowPending):
		return r.amount == f.sum
	case f.pending && far > 0:
		return false
	}
	c := pl.known.pending[hit]
	if c.currency != f.currency || c.amount.Sign() != f.amount.Sign() {
		return false
	}
	_, near := nearly(c.amount, f.amount)
	return near || f.payee != 0 && f.payee == r.payee
}

// byContent returns the row with the content of a row of the file, -1 for none.
func (pl *Plan) byContent(key bankfile.Key) int32 {
	if hit, found := pl.known.byContent[hashOf(book.KeyHash(key.Content))]; found {
		return hit
	}
	return -1
}

// sameByContent reports whether a row of the same content is the row of the file. It is not where
// its bank id is that of another row of the file, nor where both have ids, of a bank that keeps
// them.
func (pl *Plan) sameByContent(hit int32, hasID bool) bool {
	r := &pl.known.rows[hit]
	return !r.is(rowInFile) && !(hasID && r.is(rowBankID) && pl.stable)
}

// each gives every entry that is ours to take, with its keys.
func (pl *Plan) each(
	ctx context.Context, take func(no int, row *parsed.Row, key bankfile.Key) error,
) error {
	var keys bankfile.Keys
	_, err := pl.src.Each(ctx, func(no int, row *parsed.Row) error {
		if row.Outcome != bankfile.Read || !pl.src.IsOurs(row.Statement) {
			return nil
		}
		return take(no, row, keys.Of("", row.Entry))
	})
	return err
}

// Walk gives the decision on each row of the file, in its order. It may be done again and then
// decides the same.
func (pl *Plan) Walk(ctx context.Context, take func(*Row) error) error {
	var keys bankfile.Keys
	given := map[hash]bool{}
	_, err := pl.src.Each(ctx, func(no int, row *parsed.Row) error {
		d := &Row{No: no, Decision: Decision{Line: row.Line}}
		switch {
		case row.Outcome == bankfile.Warned:
			d.Verdict, d.Why = Warned, row.Why
		case !pl.src.IsOurs(row.Statement):
			d.Verdict, d.Why = Skipped, pl.src.Why(row.Statement)
		case row.Outcome == bankfile.Skipped:
			d.Verdict, d.Why, d.Raw = Skipped, row.Why, row.Raw
		case row.Outcome == bankfile.Refused:
			d.Verdict, d.Why, d.Raw = Refused, row.Why, row.Raw
		default:
			pl.decide(d, row, keys.Of("", row.Entry), given)
		}
		if row.Outcome == bankfile.Read {
			d.fill(row, pl.currency(&row.Entry))
		}
		return take(d)
	})
	return err
}

// fill copies the members of a row that people want to see.
func (d *Decision) fill(row *parsed.Row, currency money.Currency) {
	e := &row.Entry
	d.Date, d.Amount, d.Currency = e.Date, &e.Amount, currency
	d.Text = book.ClipText(e.Name+" "+e.Memo, book.NameMax)
	for _, w := range row.Warnings {
		d.Warnings = append(d.Warnings, w.Text)
	}
}

// decide returns the outcome of an entry of the account.
func (pl *Plan) decide(d *Row, row *parsed.Row, key bankfile.Key, given map[hash]bool) {
	f := pl.freeRow(d.No, row)
	found := pl.identify(&f, row, key, given)
	hit := found.hit
	d.Bank, d.Content = found.bank, found.content
	if hit >= 0 && pl.decideKnown(d, hit, &f) {
		if found.otherID && d.Verdict == Known {
			d.Why = "the bank has given it another id"
		}
		return
	}
	if c, ok := pl.corrected[hashOf(d.Bank)]; ok && d.Bank != "" {
		d.Verdict, d.Why = Skipped, fmt.Sprintf("the bank corrects it in line %d", c.line)
		return
	}
	d.Verdict, d.Do = New, Create
	switch {
	case hit < 0:
		d.As = pl.newID(row.Entry.Date, d)
	case pl.known.rows[hit].state == rowUndone:
		d.Do, d.As, d.Version = Revive, pl.known.idOf(hit), pl.known.rows[hit].version
		if b := pl.known.rows[hit].bank; !b.none() {
			// It stays known by the id that it had first, so that no other row takes that one.
			d.Bank = book.IDEncoding.EncodeToString(b[:])
		}
	default: // It was pending.
		if d.As = pl.newID(row.Entry.Date, d); d.As == pl.known.idOf(hit) {
			d.As = book.RowID(pl.o.Base.AccountID, row.Entry.Date, "booked\x00"+d.As)
		}
	}
	d.ID = d.As
	pl.decideTarget(d, hit, &row.Entry)
	if d.Do != Nothing {
		d.Row = pl.transaction(d.As, row, f.pending)
	}
}

// identity is which row that is known a row of the file is, and what it is known by itself.
type identity struct {
	hit           int32 // -1 for none.
	bank, content string
	otherID       bool // The row that is known has another id of the bank.
}

// identify finds the row that a row of the file is, by its keys. Given are the contents that rows
// before it have: of equal rows each takes the next one that is theirs to take, be it
// known or free, so that equal rows in different files are distinguished. With some rows of an
// import written, the others get what they got before.
func (pl *Plan) identify(
	f *freeRow, row *parsed.Row, key bankfile.Key, given map[hash]bool,
) identity {
	key, hit := pl.byBank(key, f)
	found := identity{hit: hit, bank: book.KeyHash(key.ID)}
	if hit >= 0 {
		found.content = book.KeyHash(key.Content)
		if c := pl.known.rows[hit].content; !c.none() {
			found.content = book.IDEncoding.EncodeToString(c[:])
			at, ok := pl.known.byContent[c]
			if ok && pl.known.rows[hit].state == rowUndone &&
				(pl.known.rows[at].state == rowLive || pl.stillPending(at) >= 0) {
				// An undone import had made it part of that one, which is there again.
				found.hit = at
				given[c] = true
			}
		}
		return found
	}
	if len(pl.known.byContent) == 0 { // Rows of one file have contents of their own.
		found.content = book.KeyHash(key.Content)
		return found
	}
	if at, content, ok := pl.byOlder(row, key, given); ok {
		found.hit, found.content = at, content
		return found
	}
	content := key.Content
	dot := strings.LastIndexByte(content, '.')
	for number := 0; ; number++ {
		text := book.KeyHash(content)
		h := hashOf(text)
		at, known := pl.known.byContent[h]
		same := known && !correcting(&row.Entry, key) && pl.sameByContent(at, key.ID != "")
		if !given[h] && (same || !known) {
			given[h] = true
			found.content = text
			if same {
				found.hit = at
				found.otherID = key.ID != "" && pl.known.rows[at].is(rowBankID)
			}
			return found
		}
		if number == 0 {
			number, _ = strconv.Atoi(content[dot+1:])
		}
		content = content[:dot+1] + strconv.Itoa(number+1)
	}
}

// byOlder finds the row that a row of the file is by an older reading, if it is none by the reading
// that counts. Of equal rows each takes the next one that is known.
func (pl *Plan) byOlder(
	row *parsed.Row, key bankfile.Key, given map[hash]bool,
) (at int32, content string, ok bool) {
	if len(row.Older) == 0 || correcting(&row.Entry, key) {
		return 0, "", false
	}
	now := hashOf(book.KeyHash(key.Content))
	if _, known := pl.known.byContent[now]; known && !given[now] {
		return 0, "", false
	}
	for _, old := range row.Older {
		dot := strings.LastIndexByte(old, '.')
		for number := 1; ; number++ {
			text := book.KeyHash(old[:dot+1] + strconv.Itoa(number))
			h := hashOf(text)
			at, known := pl.known.byContent[h]
			if !known {
				break
			}
			if !given[h] && pl.sameByContent(at, key.ID != "") {
				given[h] = true
				return at, text, true
			}
		}
	}
	return 0, "", false
}

// decideTarget reports whether a row that is not there becomes part of one that is.
func (pl *Plan) decideTarget(d *Row, hit int32, e *bankfile.Entry) {
	if e.Corrects != "" {
		at := pl.correctedBy(hashOf(book.KeyHash(e.Corrects)))
		found := at >= 0
		switch {
		case found && pl.corrects[at].no != d.No:
			d.Do, d.ID, d.Verdict = Nothing, "", Skipped
			d.Why = fmt.Sprintf("the bank corrects it in line %d", pl.corrects[at].line)
			return
		case found && e.Deletes:
			d.Do, d.Target, d.Verdict = Remove, pl.known.idOf(at), Deleted
			d.Why = "the bank takes back the row of " + pl.known.dateOf(at)
			return
		case found:
			d.Do, d.Target, d.Verdict = Correct, pl.known.idOf(at), Merged
			d.ID, d.Why = d.Target, "the bank corrects the row of "+pl.known.dateOf(at)
			return
		case e.Deletes:
			d.Do, d.ID, d.Verdict = Nothing, "", Skipped
			d.Why = "the bank takes back a row that is not here"
			return
		}
	}
	at, found := pl.claims[d.No]
	if hit >= 0 && pl.known.rows[hit].state != rowUndone {
		at, found = pl.stillPending(hit), true
	}
	if found {
		d.Do, d.Target, d.Verdict = Merge, pl.known.idOf(at), Merged
		d.ID, d.Why = d.Target, "it was pending, of "+pl.known.dateOf(at)
		if !pl.known.rows[at].is(rowPending) {
			d.Why = "it was typed in for " + pl.known.dateOf(at)
		}
		return
	}
	if at, found := pl.covers[d.No]; found {
		d.Do, d.ID, d.Verdict = Nothing, pl.known.idOf(at), Known
		d.Why = "it is booked already, on " + pl.known.dateOf(at)
	}
}

// newID makes the id of a row: of the bank's id where that can be relied on, else of its content.
func (pl *Plan) newID(date book.Date, d *Row) string {
	if d.Bank != "" {
		return book.RowID(pl.o.Base.AccountID, date, "id\x00"+d.Bank)
	}
	return book.RowID(pl.o.Base.AccountID, date, "content\x00"+d.Content)
}

// stillPending returns the transaction that is pending by what a file before brought as some known
// row: that row, or the one that it became part of; -1 for none.
func (pl *Plan) stillPending(hit int32) int32 {
	r := &pl.known.rows[hit]
	at := hit
	if r.state == rowMerged {
		at = r.of
	}
	if at < 0 || !r.is(rowPending) || r.is(rowMine) {
		return -1
	}
	if of := &pl.known.rows[at]; of.state != rowLive || !of.is(rowPending) || of.is(rowMine) {
		return -1
	}
	return at
}

// decideKnown returns the outcome of an entry that is there already. It reports false for one that
// was undone, which may come back, and for one that was pending and is booked now.
func (pl *Plan) decideKnown(d *Row, hit int32, f *freeRow) bool {
	r := &pl.known.rows[hit]
	d.ID = pl.known.idOf(hit)
	mine := r.is(rowMine)
	switch {
	case r.state == rowUndone, !f.pending && pl.stillPending(hit) >= 0:
		return false
	case r.state == rowMerged && r.of >= 0:
		d.ID = pl.known.idOf(r.of)
	}
	switch {
	case r.state == rowDeleted,
		r.state == rowMerged && r.of >= 0 && pl.known.rows[r.of].state == rowDeleted:
		d.Verdict, d.Why = Deleted, "it was deleted"
	case mine && r.state == rowMerged:
		d.Verdict, d.Why = Merged, ""
	case mine:
		d.Verdict, d.Why = New, ""
	default:
		d.Verdict = Known
	}
	return true
}

// transaction makes a row of what the bank wrote.
func (pl *Plan) transaction(id string, row *parsed.Row, pending bool) *book.Transaction {
	e := &row.Entry
	t := pl.o.Base
	t.ID, t.Date, t.Amount, t.Currency = id, e.Date, e.Amount, pl.currency(e)
	t.Merchant, t.Text = book.MerchantOf(e), book.TextOf(e)
	t.Counterparty, t.Reference = book.ClipText(
		e.Counterparty,
		book.NameMax,
	), book.ClipText(
		e.Reference,
		book.NameMax,
	)
	t.Category, t.BankID = book.ClipText(
		e.Category,
		book.NameMax,
	), book.ClipText(
		e.BankID,
		book.NameMax,
	)
	t.Details = book.Cut(book.PlainLine(e.Details), book.TextMax)
	if e.ValueDate != e.Date {
		t.ValueDate = e.ValueDate
	}
	if e.AuthorisedDate != e.Date {
		t.AuthorisedDate = e.AuthorisedDate
	}
	t.Foreign, t.ForeignCurrency = e.Foreign, e.ForeignCurrency
	t.Pending, t.Reversal, t.Line = pending, e.Reversal, row.Line
	t.Splits = splitsOf(e)
	if pl.o.Apply != nil {
		pl.o.Apply(&t)
	}
	return &t
}

// splitsOf returns the parts of an entry that some programs write, where they add up to it.
func splitsOf(e *bankfile.Entry) []book.Split {
	if len(e.Splits) == 0 || len(e.Splits) > book.SplitsMax {
		return nil
	}
	var sum money.Decimal
	splits := make([]book.Split, len(e.Splits))
	for i, s := range e.Splits {
		var err error
		if sum, err = sum.Add(s.Amount); err != nil {
			return nil
		}
		splits[i] = book.Split{
			Amount: s.Amount,
			Notes:  book.ClipText(s.Category+" "+s.Memo, book.NameMax),
		}
	}
	if !sum.Equal(e.Amount) {
		return nil
	}
	return splits
}
