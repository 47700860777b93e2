package bankfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// reading is all that a file gave.
type reading struct {
	file   *bankfile.File
	rows   []bankfile.Row
	totals []bankfile.Total
}

// read opens a text and reads all of its rows.
func read(text string, options bankfile.Options) (reading, error) {
	file, err := bankfile.Open(strings.NewReader(text), int64(len(text)), options)
	if err != nil {
		return reading{}, err
	}
	r := reading{file: file}
	r.totals, err = file.Each(func(row bankfile.Row) bool {
		r.rows = append(r.rows, row)
		return true
	})
	return r, err
}

// mustRead is read for texts that nothing is wrong with.
func mustRead(t *testing.T, text string) reading {
	t.Helper()
	r, err := read(text, bankfile.Options{})
	if err != nil {
		t.Fatalf("read: %v\n%s", err, text)
	}
	return r
}

// entries returns the rows that are entries.
func (r reading) entries() []bankfile.Entry {
	var all []bankfile.Entry
	for _, row := range r.rows {
		if row.Outcome == bankfile.Read {
			all = append(all, row.Entry)
		}
	}
	return all
}

// brief writes each row as "date amount currency" or as its outcome, line and reason.
func (r reading) brief() []string {
	var all []string
	for _, row := range r.rows {
		if row.Outcome != bankfile.Read {
			all = append(all, fmt.Sprintf("%s line %d: %s", row.Outcome, row.Line, row.Why))
			continue
		}
		e := row.Entry
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Date, e.Amount, e.Currency)))
	}
	return all
}

// warned tells whether any row has a warning of this code.
func (r reading) warned(code bankfile.WarningCode) bool {
	for _, row := range r.rows {
		for _, w := range row.Warnings {
			if w.Code == code {
				return true
			}
		}
	}
	return false
}

// asked returns the topics of an UndecidedError.
func asked(err error) []bankfile.Topic {
	var undecided *bankfile.UndecidedError
	if !errors.As(err, &undecided) {
		return nil
	}
	var topics []bankfile.Topic
	for _, q := range undecided.Questions {
		topics = append(topics, q.Topic)
	}
	return topics
}

// qif makes a file of records with a date and an amount each.
func qif(pairs ...string) string {
	var b strings.Builder
	b.WriteString("!Type:Bank\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, "D%s\nT%s\nPShop\n^\n", pairs[i], pairs[i+1])
	}
	return b.String()
}
