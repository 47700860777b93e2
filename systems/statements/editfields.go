package statements

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
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
	if !book.ValidDate(d) || d < yearMin {
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
		return book.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
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

// setTags sets the tags, without texts.
func setTags(t *Transaction, ids []string) {
	ids = distinct(ids)
	if slices.Equal(ids, t.TagIDs) {
		return
	}
	t.TagIDs, t.Tags = ids, noTexts(ids)
	t.Mark(FieldTags)
}

// noTexts are texts of tags that are still to be filled in.
func noTexts(ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return make([]string, len(ids))
}

// divide sets the parts, without texts of tags. A divided transaction has no tags but theirs.
func divide(t *Transaction, splits []NewSplit) {
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
	t.Mark(FieldSplits)
}

// resetFields makes fields what the bank wrote.
func resetFields(t *Transaction, fields []string) {
	for _, field := range fields {
		t.Mark(field)
		t.Edited = slices.DeleteFunc(t.Edited, func(f string) bool { return f == field })
		switch field {
		case FieldMerchant:
			t.Merchant = book.MerchantOfText(t.Text)
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
