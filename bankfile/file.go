package bankfile

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/charset"
)

// File is an opened file with the result of the first pass. It may be read any number of times,
// also concurrently if the reader allows it.
type File struct {
	Format   Format
	Encoding Encoding
	// EncodingSure is false if the bytes are valid in several encodings. EncodingSample is then a
	// line with letters in doubt, to be shown to a person; Mapping.Encoding takes the answer.
	EncodingSure   bool
	EncodingSample string
	// Statements are in the order of the file. A CSV file has one for each account in its rows, and
	// at least one.
	Statements []Statement
	// Doubts are sentences about the whole file that a person should see.
	Doubts []string

	src   io.ReaderAt
	size  int64
	skip  int64 // The length of the byte order mark.
	set   settings
	table *table // Of a CSV file.
	ids   idTable
}

// Open detects the format of a file and decides everything that is the same for the whole file. It
// reads the file to its end: once for its encoding, and once for the rest.
//
// The error is a *FormatError if the format is unknown, an *UndecidedError with questions, a
// *LimitError, or an error of the reader.
func Open(r io.ReaderAt, size int64, options Options) (*File, error) {
	f, err := open(r, size, options)
	var wrong *FormatError
	if options.Remembered && options.Mapping != nil && errors.As(err, &wrong) {
		options.Mapping = nil
		return open(r, size, options)
	}
	return f, err
}

// open is Open, with a mapping that always applies.
func open(r io.ReaderAt, size int64, options Options) (*File, error) {
	f := &File{src: r, size: size}
	f.set.currency, f.set.exact = options.Currency, options.Exact
	if m := options.Mapping; m != nil {
		if err := m.check(); err != nil {
			return nil, err
		}
		f.set.mapping = *m
		f.set.mapping.Columns = slices.Clone(m.Columns)
	}
	f.set.mapping.Version = MappingVersion
	head := make([]byte, min(size, charset.HeadMax))
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if int64(n) == size && len(bytes.TrimSpace(head)) == 0 {
		return nil, &FormatError{Why: "the file is empty"}
	}
	if why := foreign(head); why != "" {
		return nil, &FormatError{Why: why}
	}
	found, err := charset.Find(r, size, head, charset.Encoding(f.set.mapping.Encoding))
	if err != nil {
		return nil, err
	}
	f.Encoding, f.skip, f.EncodingSure = Encoding(found.Encoding), found.Skip, found.Sure
	f.EncodingSample = found.Sample
	text := charset.Decode(head[min(f.skip, int64(n)):], found.Encoding)
	if f.Format, err = detectFormat(text); err != nil {
		return nil, err
	}
	if options.Remembered && f.Format != CSV && len(f.set.mapping.Columns) > 0 {
		// This is detected before the file is parsed by a mapping that is then ignored.
		return nil, &FormatError{Why: "the mapping is about CSV files"}
	}
	if len(found.Choices) > 0 && (f.Format == CSV || f.Format == QIF) {
		ask := []Question{encodingQuestion(&found)}
		return nil, &UndecidedError{Questions: ask, Mapping: f.set.mapping}
	}
	w := &walk{set: &f.set, first: true, at: -1}
	w.ids.init()
	if f.Format == CSV {
		if f.table, err = findTable(f.text(), &f.set); err != nil {
			return nil, err
		}
	}
	given := f.set.mapping
	if err := f.parse(w); err != nil {
		return nil, err
	}
	f.Statements, f.ids = w.statements, w.ids.repeatedOnly()
	return f.decide(w, &given)
}

// decide decides what is the same for the whole file, or asks. Given is the mapping before the
// first pass.
func (f *File) decide(w *walk, given *Mapping) (*File, error) {
	var questions []Question
	var profile *Profile
	if f.table != nil {
		profile = f.table.profile
	}
	if f.set.mapping.DateOrder == "" {
		order, ask := w.orders.Decide()
		f.set.mapping.DateOrder = Order(order)
		if ask && profile != nil {
			f.set.mapping.DateOrder, ask = profile.Mapping.DateOrder, false
		}
		if ask {
			questions = append(questions, orderQuestion(&w.orders))
		}
	}
	if f.set.mapping.Decimal == "" && f.Format != MT940 && f.Format != CAMT {
		currency := f.set.defaultCurrency()
		for _, s := range w.statements {
			if currency == "" {
				currency = s.Currency
			}
		}
		mark, ask := w.marks.Decide(currency.Digits(), currency.Known())
		if mark != 0 {
			f.set.mapping.Decimal = string(rune(mark))
		}
		switch {
		case ask && f.Format == OFX:
			// OFX has no marks between thousands, so the mark is the decimal mark.
			digits := w.marks.First.Digits
			f.set.mapping.Decimal = string(digits[strings.IndexAny(digits, ".,")])
		case ask && profile != nil:
			f.set.mapping.Decimal = profile.Mapping.Decimal
		case ask && w.hints.Point != w.hints.Comma:
			f.set.mapping.Decimal = "."
			if w.hints.Comma {
				f.set.mapping.Decimal = ","
			}
		case ask:
			questions = append(questions, decimalQuestion(&w.marks))
		case w.marks.Point && w.marks.Comma:
			f.Doubts = append(f.Doubts, "Some amounts have a decimal point and some a decimal "+
				"comma; those that can be read in two ways are refused.")
		}
	}
	if f.table != nil {
		questions = append(questions, f.table.decide()...)
		f.Doubts = append(f.Doubts, f.table.doubts...)
	}
	if len(questions) > 0 {
		return nil, &UndecidedError{Questions: questions, Mapping: f.set.mapping}
	}
	if w.ids.full {
		f.Doubts = append(f.Doubts, "The file has too many ids of the bank, so none is used.")
	}
	if given.Decimal == "" && w.marks.Either && (f.Format == OFX || f.Format == QIF) ||
		given.DateOrder == "" && w.orders.Open && f.Format == QIF {
		// The first pass read balances before it knew the decimal mark or the order of dates.
		again := &walk{set: &f.set, first: true, at: -1}
		again.ids.init()
		if err := f.parse(again); err != nil {
			return nil, err
		}
		f.Statements = again.statements
	}
	if n := len(f.Statements); n > 0 {
		f.Statements[n-1].shorten()
	}
	f.nameBalances()
	return f, nil
}

// nameBalances sets the currency of balances that have none to that of the statement.
func (f *File) nameBalances() {
	for i := range f.Statements {
		s := &f.Statements[i]
		for _, b := range []*Balance{s.Opening, s.Closing} {
			if b == nil || b.Currency != "" {
				continue
			}
			b.Currency = s.Currency
			if b.Currency == "" {
				b.Currency = f.set.defaultCurrency()
			}
		}
	}
}

// encodingQuestion asks for the encoding by a word of the file.
func encodingQuestion(found *charset.Found) Question {
	q := Question{Topic: AskEncoding, Text: "In which encoding are the characters of this file?",
		Examples: []string{cells.Clip(found.Word)}}
	for _, c := range found.Choices {
		q.Choices = append(q.Choices,
			Choice{Value: string(c.Encoding), Meaning: cells.Clip(c.Word)})
	}
	return q
}

// orderQuestion asks for the order of day and month with a date that exists in both orders or, if
// the year may be first, for the order of all three.
func orderQuestion(dates *cells.Orders) Question {
	q := Question{
		Topic:    AskOrder,
		Text:     "Which comes first in the dates of this file, the day or the month?",
		Examples: []string{dates.Example.String()},
	}
	choices := []cells.Order{cells.DayFirst, cells.MonthFirst, cells.YearFirst}
	if dates.YearsFirst() {
		q.Text = "Which comes first in the dates of this file, the day, the month or the year?"
		choices = []cells.Order{cells.YearFirst, cells.DayFirst, cells.MonthFirst}
	}
	for _, o := range choices {
		date, ok := dates.First.Read(o)
		switch {
		case ok:
			q.Choices = append(q.Choices, Choice{Value: string(o), Meaning: date})
		case o != cells.YearFirst && dates.NoDay == dates.NoMonth:
			// Equally many of the other dates exist only in that order.
			q.Choices = append(q.Choices, Choice{Value: string(o), Meaning: "no such date"})
		}
	}
	return q
}

// decimalQuestion asks for the meaning of a mark before three digits.
func decimalQuestion(m *cells.Marks) Question {
	q := Question{
		Topic:    AskDecimal,
		Text:     "Which is the decimal mark in the amounts of this file?",
		Examples: []string{m.Example.String()},
	}
	for _, mark := range []byte{cells.MarkComma, cells.MarkPoint} {
		if n, err := m.First.Read(mark); err == nil {
			q.Choices = append(q.Choices, Choice{Value: string(rune(mark)), Meaning: n.String()})
		}
	}
	return q
}

// Mapping returns everything that was decided for the file, including the answers. Keep it to read
// the next file of the account in the same way.
func (f *File) Mapping() Mapping {
	m := f.set.mapping
	m.Columns = slices.Clone(m.Columns)
	return m
}

// Rows returns the rows of the file, one by one. An error ends them: an error of the reader, a
// *FormatError if the rest of the file cannot be trusted, or a *LimitError. The texts of a Row are
// copies and may be kept.
func (f *File) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		_, err := f.Each(func(row Row) bool { return yield(row, nil) })
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// Each calls take with every row until take returns false, and returns the totals of the
// statements. The error is that of Rows.
func (f *File) Each(take func(Row) bool) ([]Total, error) {
	w := &walk{set: &f.set, at: -1, before: f.Statements, repeated: &f.ids, emit: take,
		totals: make([]Total, len(f.Statements))}
	err := f.parse(w)
	if err == nil {
		err = w.err
	}
	if w.stopped {
		return w.totals, nil
	}
	return w.totals, err
}

// parse reads the file once.
func (f *File) parse(w *walk) error {
	var err error
	switch f.Format {
	case OFX:
		err = parseOFX(f.text(), w)
	case QIF:
		err = parseQIF(f.text(), w)
	case MT940:
		err = parseMT940(f.text(), w)
	case CAMT:
		err = parseCAMT(f.text(), w)
	default:
		err = parseCSV(f.table, f.text(), w)
	}
	if err != nil && !errors.Is(err, errStopped) {
		return err
	}
	w.finish()
	return nil
}

// text returns the file's text as UTF-8, from its beginning.
func (f *File) text() io.Reader {
	section := io.NewSectionReader(f.src, f.skip, f.size-f.skip)
	return charset.Reader(section, charset.Encoding(f.Encoding))
}
