package match

import (
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

var rowStates = map[book.EntryState]rowState{
	book.Undone: rowUndone, book.Deleted: rowDeleted, book.Live: rowLive, book.Merged: rowMerged,
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

// KnownRows are what is remembered of the rows of the months around those of a file.
type KnownRows struct {
	rows       []knownRow
	byBank     map[hash]int32
	byContent  map[hash]int32
	candidates []candidate
	pending    map[int32]candidate // Of all that were pending, with any outcome.
}

// NewKnownRows returns an empty set of rows.
func NewKnownRows() *KnownRows {
	return &KnownRows{byBank: map[hash]int32{}, byContent: map[hash]int32{},
		pending: map[int32]candidate{}}
}

// Len returns the number of rows.
func (k *KnownRows) Len() int { return len(k.rows) }

// Add adds an entry, and reports whether it did. An entry whose id was not made here is left out,
// because no row of a file has such an id.
func (k *KnownRows) Add(e *book.Entry, upload string) bool {
	at := int32(len(k.rows))
	r := knownRow{of: -1, day: dayNumber(e.Date), version: e.Version, state: rowStates[e.State],
		amount: amountHash(e.Amount, e.Currency), payee: textHash(payeeKey(e.Payee))}
	if r.id = hashOf(e.ID[strings.LastIndexByte(e.ID, '-')+1:]); r.id.none() {
		return false
	}
	r.month = monthNumber(book.MonthOfID(e.ID))
	r.bank, r.content = hashOf(e.BankKey), hashOf(e.Content)
	r.flags = flagIf(e.UploadID != "" && e.UploadID == upload, rowMine) |
		flagIf(e.Pending, rowPending) | flagIf(e.Source == book.FromPerson, rowTyped) |
		flagIf(!r.bank.none(), rowBankID)
	k.rows = append(k.rows, r)
	k.point(k.byBank, r.bank, at)
	k.point(k.byContent, r.content, at)
	c := candidate{row: at, day: r.day, amount: e.Amount, currency: e.Currency}
	if r.state == rowLive && (e.Pending || e.Source == book.FromPerson) && !r.is(rowMine) {
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
func (k *KnownRows) point(to map[hash]int32, key hash, at int32) {
	if key.none() {
		return
	}
	before, taken := to[key]
	if !taken || k.rank(at) > k.rank(before) ||
		k.rank(at) == k.rank(before) && slices.Compare(k.rows[at].id[:], k.rows[before].id[:]) < 0 {
		to[key] = at
	}
}

func (k *KnownRows) rank(at int32) int {
	r := &k.rows[at]
	rank := int(r.state)
	if r.is(rowMine) && r.state >= rowLive {
		rank += int(rowMerged) + 1
	}
	return rank
}

// Resolve finds the rows that merged ones became part of.
func (k *KnownRows) Resolve(merged []int32, of []string) {
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
func (k *KnownRows) idOf(at int32) string {
	r := &k.rows[at]
	month := time.Date(int(r.month/12), time.Month(r.month%12+1), 1, 0, 0, 0, 0, time.UTC)
	return book.IDPrefix + month.Format("200601") + "-" + book.IDEncoding.EncodeToString(r.id[:])
}

// dateOf returns the day of a row.
func (k *KnownRows) dateOf(at int32) string {
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
func dayNumber(d book.Date) int32 {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return 0
	}
	return int32(t.Unix() / secondsOfDay)
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
