package statements

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// The digits of amounts that people type in, before and behind the point. A month of a billion such
// rows still has an exact total within the 38 digits of a Number.
const (
	amountWholeDigitsMax    = 18
	amountFractionDigitsMax = 10
)

// yearMin is the earliest year that is taken for one: a year of two digits is a mistake.
const yearMin = "1900-01-01"

func checkDate(wrong *problem.Fields, field string, d Date) {
	if !validDate(d) || d < yearMin {
		wrong.Addf(field, "%q is no calendar day such as 2026-01-31", d)
	}
}

func checkAmount(wrong *problem.Fields, field string, amount money.Decimal) {
	whole, fraction, _ := strings.Cut(amount.Abs().String(), ".")
	if len(whole) > amountWholeDigitsMax || len(fraction) > amountFractionDigitsMax {
		wrong.Addf(field, "has more than %d digits before the point, or %d behind it",
			amountWholeDigitsMax, amountFractionDigitsMax)
	}
}

// checkLines demands a text of some bytes, on one or more lines.
func checkLines(wrong *problem.Fields, field, text string, least, most int) {
	switch {
	case len(strings.TrimSpace(text)) < least:
		wrong.Add(field, "is missing")
	case len(text) > most:
		wrong.Addf(field, "has %d bytes, the limit is %d", len(text), most)
	case !utf8.ValidString(text):
		wrong.Add(field, "is not UTF-8")
	case strings.ContainsFunc(text, func(r rune) bool {
		return isControl(r) && r != '\n' && r != '\t' && r != '\r'
	}):
		wrong.Add(field, "has control characters")
	}
}

func checkTagIDs(wrong *problem.Fields, field string, ids []string) {
	if n := len(distinct(ids)); n > TagsOfOneMax {
		wrong.Addf(field, "are %d, the limit is %d", n, TagsOfOneMax)
	}
	for i, id := range ids {
		checkText(wrong, fmt.Sprintf("%s[%d]", field, i), id, 1, NameMax)
	}
}

func checkSplits(wrong *problem.Fields, splits []NewSplit) {
	switch {
	case len(splits) == 1:
		wrong.Add("splits", "are two or more, or none")
	case len(splits) > SplitsMax:
		wrong.Addf("splits", "are %d, the limit is %d", len(splits), SplitsMax)
		return
	}
	tags := 0
	for i, s := range splits {
		at := fmt.Sprintf("splits[%d].", i)
		checkAmount(wrong, at+"amount", s.Amount)
		checkText(wrong, at+"notes", s.Notes, 0, NameMax)
		checkTagIDs(wrong, at+"tagIds", s.TagIDs)
		tags += len(distinct(s.TagIDs))
	}
	if tags > TagsOfPartsMax {
		wrong.Addf("splits", "have %d tags together, the limit is %d", tags, TagsOfPartsMax)
	}
}

// checkSum demands that parts add up to the amount.
func checkSum(wrong *problem.Fields, t *Transaction) {
	if len(t.Splits) == 0 {
		return
	}
	var sum money.Decimal
	for _, s := range t.Splits {
		var err error
		if sum, err = sum.Add(s.Amount); err != nil {
			wrong.Add("splits", "add up to a number of too many digits")
			return
		}
	}
	if sum != t.Amount {
		wrong.Addf("splits", "add up to %s, and the amount is %s", sum, t.Amount)
	}
}

// distinct returns texts without repeats, in their order.
func distinct(texts []string) []string {
	var out []string
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// clone returns a copy that shares nothing with the transaction.
func (t *Transaction) clone() *Transaction {
	c := *t
	c.TagIDs, c.Tags = slices.Clone(t.TagIDs), slices.Clone(t.Tags)
	c.Annotations, c.Edited = slices.Clone(t.Annotations), slices.Clone(t.Edited)
	c.Splits, c.Ruled = slices.Clone(t.Splits), maps.Clone(t.Ruled)
	for i := range c.Splits {
		s := &c.Splits[i]
		s.TagIDs, s.Tags = slices.Clone(s.TagIDs), slices.Clone(s.Tags)
	}
	return &c
}

// isEdited reports whether a field is a person's.
func (t *Transaction) isEdited(field string) bool { return slices.Contains(t.Edited, field) }

// mark makes a field the person's, even if a rule had set it.
func (t *Transaction) mark(field string) {
	if !t.isEdited(field) {
		t.Edited = append(t.Edited, field)
		slices.Sort(t.Edited)
	}
	delete(t.Ruled, field)
	if len(t.Ruled) == 0 {
		t.Ruled = nil
	}
}

// tag sets the tags, without texts.
func (t *Transaction) tag(ids []string) {
	ids = distinct(ids)
	if slices.Equal(ids, t.TagIDs) {
		return
	}
	t.TagIDs, t.Tags = ids, noTexts(ids)
	t.mark(FieldTags)
}

// noTexts are texts of tags that are still to be filled in.
func noTexts(ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return make([]string, len(ids))
}

// divide sets the parts, without texts of tags. A divided transaction has no tags but theirs.
func (t *Transaction) divide(splits []NewSplit) {
	if slices.EqualFunc(splits, t.Splits, func(a NewSplit, b Split) bool {
		return a.Amount == b.Amount && a.Notes == b.Notes &&
			slices.Equal(distinct(a.TagIDs), b.TagIDs)
	}) {
		return
	}
	t.Splits = nil
	for _, s := range splits {
		ids := distinct(s.TagIDs)
		t.Splits = append(t.Splits, Split{Amount: s.Amount, Notes: s.Notes, TagIDs: ids,
			Tags: noTexts(ids)})
	}
	if len(t.Splits) > 0 {
		t.TagIDs, t.Tags = nil, nil
	}
	t.mark(FieldSplits)
}

// reset makes fields what the bank wrote.
func (t *Transaction) reset(fields []string) {
	for _, field := range fields {
		t.mark(field)
		t.Edited = slices.DeleteFunc(t.Edited, func(f string) bool { return f == field })
		switch field {
		case FieldMerchant:
			t.Merchant = merchantOfText(t.Text)
		case FieldNotes:
			t.Notes = ""
		case FieldTags:
			t.TagIDs, t.Tags = nil, nil
		case FieldTransfer:
			t.Transfer = false
		case FieldSplits:
			t.Splits = nil
		}
	}
	if len(t.Edited) == 0 {
		t.Edited = nil
	}
}
