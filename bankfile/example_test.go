package bankfile_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// A file is opened, which decides what holds for the whole of it, and then read row by row.
func ExampleOpen() {
	text := "Datum;Name;Betrag\n31.01.2026;Corner Dairy;-1.234,56\nEnde der Liste\n"
	file, err := bankfile.Open(strings.NewReader(text), int64(len(text)), bankfile.Options{
		Currency: "EUR",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range file.Rows() {
		switch {
		case err != nil:
			fmt.Println(err)
		case row.Outcome == bankfile.Read:
			fmt.Println(row.Entry.Date, row.Entry.Amount, row.Entry.Currency, row.Entry.Name)
		default:
			fmt.Println(row.Outcome, "line", row.Line, "-", row.Why)
		}
	}
	// Output:
	// 2026-01-31 -1234.56 EUR Corner Dairy
	// skipped line 3 - a line of text without date and amount
}

// What nothing in the file decides is asked, and the answer is kept in the mapping.
func ExampleUndecidedError() {
	text := "Date,Name,Amount\n03/07/2026,Corner Dairy,-5.50\n"
	_, err := bankfile.Open(strings.NewReader(text), int64(len(text)), bankfile.Options{})
	var ask *bankfile.UndecidedError
	if !errors.As(err, &ask) {
		fmt.Println("nothing was asked")
		return
	}
	for _, q := range ask.Questions {
		fmt.Println(q.Text, q.Examples)
		for _, c := range q.Choices {
			fmt.Println(c.Value, "makes it", c.Meaning)
		}
		if err := ask.Mapping.Answer(q.Topic, string(bankfile.DayFirst)); err != nil {
			fmt.Println(err)
		}
	}
	file, err := bankfile.Open(strings.NewReader(text), int64(len(text)), bankfile.Options{
		Mapping: &ask.Mapping,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row := range file.Rows() {
		fmt.Println(row.Entry.Date, row.Entry.Amount)
	}
	// Output:
	// Which comes first in the dates of this file, the day or the month? [line 2: "03/07/2026"]
	// day-month-year makes it 2026-07-03
	// month-day-year makes it 2026-03-07
	// 2026-07-03 -5.5
}

// A file of a known bank is read without a question, although its date could mean two days.
func ExampleProfiles() {
	const text = "Date,Amount,Other Party,Description,Reference,Particulars,Analysis Code\n" +
		"03/09/2026,-15.99,Music Co,DEBIT CARD PURCHASE,,,\n"
	file, err := bankfile.Open(strings.NewReader(text), int64(len(text)), bankfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Mapping().Name)
	for row, err := range file.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row.Entry.Date, row.Entry.Amount, row.Entry.Currency, row.Entry.Name)
	}
	// Output:
	// Westpac New Zealand, account
	// 2026-09-03 -15.99 NZD Music Co
}
