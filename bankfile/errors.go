package bankfile

import (
	"fmt"
	"strings"
)

// FormatError means that the format of a file is not supported or that the file is damaged.
type FormatError struct {
	Line int // 0 if it is about the whole file.
	Why  string
}

// Error returns the reason, with the line if there is one.
func (e *FormatError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	}
	return e.Why
}

// LimitError means that a file exceeds a limit of this package.
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

// Question is a choice that nothing in the file decides. Put the answer into a Mapping with
// [Mapping.Answer].
type Question struct {
	Topic    Topic
	Text     string   // The question in words.
	Choices  []Choice // Possible answers, the most likely first.
	Examples []string // Ambiguous cells, with their lines.
}

// Choice is one possible answer.
type Choice struct {
	Value   string // The value for Mapping.Answer.
	Meaning string // Its meaning for the first example.
}

// UndecidedError has the questions that the file does not decide. Mapping holds everything that was
// decided: add the answers to it, and open the file again with it.
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
