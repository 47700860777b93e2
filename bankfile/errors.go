package bankfile

import (
	"fmt"
	"strings"
)

// FormatError says that a file is none that this package reads, or that it is too damaged.
type FormatError struct {
	Line int // 0 where it is about the whole file.
	Why  string
}

// Error returns the reason, with the line where there is one.
func (e *FormatError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	}
	return e.Why
}

// LimitError says that a file goes beyond a limit of this package.
type LimitError struct {
	Line  int
	What  string // What is too large, such as "statements".
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("line %d: more than %d %s in one file", e.Line, e.Limit, e.What)
}

// Topic is what a question is about.
type Topic string

// The questions that a file can leave open.
const (
	AskOrder   Topic = "dateOrder"    // Day or month first.
	AskDecimal Topic = "decimal"      // Point or comma.
	AskAmount  Topic = "amountColumn" // Which column is the amount.
	AskDate    Topic = "dateColumn"   // Which column is the date.
	AskDebit   Topic = "debitSign"    // What a negative number in the debit column means.
	AskCredit  Topic = "creditSign"   // What a negative number in the credit column means.
	// AskDirection is which of two words means money out.
	AskDirection Topic = "direction"
	// AskEncoding is in which encoding the characters are.
	AskEncoding Topic = "encoding"
)

// Question is something that nothing in the file decides. The answer goes into a Mapping; see
// [Mapping.Answer].
type Question struct {
	Topic    Topic
	Text     string   // The question in words.
	Choices  []Choice // Possible answers, the likelier one first.
	Examples []string // Cells that leave it open, with their lines.
}

// Choice is one possible answer.
type Choice struct {
	Value   string // What Mapping.Answer takes.
	Meaning string // What it means for the first example.
}

// UndecidedError asks a person what the file does not say. Mapping holds what was decided
// without: answer the questions there, and open the file again with it.
type UndecidedError struct {
	Questions []Question
	Mapping   Mapping
}

// Error returns the questions with their choices.
func (e *UndecidedError) Error() string {
	var b strings.Builder
	for i, q := range e.Questions {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(q.Text)
		if len(q.Examples) > 0 {
			fmt.Fprintf(&b, " (%s)", q.Examples[0])
		}
		for j, c := range q.Choices {
			sep := " "
			if j > 0 {
				sep = ", or "
			}
			fmt.Fprintf(&b, "%s%s: %s", sep, c.Value, c.Meaning)
		}
	}
	return b.String()
}
