package journal

import (
	"bufio"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Format is a form in which transactions are exported.
type Format string

// The forms.
const (
	// CSV is a file for spreadsheets and for other programs; bankfile reads it.
	CSV Format = "csv"
	// JSON is one array, JSONLines an object on each line. Members are named as the
	// attributes of the table are, and accountId is the account; amounts are strings.
	JSON      Format = "json"
	JSONLines Format = "jsonl"
	// Beancount and Hledger are journals for plain text accounting. Each row is a
	// transaction between its account and one made of its first tag, or of those of its parts;
	// transfers meet in an account of their own, where both sides cancel out.
	Beancount Format = "beancount"
	Hledger   Format = "hledger"
)

// Formats returns all forms.
func Formats() []Format {
	return []Format{
		CSV, JSON, JSONLines, Beancount, Hledger,
	}
}

// ContentType returns the media type of the form.
func (f Format) ContentType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8"
	case JSON:
		return "application/json"
	case JSONLines:
		return "application/jsonl"
	}
	return "text/plain; charset=utf-8"
}

// IsJournal reports whether a form has accounts that can begin with a balance.
func (f Format) IsJournal() bool { return f == Beancount || f == Hledger }

// Holds reports whether a form can hold a row of a day: Beancount reads the years 1700 to 2099.
func (f Format) Holds(d book.Date) bool { return f != Beancount || beancountDate(d) }

// Names are what people call what rows refer to by id.
type Names struct {
	Accounts []Account
	Tags     []Tag
}

// Account is an account by its name.
type Account struct {
	ID, Name string
	Currency money.Currency
}

// Tag is a tag by its text.
type Tag struct{ ID, Text string }

// Writer writes rows in some form.
type Writer interface {
	// Begin is called once before all rows, with what accounts begin with.
	Begin(opening []Opening) error
	Row(t *book.Transaction) error
	End() error
}

// Opening is what an account begins with.
type Opening struct {
	AccountID string
	On        book.Date // Empty where the day is unknown.
	Amount    money.Decimal
	Currency  money.Currency
}

// NewWriter returns a writer of rows in a form. The caller flushes the buffer.
func NewWriter(f Format, w *bufio.Writer, names Names) Writer {
	switch f {
	case CSV:
		return newCSVWriter(w, names)
	case JSON:
		return &jsonWriter{w: w, array: true}
	case JSONLines:
		return &jsonWriter{w: w}
	case Beancount:
		return newJournal(names, &beancount{w: w})
	}
	return newJournal(names, &hledger{w: w})
}

// AccountName returns the name of an account in a journal; empty for other forms.
func AccountName(f Format, names Names, account string) string {
	if !f.IsJournal() {
		return ""
	}
	return NewWriter(f, nil, names).(*journal).accountName(account)
}
