package bulk

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// The columns of a file, and the members of a line of JSON, by their names.
const (
	colKey         = "key"
	colType        = "type"
	colFrom        = "from"
	colTo          = "to"
	colAmount      = "amount"
	colCurrency    = "currency"
	colMerchant    = "merchant"
	colDescription = "description"
	colMetadata    = "metadata" // JSON only
	colLegs        = "legs"     // JSON only
	colAccount     = "account"  // of payments to schedule, as are those below
	colPayee       = "payee"
	colAt          = "at"
	colData        = "data"
)

// form defines the rows of a file.
type form struct {
	// columns are the columns of CSV and JSON, and needs the required ones.
	columns, needs []string
	// row interprets the texts of a row.
	row func(*fields) Row
}

// postings is the form of files of transactions, orders that of files of payments to schedule.
var (
	postings = form{
		columns: []string{
			colKey, colType, colFrom, colTo, colAmount, colCurrency, colMerchant, colDescription,
		},
		needs: []string{colAmount, colCurrency},
		row:   (*fields).row,
	}
	orders = form{
		columns: []string{
			colKey, colAccount, colPayee, colMerchant, colAmount, colCurrency, colAt,
			colDescription, colData,
		},
		needs: []string{colAccount, colAmount, colCurrency, colAt},
		row:   (*fields).order,
	}
)

// settlement represents the account of the posting's merchant in a leg.
const settlement client.AccountID = "@merchant"

// The system accounts on the other side of deposits and withdrawals.
const (
	deposits    client.AccountID = "@deposits"
	withdrawals client.AccountID = "@withdrawals"
)

// Row is a row of a file.
type Row struct {
	// Line is the line on which the row begins, from 1.
	Line int
	// Posting is the request of the row, with its legs and its key. It is incomplete if Wrong is
	// set.
	Posting client.Posting
	// Payment is the request of a row of payments to schedule, instead of Posting.
	Payment client.NewPayment
	// Wrong is the reason why the row cannot be sent, or nil.
	Wrong *problem.Error
	key   string
	kept  []string // names of metadata that are columns of the file
}

// Key returns the row's idempotency key: its own, or one that is derived from its content.
func (r Row) Key() string { return r.key }

// withKey sets the key of the row.
func (r Row) withKey(key string) Row {
	r.key, r.Posting.IdempotencyKey, r.Payment.IdempotencyKey = key, key, key
	return r
}

// keyless reports whether the row needs a key that is derived from its content.
func (r Row) keyless() bool { return r.Wrong == nil && r.key == "" }

// fields are the texts of a row by column, before they are interpreted.
type fields struct {
	form                                                      *form
	line                                                      int
	key, kind, from, to, amount, currency, merchant, describe string
	due, data                                                 string
	metadata                                                  map[string]string
	kept                                                      []string
	legs                                                      []legFields // instead of from and to
}

type legFields struct{ account, kind, amount, currency string }

// named returns the column of a name in the file. If another column has the keys, the name "key"
// has no meaning.
func (f *File) named(name string) string {
	switch {
	case f.keyColumn == "":
	case name == f.keyColumn:
		return colKey
	case name == colKey:
		return ""
	}
	return name
}

// at returns where the text of a column is stored, or nil for an unknown column.
func (f *fields) at(column string) *string {
	if !slices.Contains(f.form.columns, column) {
		return nil
	}
	switch column {
	case colKey:
		return &f.key
	case colType:
		return &f.kind
	case colFrom, colAccount:
		return &f.from
	case colTo, colPayee:
		return &f.to
	case colAt:
		return &f.due
	case colData:
		return &f.data
	case colAmount:
		return &f.amount
	case colCurrency:
		return &f.currency
	case colMerchant:
		return &f.merchant
	case colDescription:
		return &f.describe
	}
	return nil
}

// checkKey refuses a key that is invalid in a header, because it would stop the import at this row.
func (f *fields) checkKey() error {
	if strings.ContainsFunc(f.key, unicode.IsControl) {
		return fmt.Errorf("has the key %.40q, with control characters", f.key)
	}
	return nil
}

// row interprets the texts.
func (f *fields) row() Row {
	row := Row{Line: f.line, Posting: client.Posting{
		Type:       client.TransactionType(f.kind),
		MerchantID: client.MerchantID(f.merchant), Description: f.describe, Metadata: f.metadata,
	}, kept: f.kept}.withKey(f.key)
	if err := f.checkKey(); err != nil {
		return row.malformed(err)
	}
	if f.kind == "" {
		row.Posting.Type = f.impliedType()
	}
	legs := f.legs
	if legs == nil {
		from, to := f.sides()
		for _, side := range []struct {
			column  string
			account client.AccountID
		}{{colFrom, from}, {colTo, to}} {
			if side.account == "" {
				return row.malformed(fmt.Errorf("names no account in %q", side.column))
			}
		}
		legs = []legFields{
			{string(from), string(client.Debit), f.amount, f.currency},
			{string(to), string(client.Credit), f.amount, f.currency},
		}
	}
	for _, l := range legs {
		amount, err := parseAmount(l.amount, l.currency)
		if err != nil {
			return row.malformed(err)
		}
		row.Posting.Legs = append(row.Posting.Legs, client.PostingLeg{
			AccountID: client.AccountID(l.account), Type: client.LegType(l.kind), Amount: amount,
		})
	}
	return row
}

func (f *fields) impliedType() client.TransactionType {
	if f.merchant != "" {
		return client.Payment
	}
	return client.Transfer
}

// sides returns the accounts that are debited and credited. An empty side is derived from the
// others: that of a deposit or withdrawal is a system account, and that of a merchant its
// settlement account.
func (f *fields) sides() (from, to client.AccountID) {
	from, to = client.AccountID(f.from), client.AccountID(f.to)
	kind := client.TransactionType(f.kind)
	if from == "" && kind == client.Deposit {
		from = deposits
	}
	switch {
	case to != "":
	case f.merchant != "":
		to = settlement
	case kind == client.Withdrawal:
		to = withdrawals
	}
	return from, to
}

func (r Row) malformed(err error) Row {
	r.Wrong = problem.ErrRowInvalid.With("wrong", err)
	return r
}

// parseAmount parses an amount exactly as it is written.
func parseAmount(text, code string) (money.Amount, error) {
	currency, err := money.ParseCurrency(code)
	switch {
	case text == "":
		return money.Amount{}, errors.New("has no amount")
	case code == "":
		return money.Amount{}, errors.New("has no currency")
	case err != nil:
		return money.Amount{}, fmt.Errorf("cannot be read: %w", err)
	}
	amount, err := money.Parse(text, currency)
	if err != nil {
		return amount, fmt.Errorf("cannot be read: %w", err)
	}
	return amount, nil
}

// header maps the columns of a file to their meaning.
type header struct {
	file    *File
	form    *form
	names   []string
	unused  []string
	keep    map[string]bool // columns that become metadata
	columns map[string]bool
}

// parseHeader parses the first row of a file.
func parseHeader(file *File, record []string, line int) (*header, error) {
	form, keep := file.form, file.keep
	h := &header{
		file:    file,
		form:    form,
		keep:    make(map[string]bool),
		columns: make(map[string]bool),
	}
	for _, name := range keep {
		h.keep[strings.ToLower(name)] = true
	}
	file.keyColumn = strings.ToLower(file.keyColumn)
	for _, name := range record {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && h.columns[name] {
			return nil, &FileError{
				Line: line, Wrong: fmt.Sprintf("The column %q is there twice", name),
				Try: "Leave one of them out",
			}
		}
		h.columns[name] = true
		h.names = append(h.names, name)
		if (&fields{form: form}).at(file.named(name)) == nil && !h.keep[name] && name != "" {
			h.unused = append(h.unused, name)
		}
	}
	for _, need := range form.needs {
		if !h.columns[need] {
			return nil, &FileError{
				Line: line, Wrong: fmt.Sprintf("The header has no column %q", need),
				Try: headerHint(form),
			}
		}
	}
	if key := file.keyColumn; key != "" && !h.columns[key] {
		return nil, &FileError{
			Line: line, Wrong: fmt.Sprintf("There is no column %q with keys", key),
			Try: "Choose among: " + strings.Join(h.names, ", "),
		}
	}
	for name := range h.keep {
		if !h.columns[name] {
			return nil, &FileError{
				Line: line, Wrong: fmt.Sprintf("There is no column %q to keep", name),
				Try: "Choose among: " + strings.Join(h.names, ", "),
			}
		}
	}
	return h, nil
}

// headerHint returns the first line that a file of a form needs.
func headerHint(form *form) string {
	return "Begin the file with a line of column names: " + strings.Join(form.columns, ",")
}

// fields assigns the cells of a record to their columns. Spaces around a cell are removed, except
// in texts of people.
func (h *header) fields(record []string, line int) (*fields, error) {
	if err := checkWidth(record, h.names); err != nil {
		return nil, err
	}
	f := &fields{form: h.form, line: line}
	for i, cell := range record {
		name := h.names[i]
		if h.keep[name] && cell != "" {
			if f.metadata == nil {
				f.metadata = make(map[string]string)
			}
			f.metadata[name], f.kept = cell, append(f.kept, name)
		}
		name = h.file.named(name)
		if at := f.at(name); at != nil {
			if name != colDescription {
				cell = strings.TrimSpace(cell)
			}
			*at = cell
		}
	}
	return f, nil
}

// blank reports whether all cells of a record are empty, because spreadsheets end files with rows
// of separators.
func blank(record []string) bool {
	for _, cell := range record {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}
