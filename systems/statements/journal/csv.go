package journal

import (
	"bufio"
	"cmp"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/sheet"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// csvHeader names the columns. Those that bankfile knows have names that it knows them by.
var csvHeader = []string{
	"Date", "Amount", "Currency", "Payee", "Description", "Account", "Account title", "Value date",
	"Reference", "Counterparty account", "Category", "Original amount", "Original currency",
	"Transaction ID", "Status", "Tags", "Personal remarks", "Transfer", "Parts", "Key",
	"Other columns",
}

// csvWriter writes rows as CSV by RFC 4180, in UTF-8.
type csvWriter struct {
	w        *sheet.Writer
	accounts map[string]string
}

func newCSVWriter(w *bufio.Writer, names Names) *csvWriter {
	c := &csvWriter{w: sheet.NewWriter(w), accounts: map[string]string{}}
	c.w.UseCRLF()
	for _, a := range names.Accounts {
		c.accounts[a.ID] = a.Name
	}
	return c
}

func (c *csvWriter) Begin([]Opening) error { return c.w.Write(csvHeader) }

func (c *csvWriter) Row(t *book.Transaction) error {
	foreign, status, transfer := "", "Booked", ""
	if t.ForeignCurrency != "" {
		foreign = t.Foreign.Text(t.ForeignCurrency.Digits())
	}
	if t.Pending {
		status = "Pending"
	}
	if t.Transfer {
		transfer = "yes"
	}
	return c.w.Write([]string{
		string(t.Date), t.Amount.Text(t.Currency.Digits()), string(t.Currency),
		t.Merchant, t.Text, t.AccountID, c.accounts[t.AccountID],
		string(t.ValueDate), t.Reference, t.Counterparty, t.Category,
		foreign, string(t.ForeignCurrency), t.BankID, status,
		strings.Join(t.Tags, ", "), t.Notes, transfer,
		partsText(t.Splits, t.Currency), t.ID, t.Details,
	})
}

func (c *csvWriter) End() error {
	c.w.Flush()
	return c.w.Error()
}

// partsText writes the parts of a divided row: "Food: -40.00; Home, Garden: -20.00 (for Aroha)".
func partsText(parts []book.Split, currency money.Currency) string {
	var out []string
	for _, part := range parts {
		text := cmp.Or(strings.Join(part.Tags, ", "), nameUntagged) + ": " +
			part.Amount.Text(currency.Digits())
		if part.Notes != "" {
			text += " (" + part.Notes + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
