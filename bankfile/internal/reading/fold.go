package reading

import (
	"slices"
	"strings"
	"unicode"
)

// Fold makes letters plain: lower case without accents, as far as names of columns and months
// need it.
func Fold(text string) string {
	plain := true
	for i := range len(text) {
		if text[i] >= 0x80 || text[i] >= 'A' && text[i] <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return unicode.ToLower(r)
		}
		r = unicode.ToLower(r)
		for _, f := range folds {
			if strings.ContainsRune(f.from, r) {
				return f.to
			}
		}
		return r
	}, text)
}

// folds lists letters with accents and the letters without.
var folds = []struct {
	from string
	to   rune
}{
	{"áàâäãåăąā", 'a'}, {"çčćĉ", 'c'}, {"ďđ", 'd'}, {"éèêëěęėē", 'e'}, {"ğģ", 'g'},
	{"íìîïıīį", 'i'}, {"ķ", 'k'}, {"ľĺłļ", 'l'}, {"ñňńņ", 'n'}, {"óòôöõőøō", 'o'}, {"řŕ", 'r'},
	{"šśşșß", 's'}, {"ťţț", 't'}, {"úùûüůűūų", 'u'}, {"ýÿ", 'y'}, {"žźż", 'z'}, {"æ", 'a'},
	{"ά", 'α'}, {"έ", 'ε'}, {"ή", 'η'}, {"ίϊΐ", 'ι'}, {"ό", 'ο'}, {"ύϋΰ", 'υ'}, {"ώ", 'ω'},
	{"ς", 'σ'}, {"ё", 'е'},
}

// Key folds a name of a column: letters and digits, one blank between words. It removes text in
// parentheses, such as a currency, unless it is the direction, as in "Amount (credit)".
func Key(text string) string {
	if open := strings.IndexAny(text, "(["); open > 0 {
		if Direction(strings.Trim(text[open:], "()[] ")) == 0 {
			text = text[:open]
		}
	}
	words := strings.FieldsFunc(Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(words, " ")
}

// tokens returns the words of a name, including those of a name in one piece, such as
// OriginalAmount.
func tokens(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return strings.FieldsFunc(Fold(b.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// squash removes the differences between ways to write a name: blanks, and ae, oe and ue for
// letters with an umlaut.
func squash(key string) string {
	key = strings.ReplaceAll(key, " ", "")
	for _, pair := range [...][2]string{{"ae", "a"}, {"oe", "o"}, {"ue", "u"}} {
		key = strings.ReplaceAll(key, pair[0], pair[1])
	}
	return key
}

// withoutUnit returns a name without the currency or the unit that banks append to it, such as
// "betrag in eur" and "amount usd".
func withoutUnit(key string) string {
	words := strings.Fields(key)
	for len(words) > 1 {
		last := words[len(words)-1]
		if !slices.Contains(unitWords, last) {
			break
		}
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

// unitWords may follow the name of an amount's column and do not change its role.
var unitWords = []string{
	"in", "en", "w", "v", "i", "eur", "euro", "euros", "usd", "gbp", "chf", "sek", "nok", "dkk",
	"pln", "czk", "huf", "ron", "aud", "nzd", "cad", "inr", "jpy", "cny", "sgd", "hkd", "zar",
	"try", "ils", "brl", "mxn", "isk", "myr", "thb", "php", "idr", "aed", "uah", "kr", "zl", "kc",
	"ft", "lei", "rs", "rub", "krw", "twd", "vnd", "clp", "cop", "ars", "sar", "bgn", "inkl",
	"accounting", "ccy",
}

// ranks is the position of each name in the list of its role, squashed.
var ranks = func() map[Role]map[string]int {
	all := make(map[Role]map[string]int, len(headerWords))
	for role, words := range headerWords {
		of := make(map[string]int, len(words))
		for i, word := range words {
			key := squash(Fold(word))
			if _, twice := of[key]; !twice {
				of[key] = i
			}
		}
		all[role] = of
	}
	return all
}()

// rank returns how specific a name is for a role: 0 is the best, -1 means that it is not a name of
// the role.
func rank(role Role, key string) int {
	if key == "" {
		return -1
	}
	if at, ok := ranks[role][squash(key)]; ok {
		return at
	}
	return -1
}

// Rank returns how specific a name is for a role, with or without a currency after it: 0 is the
// best, -1 means that it is not a name of the role.
func Rank(role Role, name string) int {
	key := Key(name)
	if r := rank(role, key); r >= 0 {
		return r
	}
	return rank(role, withoutUnit(key))
}

// Known reports whether a cell is the name of a column.
func Known(cell string) bool {
	for role := range headerWords {
		if Rank(role, cell) >= 0 {
			return true
		}
	}
	return false
}
