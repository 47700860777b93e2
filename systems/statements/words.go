package statements

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are what a search looks for: all clauses must hold, and of each clause one word.
type words [][]word

// word is a text to find, in lower case and with single blanks, or one that must not be there.
type word struct {
	text string
	not  bool
}

// parseWords reads what a person types. Why is what is wrong with it, or is empty.
func parseWords(text string) (w words, why string) {
	if len(text) > SearchTextMax {
		return nil, fmt.Sprintf("has %d bytes, the limit is %d", len(text), SearchTextMax)
	}
	if !utf8.ValidString(text) {
		return nil, "is not UTF-8"
	}
	or, terms := false, 0
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			break
		}
		var next word
		quoted := false
		next, text, quoted = takeWord(text)
		switch {
		case !quoted && !next.not && next.text == "OR" && len(w) > 0:
			or = true
			continue
		case next.text == "":
			continue // Empty quotes, or a - alone.
		}
		next.text = folded(next.text)
		if terms++; terms > SearchTermsMax {
			return nil, fmt.Sprintf("has more than %d words", SearchTermsMax)
		}
		if or {
			w[len(w)-1] = append(w[len(w)-1], next)
		} else {
			w = append(w, []word{next})
		}
		or = false
	}
	return w, ""
}

// takeWord takes one word, or words in quotes, off the front of a text. A quote without an end goes
// to the end.
func takeWord(text string) (w word, rest string, quoted bool) {
	if rest, w.not = strings.CutPrefix(text, "-"); w.not {
		text = rest
	}
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		w.text, rest, _ = strings.Cut(inner, `"`)
		w.text = strings.TrimSpace(w.text)
		return w, rest, true
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	w.text = text[:end]
	return w, text[end:], false
}

// match reports whether a row has the words.
func (w words) match(t *Transaction) bool {
	if len(w) == 0 {
		return true
	}
	texts := textsOf(t)
	for _, clause := range w {
		if !slices.ContainsFunc(clause, func(one word) bool {
			return one.not != slices.ContainsFunc(texts, func(text string) bool {
				return strings.Contains(text, one.text)
			})
		}) {
			return false
		}
	}
	return true
}

// textsOf are the texts of a row that words are looked for in. Words in quotes are found within one
// of them.
func textsOf(t *Transaction) []string {
	texts := []string{t.Merchant, t.Text, t.Notes, t.Reference, t.Counterparty, t.Category,
		t.Details}
	texts = append(texts, t.Tags...)
	for _, a := range t.Annotations {
		texts = append(texts, a.Text)
	}
	for _, part := range t.Splits {
		texts = append(append(texts, part.Notes), part.Tags...)
	}
	out := texts[:0]
	for _, text := range texts {
		if text != "" {
			out = append(out, folded(text))
		}
	}
	return out
}

// folded makes texts that a person takes for equal the same: letters of one case, single blanks.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}
