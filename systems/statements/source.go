package statements

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// Questions of an upload in addition to those of bankfile. Only AskStatement is ever open; the
// others may be answered whenever a person sees that something was read wrongly.
const (
	// AskStatement is which of the accounts in a file is meant.
	AskStatement bankfile.Topic = "statement"
	// AskEncoding is how the characters of a file are written; see bankfile.ParseEncoding.
	AskEncoding = bankfile.AskEncoding
	// AskInvert is whether money out is written as positive, "true" or "false".
	AskInvert bankfile.Topic = "invert"
)

// source is the file of an upload, opened as far as it can be.
type source struct {
	file   File
	stored File // The stored rows; nil where the file is parsed.
	// found is what was decided for the whole file; nil where questions about that are open.
	found *parsed.Header
	// rows passes each row of the file to a function until that returns false.
	rows func(func(*parsed.Row) bool) ([]bankfile.Total, error)
	// mapping is how it is read, as far as that is decided.
	mapping   bankfile.Mapping
	questions []bankfile.Question
	// ours is for each statement whether its rows are taken in.
	ours   []bool
	number string // The account of those, as the file writes it.
}

func (s *source) close() {
	_ = s.file.Close() // It was only read.
	if s.stored != nil {
		_ = s.stored.Close()
	}
}

// cancelRows is after how many rows the context is checked.
const cancelRows = 256

// Each passes every row of the file to take, with its number from 0, and returns the totals of the
// statements. The error is the first one of take, or that of the context, or ErrUnreadable, or
// errStoredRows.
func (s *source) Each(
	ctx context.Context, take func(no int, row *parsed.Row) error,
) ([]bankfile.Total, error) {
	no := -1
	var stopped error
	totals, err := s.rows(func(row *parsed.Row) bool {
		if no++; no%cancelRows == 0 {
			stopped = ctx.Err()
		}
		if stopped == nil {
			stopped = take(no, row)
		}
		return stopped == nil
	})
	switch {
	case stopped != nil:
		return nil, stopped
	case err != nil && s.stored != nil:
		return nil, fmt.Errorf("%w: %w", errStoredRows, err)
	case err != nil:
		return nil, unreadable(err)
	}
	return totals, nil
}

// parse lets bankfile find out what the file is. Where questions are open, the source has them and
// the file is nil.
func (s *source) parse(a *Account, u *Upload) (*bankfile.File, error) {
	options := bankfile.Options{Currency: a.Currency, Mapping: a.Mapping, Remembered: true}
	if u.MappingText != "" {
		m, err := bankfile.ParseMapping([]byte(u.MappingText))
		if err != nil {
			return nil, fmt.Errorf("mapping of upload %s: %w", u.ID, err)
		}
		options.Mapping, options.Remembered = &m, false
	}
	bank, err := bankfile.Open(s.file, s.file.Size(), options)
	var ask *bankfile.UndecidedError
	if errors.As(err, &ask) {
		s.mapping, s.questions = ask.Mapping, ask.Questions
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return bank, nil
}

// refuses returns an error where the file cannot be read by a mapping at all, such as one with a
// column that it does not have.
func (s *source) refuses(a Account, m bankfile.Mapping) error {
	_, err := bankfile.Open(s.file, s.file.Size(),
		bankfile.Options{Currency: a.Currency, Mapping: &m})
	var ask *bankfile.UndecidedError
	if err == nil || errors.As(err, &ask) {
		return nil
	}
	return unreadable(err)
}

// unreadableFile returns the problem of a bank file that cannot be read.
func unreadableFile(reason string) *problem.Error {
	return ErrUnreadable.With("format", "bank file").With("reason", reason)
}

// unreadable makes a problem of what is wrong with a file, and leaves other errors as they are.
func unreadable(err error) error {
	var format *bankfile.FormatError
	var limit *bankfile.LimitError
	if errors.As(err, &format) || errors.As(err, &limit) {
		return unreadableFile(err.Error()).Wrap(err)
	}
	return fmt.Errorf("read file: %w", err)
}

// choose decides which statements of the file are the account's, or asks.
func (p uploader) choose(ctx context.Context, s *source, a Account, u Upload) error {
	var names []string // The accounts of the file, as it writes them, each once.
	for _, st := range s.found.Statements {
		if st.Account != "" && !slices.ContainsFunc(names, sameNumber(st.Account)) {
			names = append(names, st.Account)
		}
	}
	s.ours = make([]bool, len(s.found.Statements))
	want := u.Number
	switch {
	case len(names) == 0 || want == "" && a.Number == "" && len(names) == 1:
		if len(names) == 1 {
			s.number = names[0]
		}
		for i := range s.ours {
			s.ours[i] = true
		}
		return nil
	case want == "":
		known, err := p.numbers(ctx, a)
		if err != nil {
			return err
		}
		for _, name := range names {
			if slices.ContainsFunc(known, likeNumber(name)) {
				want = name
				break
			}
		}
	}
	if i := slices.IndexFunc(names, sameNumber(want)); want != "" && i >= 0 {
		s.number = names[i]
		for i, st := range s.found.Statements {
			s.ours[i] = sameNumber(s.number)(st.Account) || st.Account == "" && len(names) == 1
		}
		return nil
	}
	s.questions = append(s.questions, s.whichStatement(names, a))
	return nil
}

// numbers are those under which files have brought rows of an account.
func (p uploader) numbers(ctx context.Context, a Account) ([]string, error) {
	var known []string
	if a.Number != "" {
		known = append(known, a.Number)
	}
	uploads, err := p.latestUploads(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	for _, u := range uploads {
		if u.Status == Processed && u.Number != "" && !slices.Contains(known, u.Number) {
			known = append(known, u.Number)
		}
	}
	return known, nil
}

// choicesMax bounds the accounts that a question lists.
const choicesMax = 50

func (s *source) whichStatement(names []string, a Account) bankfile.Question {
	q := bankfile.Question{Topic: AskStatement,
		Text: "Which of the accounts in the file is " + a.Name + "?"}
	if a.Number != "" {
		q.Text = fmt.Sprintf("No account in the file has the number %s. Which one is %s?",
			a.Number, a.Name)
	}
	for _, name := range names[:min(len(names), choicesMax)] {
		i := slices.IndexFunc(s.found.Statements, func(st bankfile.Statement) bool {
			return sameNumber(name)(st.Account)
		})
		st := s.found.Statements[i]
		meaning := strings.TrimSpace(fmt.Sprintf("%s %s", st.Type, st.Currency))
		if st.Closing != nil {
			meaning = strings.TrimSpace(meaning + " with " + st.Closing.Amount.String() +
				" at its end")
		}
		q.Choices = append(q.Choices, bankfile.Choice{Value: name, Meaning: meaning})
	}
	return q
}

// plainNumber leaves of an account's number what all ways to write it share.
func plainNumber(number string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return -1
	}, number)
}

func sameNumber(number string) func(string) bool {
	return func(other string) bool { return plainNumber(number) == plainNumber(other) }
}

// likeNumberMin is how many digits two numbers must share at their end to be of one account: an
// IBAN ends with the number that other formats give, which has six digits at the least.
const likeNumberMin = 6

func likeNumber(number string) func(string) bool {
	return func(other string) bool {
		a, b := plainNumber(number), plainNumber(other)
		if len(a) > len(b) {
			a, b = b, a
		}
		return a == b || len(a) >= likeNumberMin && strings.HasSuffix(b, a)
	}
}

// Why returns why a row of a statement that is not ours is left out.
func (s *source) Why(statement int) string {
	if name := s.found.Statements[statement].Account; name != "" {
		return "it belongs to account " + name
	}
	return "it names no account"
}

// IsOurs reports whether a row is taken in; one that belongs to no statement is looked at too.
func (s *source) IsOurs(statement int) bool {
	return statement < 0 || statement >= len(s.ours) || s.ours[statement]
}

// IsFinal reports whether the rows of a statement are booked for good.
func (s *source) IsFinal(statement int) bool {
	if statement < 0 || statement >= len(s.found.Statements) {
		return true
	}
	kind := s.found.Statements[statement].Kind
	return kind == bankfile.Final || kind == ""
}

// readAnew reads the file of an upload from its beginning and keeps what it finds: what kind of
// file it is, of which days, with which balances, or the questions to be answered first.
func (p uploader) readAnew(ctx context.Context, a Account, u Upload) (Received, error) {
	src, err := p.open(ctx, a, &u, reading{store: true})
	return p.keepReading(ctx, a, u, src, err)
}

// keepReading keeps what was found in the file of an upload that was opened, or why it could not
// be opened. It closes the source.
func (p uploader) keepReading(
	ctx context.Context, a Account, u Upload, src *source, err error,
) (Received, error) {
	r := Received{Upload: u}
	u.forget()
	if err == nil {
		r.Questions = src.questions
		err = p.describe(ctx, src, &u)
		src.close()
		if errors.Is(err, errStoredRows) {
			u.forget()
			if src, err = p.open(ctx, a, &u, reading{parse: true}); err == nil {
				err = p.describe(ctx, src, &u)
				src.close()
			}
		}
	}
	if errors.Is(err, ErrUnreadable) {
		u.fail(err)
		err = nil
	}
	if err != nil {
		return Received{}, err // The upload stays as it was: its file can be read later.
	}
	if err := p.saveUpload(ctx, &u); err != nil {
		if errors.Is(err, ErrChanged) {
			p.disown(ctx, u) // If it was erased, nothing names its stored rows any more.
		}
		return Received{}, err
	}
	r.Upload = u
	r.Earlier, err = p.earlier(ctx, u)
	return r, err
}

// forget removes what was found in the file.
func (u *Upload) forget() {
	u.Why, u.Doubts, u.Digest, u.Counts = "", nil, "", Counts{}
	u.DateRange, u.Months, u.Rows, u.Corrects = DateRange{}, nil, 0, false
}

// fail returns why the file of an upload cannot be read.
func (u *Upload) fail(err error) { u.Status, u.Why = Failed, book.ClipText(whyOf(err), TextMax) }

// describe fills in the file's own data.
func (p uploader) describe(ctx context.Context, src *source, u *Upload) error {
	u.Status = Uploaded
	if src.found == nil {
		return nil
	}
	u.Format, u.Encoding = src.found.Format, string(src.found.Encoding)
	text, err := json.Marshal(src.mapping)
	if err != nil {
		return fmt.Errorf("mapping of upload %s: %w", u.ID, err)
	}
	if len(src.questions) > 0 {
		return nil
	}
	u.MappingText, u.Number = string(text), src.number
	u.doubt(src.found)
	totals, err := survey(ctx, src, u)
	if err != nil {
		return err
	}
	u.balance(src, totals)
	u.Status = Parsed
	return p.continuity(ctx, u)
}

// doubtsMax and doubtMax bound what an upload repeats of the doubts about its file.
const (
	doubtsMax = 20
	doubtMax  = 500
)

func (u *Upload) doubt(found *parsed.Header) {
	for _, d := range found.Doubts[:min(len(found.Doubts), doubtsMax)] {
		u.Doubts = append(u.Doubts, book.ClipText(d, doubtMax))
	}
	if !found.EncodingSure {
		doubt := fmt.Sprintf("The characters were read as %s; look at %q.",
			found.Encoding, found.EncodingSample)
		u.Doubts = append(u.Doubts, book.ClipText(doubt, doubtMax))
	}
}

// survey reads all rows once, to learn how many there are and of which days.
func survey(ctx context.Context, src *source, u *Upload) ([]bankfile.Total, error) {
	months := map[string]struct{}{}
	tooMany := func(format string, most int) error {
		return unreadableFile(fmt.Sprintf(format, most))
	}
	totals, err := src.Each(ctx, func(_ int, row *parsed.Row) error {
		if row.Outcome == bankfile.Warned {
			return nil
		}
		if u.Rows++; u.Rows > RowsMax {
			return tooMany("it has more than %d rows", RowsMax)
		}
		if row.Outcome != bankfile.Read || !src.IsOurs(row.Statement) {
			return nil
		}
		d := row.Entry.Date
		if u.DateRange.Start == "" || d < u.DateRange.Start {
			u.DateRange.Start = d
		}
		u.DateRange.End = max(u.DateRange.End, d)
		u.Corrects = u.Corrects || row.Entry.Corrects != ""
		months[book.MonthOf(d)] = struct{}{}
		if len(months) > MonthsOfFileMax {
			return tooMany("its rows are of more than %d months", MonthsOfFileMax)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for month := range months {
		u.Months = append(u.Months, month)
	}
	slices.Sort(u.Months)
	return totals, nil
}

// balance takes the balances out of the statements: the opening one of the earliest, the closing
// one of the latest, where all are of one currency.
func (u *Upload) balance(src *source, totals []bankfile.Total) {
	u.Opening, u.Closing, u.Currency = nil, nil, ""
	u.Checked, u.Agrees = true, true
	any := false
	var opening, closing *bankfile.Balance
	currencies := map[money.Currency]bool{}
	for i, st := range src.found.Statements {
		if !src.ours[i] || !src.IsFinal(i) {
			continue
		}
		any = true
		u.Checked = u.Checked && totals[i].Checked
		u.Agrees = u.Agrees && totals[i].Agrees
		for _, b := range []*bankfile.Balance{st.Opening, st.Closing} {
			if b != nil {
				currencies[b.Currency] = true
			}
		}
		if st.Opening != nil && (opening == nil || st.Opening.Date < opening.Date) {
			opening = st.Opening
		}
		if st.Closing != nil && (closing == nil || st.Closing.Date >= closing.Date) {
			closing = st.Closing
		}
	}
	u.Checked = u.Checked && any
	u.Agrees = u.joined(src, totals) && u.Agrees && u.Checked
	if len(currencies) > 1 {
		return
	}
	if opening != nil {
		u.Opening, u.Currency = &opening.Amount, opening.Currency
	}
	if closing != nil {
		u.Closing, u.Currency = &closing.Amount, closing.Currency
	}
}

// joined reports whether the statements of a file follow one another: in each currency, the opening
// balance of the earliest and the rows of all make the closing balance of the latest. If not, a
// doubt names the first one that does not begin where the previous one ended.
func (u *Upload) joined(src *source, totals []bankfile.Total) bool {
	type chain struct {
		of  []bankfile.Statement
		sum money.Decimal
	}
	chains, order, joined := map[money.Currency]*chain{}, []money.Currency(nil), true
	for i, st := range src.found.Statements {
		if !src.ours[i] || !src.IsFinal(i) || st.Opening == nil || st.Closing == nil ||
			!totals[i].Checked {
			continue
		}
		c := chains[st.Opening.Currency]
		if c == nil {
			c = &chain{}
			chains[st.Opening.Currency], order = c, append(order, st.Opening.Currency)
		}
		sum, err := c.sum.Add(totals[i].Sum)
		if err != nil {
			return false
		}
		c.of, c.sum = append(c.of, st), sum
	}
	for _, currency := range order {
		c := chains[currency]
		slices.SortStableFunc(c.of, func(a, b bankfile.Statement) int {
			return cmp.Or(cmp.Compare(a.Opening.Date, b.Opening.Date),
				cmp.Compare(a.Closing.Date, b.Closing.Date))
		})
		want, err := c.of[0].Opening.Amount.Add(c.sum)
		if err == nil && want == c.of[len(c.of)-1].Closing.Amount {
			continue
		}
		for i := 1; i < len(c.of); i++ {
			last, next := c.of[i-1], c.of[i]
			if last.Closing.Amount == next.Opening.Amount {
				continue
			}
			joined = false
			u.Doubts = append(
				u.Doubts,
				book.ClipText(fmt.Sprintf("The statement of line %d begins "+
					"with %s, but the previous one, of line %d, ended with %s: something is missing "+
					"between them, or is there twice.", next.Line, next.Opening.Amount, last.Line,
					last.Closing.Amount), doubtMax),
			)
			break
		}
	}
	return joined
}

// continuity compares the opening balance with what the upload before it closed with: the imported
// one whose days end last before, or on, the first day of this one.
func (p uploader) continuity(ctx context.Context, u *Upload) error {
	u.Continuity, u.After = "", ""
	if u.Opening == nil || u.DateRange.Start == "" {
		return nil
	}
	uploads, err := p.latestUploads(ctx, u.AccountID)
	if err != nil {
		return err
	}
	var last *Upload
	for i := range uploads {
		o := &uploads[i]
		if o.ID == u.ID || o.Status != Processed || o.Closing == nil ||
			o.Currency != u.Currency || o.DateRange.End > u.DateRange.Start ||
			o.DateRange == u.DateRange {
			continue
		}
		if last == nil || o.DateRange.End > last.DateRange.End {
			last = o
		}
	}
	if last == nil {
		return nil
	}
	u.After, u.Continuity = last.ID, Gap
	if last.Closing.Equal(*u.Opening) {
		u.Continuity = Continues
	}
	return nil
}

// whyOf returns the reason that a problem gives, without the words around it.
func whyOf(err error) string {
	var p *problem.Error
	if errors.As(err, &p) && p.Details["reason"] != "" {
		return p.Details["reason"]
	}
	return err.Error()
}

// remember keeps on the account how a file of it was read, and which number the file gives it. What
// a person did not have to give is kept of CSV files alone, for whose sake mappings are: other
// formats define how they are read.
func (p uploader) remember(ctx context.Context, u Upload) (Account, error) {
	a, err := p.Account(ctx, u.AccountID)
	if err != nil {
		return Account{}, err
	}
	var change AccountChange
	ofCSV := a.Mapping != nil && len(a.Mapping.Columns) > 0
	if u.MappingText != "" && u.MappingText != a.MappingText &&
		(u.Format == bankfile.CSV || u.Answered && !ofCSV) {
		m, err := bankfile.ParseMapping([]byte(u.MappingText))
		if err != nil {
			return Account{}, fmt.Errorf("mapping of upload %s: %w", u.ID, err)
		}
		change.Mapping = &m
	}
	if number := book.ClipText(u.Number, NameMax); a.Number == "" && number != "" {
		change.Number = &number
	}
	if change == (AccountChange{}) {
		return a, nil
	}
	return p.ChangeAccount(ctx, a.ID, change)
}
