package statements

import (
	"context"
	"crypto/sha256"
	"fmt"
	stdhash "hash"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// deed is what an import has to do for a row.
type deed uint8

const (
	nothing deed = iota
	create       // Write a new row.
	revive       // Write one again that an undone import had brought.
	merge        // Make it part of a row that was pending or typed in.
	correct      // Change a row that the bank corrects.
	remove       // Remove a row that the bank takes back.
)

// planned is a decision with what is needed to carry it out.
type planned struct {
	Decision
	no     int // Of the row in the file, from 0.
	do     deed
	target string // The transaction that the row becomes part of.
	as     string // The id of the row's own entry.
	// version is that of the entry of a row that comes back.
	version       uint64
	bank, content string // What the entry is known by.
	row           *Transaction
}

// plan decides the outcome of each row of a file. Preview and Import have the same one. It is not
// safe for concurrent use.
type plan struct {
	account Account
	upload  Upload
	src     *source
	known   *known
	rules   *ruleset
	base    Transaction // What all rows share.

	// stable reports that the bank keeps its ids: some that are known are in the file.
	stable    bool
	claims    map[int]int32        // By row of the file: the row that it is found to be.
	covers    map[int]int32        // The booked row that a pending one is about.
	corrected map[hash]correction  // By the bank id of the row that is corrected there.
	replaces  map[hash]hash        // By the bank id of a correction: that of the row it corrects.
	corrects  map[int32]correction // The one that counts, by the row that it is about.
}

// correction is the place of a row that corrects another one.
type correction struct{ no, line int }

// plan makes the plan of an upload: it reads what is known of the months of the file and, if there
// is anything, looks through the file once.
func (p uploader) plan(ctx context.Context, a Account, u Upload, src *source) (*plan, error) {
	k, err := p.known(ctx, u)
	if err != nil {
		return nil, err
	}
	rules, err := p.rules().ruleset(ctx)
	if err != nil {
		return nil, err
	}
	pl := &plan{account: a, upload: u, src: src, known: k, rules: rules,
		corrected: map[hash]correction{}, replaces: map[hash]hash{},
		corrects: map[int32]correction{},
		base: Transaction{UserID: p.id, AccountID: a.ID, Source: FromBank, UploadID: u.ID,
			CreatedAt: p.now()}}
	if len(k.rows) == 0 && !u.Corrects {
		return pl, nil
	}
	return pl, pl.prepare(ctx)
}

// prepare looks through the file for what must be known of all of it before the first row can be
// decided.
func (pl *plan) prepare(ctx context.Context) error {
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
func (pl *plan) take(hit int32) {
	r := &pl.known.rows[hit]
	r.flags |= rowTaken
	if r.state == rowMerged && r.of >= 0 {
		pl.known.rows[r.of].flags |= rowTaken
	}
}

// settleCorrections finds the row that each correction is about. Of several of one row in a file
// the last one counts, and no other row of the file is taken for it.
func (pl *plan) settleCorrections() {
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
func (pl *plan) correctedBy(id hash) int32 {
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
func (pl *plan) freeRow(no int, row *parsed.Row) freeRow {
	e := &row.Entry
	f := freeRow{no: no, day: dayNumber(e.Date), amount: e.Amount, currency: pl.currency(e),
		pending: e.Pending || !pl.src.isFinal(row.Statement)}
	f.sum = amountHash(f.amount, f.currency)
	f.payee = textHash(payeeKey(book.ShortPayee(book.MerchantOf(e))))
	return f
}

func (pl *plan) currency(e *bankfile.Entry) money.Currency {
	if e.Currency == "" {
		return pl.account.Currency
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
// for another row now is counted again by the bank with each file and proves nothing, so the keys
// come back without it.
func (pl *plan) byBank(key bankfile.Key, f *freeRow) (bankfile.Key, int32) {
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
func (pl *plan) sameByID(hit int32, f *freeRow) bool {
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
func (pl *plan) byContent(key bankfile.Key) int32 {
	if hit, found := pl.known.byContent[hashOf(book.KeyHash(key.Content))]; found {
		return hit
	}
	return -1
}

// sameByContent reports whether a row of the same content is the row of the file. It is not where
// its bank id is that of another row of the file, nor where both have ids, of a bank that keeps
// them.
func (pl *plan) sameByContent(hit int32, hasID bool) bool {
	r := &pl.known.rows[hit]
	return !r.is(rowInFile) && !(hasID && r.is(rowBankID) && pl.stable)
}

// each gives every entry that is ours to take, with its keys.
func (pl *plan) each(
	ctx context.Context, take func(no int, row *parsed.Row, key bankfile.Key) error,
) error {
	var keys bankfile.Keys
	_, err := pl.src.each(ctx, func(no int, row *parsed.Row) error {
		if row.Outcome != bankfile.Read || !pl.src.isOurs(row.Statement) {
			return nil
		}
		return take(no, row, keys.Of("", row.Entry))
	})
	return err
}

// walk gives the decision on each row of the file, in its order. It may be done again and then
// decides the same.
func (pl *plan) walk(ctx context.Context, take func(*planned) error) error {
	var keys bankfile.Keys
	given := map[hash]bool{}
	_, err := pl.src.each(ctx, func(no int, row *parsed.Row) error {
		d := &planned{no: no, Decision: Decision{Line: row.Line}}
		switch {
		case row.Outcome == bankfile.Warned:
			d.Verdict, d.Why = RowWarned, row.Why
		case !pl.src.isOurs(row.Statement):
			d.Verdict, d.Why = RowSkipped, pl.src.why(row.Statement)
		case row.Outcome == bankfile.Skipped:
			d.Verdict, d.Why, d.Raw = RowSkipped, row.Why, row.Raw
		case row.Outcome == bankfile.Refused:
			d.Verdict, d.Why, d.Raw = RowRefused, row.Why, row.Raw
		default:
			pl.decide(d, row, keys.Of("", row.Entry), given)
		}
		if row.Outcome == bankfile.Read {
			d.tell(row, pl.currency(&row.Entry))
		}
		return take(d)
	})
	return err
}

// tell copies the members of a row that people want to see.
func (d *Decision) tell(row *parsed.Row, currency money.Currency) {
	e := &row.Entry
	d.Date, d.Amount, d.Currency = e.Date, &e.Amount, currency
	d.Text = book.ClipText(e.Name+" "+e.Memo, NameMax)
	for _, w := range row.Warnings {
		d.Warnings = append(d.Warnings, w.Text)
	}
}

// decide returns the outcome of an entry of the account.
func (pl *plan) decide(d *planned, row *parsed.Row, key bankfile.Key, given map[hash]bool) {
	f := pl.freeRow(d.no, row)
	found := pl.identify(&f, row, key, given)
	hit := found.hit
	d.bank, d.content = found.bank, found.content
	if hit >= 0 && pl.decideKnown(d, hit, &f) {
		if found.otherID && d.Verdict == RowKnown {
			d.Why = "the bank has given it another id"
		}
		return
	}
	if c, ok := pl.corrected[hashOf(d.bank)]; ok && d.bank != "" {
		d.Verdict, d.Why = RowSkipped, fmt.Sprintf("the bank corrects it in line %d", c.line)
		return
	}
	d.Verdict, d.do = RowNew, create
	switch {
	case hit < 0:
		d.as = pl.newID(row.Entry.Date, d)
	case pl.known.rows[hit].state == rowUndone:
		d.do, d.as, d.version = revive, pl.known.idOf(hit), pl.known.rows[hit].version
		if b := pl.known.rows[hit].bank; !b.none() {
			// It stays known by the id that it had first, so that no other row takes that one.
			d.bank = book.IDEncoding.EncodeToString(b[:])
		}
	default: // It was pending.
		if d.as = pl.newID(row.Entry.Date, d); d.as == pl.known.idOf(hit) {
			d.as = book.RowID(pl.account.ID, row.Entry.Date, "booked\x00"+d.as)
		}
	}
	d.ID = d.as
	pl.decideTarget(d, hit, &row.Entry)
	if d.do != nothing {
		d.row = pl.transaction(d.as, row, f.pending)
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
func (pl *plan) identify(
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
func (pl *plan) byOlder(
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
func (pl *plan) decideTarget(d *planned, hit int32, e *bankfile.Entry) {
	if e.Corrects != "" {
		at := pl.correctedBy(hashOf(book.KeyHash(e.Corrects)))
		found := at >= 0
		switch {
		case found && pl.corrects[at].no != d.no:
			d.do, d.ID, d.Verdict = nothing, "", RowSkipped
			d.Why = fmt.Sprintf("the bank corrects it in line %d", pl.corrects[at].line)
			return
		case found && e.Deletes:
			d.do, d.target, d.Verdict = remove, pl.known.idOf(at), RowDeleted
			d.Why = "the bank takes back the row of " + pl.known.dateOf(at)
			return
		case found:
			d.do, d.target, d.Verdict = correct, pl.known.idOf(at), RowMerged
			d.ID, d.Why = d.target, "the bank corrects the row of "+pl.known.dateOf(at)
			return
		case e.Deletes:
			d.do, d.ID, d.Verdict = nothing, "", RowSkipped
			d.Why = "the bank takes back a row that is not here"
			return
		}
	}
	at, found := pl.claims[d.no]
	if hit >= 0 && pl.known.rows[hit].state != rowUndone {
		at, found = pl.stillPending(hit), true
	}
	if found {
		d.do, d.target, d.Verdict = merge, pl.known.idOf(at), RowMerged
		d.ID, d.Why = d.target, "it was pending, of "+pl.known.dateOf(at)
		if !pl.known.rows[at].is(rowPending) {
			d.Why = "it was typed in for " + pl.known.dateOf(at)
		}
		return
	}
	if at, found := pl.covers[d.no]; found {
		d.do, d.ID, d.Verdict = nothing, pl.known.idOf(at), RowKnown
		d.Why = "it is booked already, on " + pl.known.dateOf(at)
	}
}

// newID makes the id of a row: of the bank's id where that can be relied on, else of its content.
func (pl *plan) newID(date Date, d *planned) string {
	if d.bank != "" {
		return book.RowID(pl.account.ID, date, "id\x00"+d.bank)
	}
	return book.RowID(pl.account.ID, date, "content\x00"+d.content)
}

// stillPending returns the transaction that is pending by what a file before brought as some known
// row: that row, or the one that it became part of; -1 for none.
func (pl *plan) stillPending(hit int32) int32 {
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
func (pl *plan) decideKnown(d *planned, hit int32, f *freeRow) bool {
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
		d.Verdict, d.Why = RowDeleted, "it was deleted"
	case mine && r.state == rowMerged:
		d.Verdict, d.Why = RowMerged, ""
	case mine:
		d.Verdict, d.Why = RowNew, ""
	default:
		d.Verdict = RowKnown
	}
	return true
}

// transaction makes a row of what the bank wrote.
func (pl *plan) transaction(id string, row *parsed.Row, pending bool) *Transaction {
	e := &row.Entry
	t := pl.base
	t.ID, t.Date, t.Amount, t.Currency = id, e.Date, e.Amount, pl.currency(e)
	t.Merchant, t.Text = book.MerchantOf(e), book.TextOf(e)
	t.Counterparty, t.Reference = book.ClipText(
		e.Counterparty,
		NameMax,
	), book.ClipText(
		e.Reference,
		NameMax,
	)
	t.Category, t.BankID = book.ClipText(e.Category, NameMax), book.ClipText(e.BankID, NameMax)
	t.Details = book.Cut(book.PlainLine(e.Details), TextMax)
	if e.ValueDate != e.Date {
		t.ValueDate = e.ValueDate
	}
	if e.AuthorisedDate != e.Date {
		t.AuthorisedDate = e.AuthorisedDate
	}
	t.Foreign, t.ForeignCurrency = e.Foreign, e.ForeignCurrency
	t.Pending, t.Reversal, t.Line = pending, e.Reversal, row.Line
	t.Splits = splitsOf(e)
	pl.rules.apply(&t)
	return &t
}

// splitsOf returns the parts of an entry that some programs write, where they add up to it.
func splitsOf(e *bankfile.Entry) []Split {
	if len(e.Splits) == 0 || len(e.Splits) > SplitsMax {
		return nil
	}
	var sum money.Decimal
	splits := make([]Split, len(e.Splits))
	for i, s := range e.Splits {
		var err error
		if sum, err = sum.Add(s.Amount); err != nil {
			return nil
		}
		splits[i] = Split{Amount: s.Amount, Notes: book.ClipText(s.Category+" "+s.Memo, NameMax)}
	}
	if !sum.Equal(e.Amount) {
		return nil
	}
	return splits
}

// tally counts decisions and makes the digest of them.
type tally struct {
	counts Counts
	sum    stdhash.Hash
}

func newTally() *tally { return &tally{sum: sha256.New()} }

func (t *tally) add(d *planned) {
	if n := t.counts.of(d.Verdict); n != nil {
		*n++
		fmt.Fprintf(t.sum, "%d %s %s\n", d.Line, d.Verdict, d.ID) // It never fails.
	}
}

func (t *tally) digest() string {
	return book.IDEncoding.EncodeToString(t.sum.Sum(nil)[:book.IDHashBytes])
}

// of returns the count of a verdict, nil for what is no row.
func (c *Counts) of(v Verdict) *int {
	switch v {
	case RowNew:
		return &c.New
	case RowKnown:
		return &c.Known
	case RowMerged:
		return &c.Merged
	case RowDeleted:
		return &c.Deleted
	case RowSkipped:
		return &c.Skipped
	case RowRefused:
		return &c.Refused
	}
	return nil
}
