package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// columns of the payments file. The column at is information for people; nothing depends on it.
var columns = []string{
	"key", "type", "from", "to", "amount", "currency", "merchant", "description", "at",
}

// Names of the ledger's own accounts that money comes from and goes to.
const (
	deposits    = "@deposits"
	withdrawals = "@withdrawals"
)

// Places of columns that the mess is made in.
const (
	keyColumn         = 0
	fromColumn        = 2
	toColumn          = 3
	amountColumn      = 4
	currencyColumn    = 5
	descriptionColumn = 7
)

var errNoHeader = errors.New("the first line does not name the columns")

// row is one payment as it is written. Every field is text, since it may be anything.
type row struct {
	key, kind, from, to, amount, currency, merchant, description, at string
}

func (r row) fields() []string {
	return []string{
		r.key, r.kind, r.from, r.to, r.amount, r.currency, r.merchant, r.description, r.at,
	}
}

// line is a line of the file. The lines are sorted by place: ordinary rows have the places 0, 1, 2
// and so on, and inserted ones have fractions.
type line struct {
	place  float64
	fields []string // none at all is a blank line
	crlf   bool     // ends like a file from Windows
	// meant is what the line was made for. The simulation does not see it.
	meant outcome
}

// arrange sorts lines by place.
func arrange(lines []line) []line {
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.place, b.place) })
	return lines
}

func paymentsCSV(lines []line) []byte {
	out := bytes.NewBuffer(table([][]string{columns}))
	for _, l := range lines {
		text := []byte("\n")
		if len(l.fields) > 0 {
			text = table([][]string{l.fields})
		}
		if l.crlf {
			text = append(bytes.TrimSuffix(text, []byte("\n")), "\r\n"...)
		}
		out.Write(text)
	}
	return out.Bytes()
}

// readPayments reads a payments file without judging it. Rows have any number of fields; blank
// lines are no rows. The numbers are those of the lines on which the rows begin.
func readPayments(content []byte) (rows [][]string, numbers []int, err error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.FieldsPerRecord = -1
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		number, _ := reader.FieldPos(0)
		rows, numbers = append(rows, row), append(numbers, number)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, nil, errNoHeader
	}
	return rows[1:], numbers[1:], nil
}

// decimal writes minor units of a currency as people do, with all its fraction digits.
func decimal(minor int, currency string) string {
	digits := currencies[currency]
	text := strconv.Itoa(minor)
	if digits == 0 {
		return text
	}
	text = strings.Repeat("0", max(0, digits+1-len(text))) + text
	return text[:len(text)-digits] + "." + text[len(text)-digits:]
}
