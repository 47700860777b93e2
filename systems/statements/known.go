package statements

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// hash is what an id or a key of a row is made of, in its shortest form.
type hash [book.IDHashBytes]byte

func (h hash) none() bool { return h == hash{} }

// hashOf reads a hash in the form in which ids and entries have it; without one it is zero.
func hashOf(text string) (h hash) {
	if len(text) != book.IDEncoding.EncodedLen(book.IDHashBytes) {
		return hash{}
	}
	if _, err := book.IDEncoding.Decode(h[:], []byte(text)); err != nil {
		return hash{}
	}
	return h
}

// knownRow is what an import holds of an entry, about 150 bytes with what points to it.
type knownRow struct {
	id      hash
	bank    hash
	content hash
	month   int32 // Of the id, as year * 12 + month - 1.
	day     int32 // See dayNumber.
	amount  uint64
	payee   uint64
	version uint64
	of      int32 // The row that a merged one became part of; -1 where it is not here.
	state   rowState
	flags   rowFlags
}

type rowState uint8

const (
	rowUndone rowState = iota // In the order of precedence, the least first.
	rowDeleted
	rowLive
	rowMerged
)

var rowStates = map[EntryState]rowState{
	Undone: rowUndone, Deleted: rowDeleted, Live: rowLive, Merged: rowMerged,
}

type rowFlags uint8

const (
	rowMine    rowFlags = 1 << iota // The same upload brought it.
	rowPending                      // It is not booked.
	rowTyped                        // A person typed it in.
	rowBankID                       // It is known by an id of the bank.
	rowInFile                       // That id is in the file.
	rowTaken                        // A row of the file is this one.
)

func (r *knownRow) is(f rowFlags) bool { return r.flags&f != 0 }

func flagIf(set bool, f rowFlags) rowFlags {
	if set {
		return f
	}
	return 0
}

// candidate is a row that a booked one of the file may turn out to be: one that is pending, or
// was typed in.
type candidate struct {
	row      int32
	day      int32
	amount   money.Decimal
	currency money.Currency
}

// known is what is remembered of the rows of the months around those of a file.
type known struct {
	rows       []knownRow
	byBank     map[hash]int32
	byContent  map[hash]int32
	candidates []candidate
	pending    map[int32]candidate // Of all that were pending, with any outcome.
}

// known reads the entries of the months of a file and of those before and after them, for rows are
// looked for some days around their own. With them come rows of other months that a person typed in
// for those days by correcting a date, and what rows of these months became part of.
func (p uploader) known(ctx context.Context, u Upload) (*known, error) {
	k := &known{byBank: map[hash]int32{}, byContent: map[hash]int32{},
		pending: map[int32]candidate{}}
	var merged []int32
	var of []string // Ids of the transactions that those rows became part of.
	months := monthsAround(u.Months)
	for _, month := range months {
		in := OfMonth{p.id, u.AccountID, month}
		for e, err := range modelOf(p.Person).entriesOf.All(ctx, p.store(), in) {
			if err != nil {
				return nil, failed("read entries", err)
			}
			if err := k.room(); err != nil {
				return nil, err
			}
			if k.add(&e, u.ID) && e.State == Merged {
				merged, of = append(merged, int32(len(k.rows)-1)), append(of, e.Of)
			}
		}
	}
	if err := p.addTyped(ctx, k, u, months); err != nil {
		return nil, err
	}
	far := map[string]bool{}
	for _, id := range of {
		if far[id] || !isFar(id, months) {
			continue
		}
		far[id] = true
		e, found, err := p.rows().entry(ctx, u.AccountID, id)
		if err = errors.Join(err, k.room()); err != nil {
			return nil, err
		}
		if found {
			k.add(&e, u.ID)
		}
	}
	k.resolve(merged, of)
	return k, nil
}

// isFar reports whether the entry of a transaction is in none of some months, which are in
// order.
func isFar(id string, months []string) bool {
	month := book.MonthOfID(id)
	_, near := slices.BinarySearch(months, month)
	return !near && month != book.MonthNone
}

// addTyped adds the rows that a person typed in for the days of a file, or some days before or
// after them, and whose ids are of other months: a date that was wrong at first is in the id
// for good.
func (p uploader) addTyped(ctx context.Context, k *known, u Upload, months []string) error {
	first, last := addDays(u.DateRange.Start, -typedDays), addDays(u.DateRange.End, typedDays)
	read := func(ctx context.Context, month string) ([]Entry, error) {
		in := OfDays{p.id, u.AccountID, max(first, firstDay(month)), min(last, lastDay(month))}
		var typed []Entry
		if in.From > in.To || !book.ValidDate(in.From) || !book.ValidDate(in.To) {
			return nil, nil
		}
		for t, err := range modelOf(p.Person).days.All(ctx, p.store(), in) {
			if err != nil {
				return nil, failed("read transactions", err)
			}
			if t.Source == FromPerson && isFar(t.ID, months) {
				typed = append(typed, *entryOf(&t))
			}
		}
		return typed, nil
	}
	return eachMonth(ctx, months, read, func(_ string, typed []Entry) error {
		for i := range typed {
			if err := k.room(); err != nil {
				return err
			}
			k.add(&typed[i], u.ID)
		}
		return nil
	})
}

// room demands that one more row may be known.
func (k *known) room() error {
	if len(k.rows) < KnownMax {
		return nil
	}
	return ErrTooMany.With("what", "transactions in the months of the file").
		With("limit", KnownMax)
}

// add takes an entry in. Ids that were not made here are left out: no row of a file has one.
func (k *known) add(e *Entry, upload string) bool {
	at := int32(len(k.rows))
	r := knownRow{of: -1, day: dayNumber(e.Date), version: e.Version, state: rowStates[e.State],
		amount: amountHash(e.Amount, e.Currency), payee: textHash(payeeKey(e.Payee))}
	if r.id = hashOf(e.ID[strings.LastIndexByte(e.ID, '-')+1:]); r.id.none() {
		return false
	}
	r.month = monthNumber(book.MonthOfID(e.ID))
	r.bank, r.content = hashOf(e.BankKey), hashOf(e.Content)
	r.flags = flagIf(e.UploadID != "" && e.UploadID == upload, rowMine) |
		flagIf(e.Pending, rowPending) | flagIf(e.Source == FromPerson, rowTyped) |
		flagIf(!r.bank.none(), rowBankID)
	k.rows = append(k.rows, r)
	k.point(k.byBank, r.bank, at)
	k.point(k.byContent, r.content, at)
	c := candidate{row: at, day: r.day, amount: e.Amount, currency: e.Currency}
	if r.state == rowLive && (e.Pending || e.Source == FromPerson) && !r.is(rowMine) {
		k.candidates = append(k.candidates, c)
	}
	if e.Pending {
		k.pending[at] = c
	}
	return true
}

// point makes a key lead to a row. Where two rows have one key, as a booked row and the pending one
// that it was found to be, it leads to what the same upload brought, else to the row with the most
// details.
func (k *known) point(to map[hash]int32, key hash, at int32) {
	if key.none() {
		return
	}
	before, taken := to[key]
	if !taken || k.rank(at) > k.rank(before) ||
		k.rank(at) == k.rank(before) && slices.Compare(k.rows[at].id[:], k.rows[before].id[:]) < 0 {
		to[key] = at
	}
}

func (k *known) rank(at int32) int {
	r := &k.rows[at]
	rank := int(r.state)
	if r.is(rowMine) && r.state >= rowLive {
		rank += int(rowMerged) + 1
	}
	return rank
}

// resolve finds the rows that merged ones became part of.
func (k *known) resolve(merged []int32, of []string) {
	if len(merged) == 0 {
		return
	}
	type place struct {
		id    hash
		month int32
	}
	at := func(id string) place {
		return place{hashOf(id[strings.LastIndexByte(id, '-')+1:]), monthNumber(book.MonthOfID(id))}
	}
	wanted := make(map[place]int32, len(of))
	for _, id := range of {
		wanted[at(id)] = -1
	}
	for i := range k.rows {
		here := place{k.rows[i].id, k.rows[i].month}
		if _, ok := wanted[here]; ok {
			wanted[here] = int32(i)
		}
	}
	for i, row := range merged {
		found := wanted[at(of[i])]
		k.rows[row].of = found
		if found >= 0 && k.rows[row].is(rowMine) {
			k.rows[found].flags |= rowTaken // A row of the file is it, as it was before.
		}
	}
}

// idOf returns the id of a row.
func (k *known) idOf(at int32) string {
	r := &k.rows[at]
	month := time.Date(int(r.month/12), time.Month(r.month%12+1), 1, 0, 0, 0, 0, time.UTC)
	return book.IDPrefix + month.Format("200601") + "-" + book.IDEncoding.EncodeToString(r.id[:])
}

// dateOf returns the day of a row.
func (k *known) dateOf(at int32) string {
	day := time.Unix(int64(k.rows[at].day)*secondsOfDay, 0).UTC()
	return day.Format(time.DateOnly)
}

const secondsOfDay = 24 * 60 * 60

func monthNumber(month string) int32 {
	t, err := time.Parse("2006-01", month)
	if err != nil {
		return 0
	}
	return int32(t.Year()*12 + int(t.Month()) - 1)
}

// dayNumber counts days, so that two can be compared; text that is no day is day 0.
func dayNumber(d Date) int32 {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return 0
	}
	return int32(t.Unix() / secondsOfDay)
}

// addDays returns the day some days later; of text that is no day, that text.
func addDays(d Date, days int) Date {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return d
	}
	return Date(t.AddDate(0, 0, days).Format(time.DateOnly))
}

// plainWords are words that banks put before names, so that they distinguish no names.
var plainWords = []string{"the", "pos", "card", "visa", "debit", "credit", "eftpos", "purchase",
	"payment", "pending", "mastercard", "contactless", "online", "from", "and"}

// payeeKey returns the word by which two names are compared: the first that distinguishes a name,
// without the marks and numbers that banks change between the pending and the booked row.
func payeeKey(payee string) string {
	for word := range strings.FieldsFuncSeq(payee, notInWord) {
		if len(word) >= 3 && !slices.Contains(plainWords, word) {
			return word
		}
	}
	return ""
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '&' }

// amountHash and textHash make what is compared small; 0 is the empty text.
func amountHash(amount money.Decimal, currency money.Currency) uint64 {
	return textHash(string(currency) + amount.String())
}

func textHash(text string) uint64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // It never fails.
	return h.Sum64()
}
