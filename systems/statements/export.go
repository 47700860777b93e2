package statements

import (
	"context"
	"io"

	"github.com/exchequer-dev/exchequer/money"
)

// ExportFormat is a form in which transactions are given out.
type ExportFormat string

// The forms.
const (
	// ExportCSV is a file for spreadsheets and for other programs; bankfile reads it.
	ExportCSV ExportFormat = "csv"
	// ExportJSON is one array, ExportJSONLines an object on each line. Members are named as the
	// attributes of the table are; amounts are strings.
	ExportJSON      ExportFormat = "json"
	ExportJSONLines ExportFormat = "jsonl"
	// ExportBeancount and ExportHledger are journals for plain text accounting.
	ExportBeancount ExportFormat = "beancount"
	ExportHledger   ExportFormat = "hledger"
)

// ExportFormats returns all forms.
func ExportFormats() []ExportFormat {
	return []ExportFormat{
		ExportCSV, ExportJSON, ExportJSONLines, ExportBeancount, ExportHledger,
	}
}

// ContentType returns the media type of the form.
func (f ExportFormat) ContentType() string { return "" }

// Export asks for transactions to be given out.
type Export struct {
	Format ExportFormat
	// Accounts are the accounts to give out; none means all.
	Accounts []string
	// From and To are days, both included; an end left empty is open. There is no limit of months.
	From, To Date
	// Opening begins each account of a journal with what its earlier rows add up to, and Openings,
	// by account and in its currency, with what was there before all rows.
	Opening  bool
	Openings map[string]money.Decimal
}

// Exported tells what was given out.
type Exported struct {
	Rows int
}

// Export writes transactions in the order of their days; memory does not grow with their number.
// The error is ErrInvalid, ErrInvalidRange, ErrNoAccount or that of the writer; what was written
// until then is no whole file.
func (p *Person) Export(ctx context.Context, w io.Writer, e Export) (Exported, error) {
	return Exported{}, errUnbuilt
}
