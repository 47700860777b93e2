package bankfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// askColumn asks for the column of a role, among the columns with such cells.
func (t *table) askColumn(topic Topic, text string, is func(string) bool) Question {
	q := Question{Topic: topic, Text: text}
	for i := range t.roles {
		if t.roles[i] == RoleDate || t.share(i, is) < 50 {
			continue
		}
		if topic == AskAmount &&
			(t.share(i, cells.IsDate) >= 50 || t.share(i, reading.IsAccount) >= 50) {
			continue
		}
		q.Choices = append(q.Choices, Choice{Value: strconv.Itoa(i + 1), Meaning: t.columnName(i)})
		for _, row := range t.samples {
			if i < len(row) && strings.TrimSpace(row[i]) != "" {
				q.Examples = append(
					q.Examples,
					cells.At{Line: t.firstLine, Text: cells.Clip(row[i])}.String(),
				)
				break
			}
		}
	}
	return q
}

// shownRows is the number of rows that a choice between readings shows.
const shownRows = 2

// askMoney asks which reading of the amounts is right, and shows the result of each for some rows.
func (t *table) askMoney() Question {
	q := Question{Topic: AskAmount, Text: "Which column is the amount?"}
	all := append([]reading.Money{t.best}, t.others...)
	rows := t.differing(all)
	for i := range all {
		m := &all[i]
		if m.Amount < 0 {
			q.Text = "Which columns are the amount, or money out and money in?"
		}
		q.Choices = append(
			q.Choices,
			Choice{Value: moneyValue(m), Meaning: t.moneyMeaning(m, rows)},
		)
	}
	for _, row := range rows {
		q.Examples = append(
			q.Examples,
			cells.Clip(strings.Join(t.samples[row], string(rune(t.delim)))),
		)
	}
	return q
}

// moneyValue returns a reading as an answer.
func moneyValue(m *reading.Money) string {
	if m.Amount >= 0 {
		return strconv.Itoa(m.Amount + 1)
	}
	var parts []string
	if m.Debit >= 0 {
		parts = append(parts, fmt.Sprintf("debit=%d", m.Debit+1))
	}
	if m.Credit >= 0 {
		parts = append(parts, fmt.Sprintf("credit=%d", m.Credit+1))
	}
	return strings.Join(parts, ",")
}

func (t *table) moneyMeaning(m *reading.Money, rows []int) string {
	var b strings.Builder
	if m.Amount >= 0 {
		b.WriteString(t.columnName(m.Amount))
	} else {
		for i, side := range []struct {
			what string
			col  int
		}{{"money out", m.Debit}, {"money in", m.Credit}} {
			if side.col < 0 {
				continue
			}
			if i > 0 && m.Debit >= 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s in %s", side.what, t.columnName(side.col))
		}
	}
	for i, row := range rows {
		mark := ", "
		if i == 0 {
			mark = ": "
		}
		value, ok := m.Value(row)
		if !ok {
			value = "refused"
		}
		fmt.Fprintf(&b, "%s%s is %s", mark, t.rowName(row), value)
	}
	return b.String()
}

// rowName returns what a person finds a row by: its date and its first words.
func (t *table) rowName(row int) string {
	fields := t.samples[row]
	var parts []string
	if t.date >= 0 && t.date < len(fields) {
		parts = append(parts, cells.TrimBlanks(fields[t.date]))
	}
	for i, cell := range fields {
		cell = cells.TrimBlanks(cell)
		if i != t.date && cell != "" && !cells.IsAmount(cell) && !cells.IsDate(cell) {
			parts = append(parts, cells.Clip(cell))
			break
		}
	}
	return strings.Join(parts, " ")
}

// differing returns the first rows of the sample on which the readings disagree, one for each kind
// of difference.
func (t *table) differing(all []reading.Money) (rows []int) {
	seen := map[string]bool{}
	for row := range t.samples {
		var values []string
		for i := range all {
			value, _ := all[i].Value(row)
			if value != "" && value[0] == '-' {
				value = "-"
			} else if value != "" {
				value = "+"
			}
			values = append(values, value)
		}
		key := strings.Join(values, " ")
		if !seen[key] {
			seen[key] = true
			rows = append(rows, row)
		}
		if len(rows) == shownRows {
			break
		}
	}
	return rows
}

// AskNone is the answer that no word of a column means the direction.
const AskNone = "none"

// askDirection asks which of two words means money out.
func (t *table) askDirection() Question {
	q := Question{Topic: AskDirection, Text: fmt.Sprintf("No amount has a sign. In %s, which word "+
		"means that money went out?", t.columnName(t.flag))}
	for i, word := range t.words {
		other := t.words[1-i]
		q.Choices = append(q.Choices, Choice{Value: word, Meaning: fmt.Sprintf(
			"rows with %q are money out, rows with %q are money in",
			cells.Clip(word),
			cells.Clip(other),
		)})
	}
	q.Choices = append(q.Choices, Choice{Value: AskNone,
		Meaning: "none; all amounts are money in, as they are written"})
	for row, fields := range t.samples {
		q.Examples = append(q.Examples, cells.Clip(strings.Join(fields, string(rune(t.delim)))))
		if row+1 == shownRows {
			break
		}
	}
	return q
}
