package bankfile

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// totalWords are parts of texts in rows with the sum of other rows.
var totalWords = []string{
	"total", "sum", "summe", "saldo", "balance", "gesamt", "totaal", "suma", "solde", "carried",
	"opening", "closing", "anfangsbestand", "endbestand", "kontostand", "zustatek", "egyenleg",
	"итого", "остаток", "合計", "合计", "yhteensa", "celkem", "razem", "osszesen", "toplam", "ukupno",
}

// isTotal reports whether the first words of a row are those of a sum of others.
func isTotal(fields []string) bool {
	for _, cell := range fields {
		if cell = reading.Fold(cells.TrimBlanks(cell)); cell == "" {
			continue
		}
		return slices.ContainsFunc(totalWords, func(w string) bool {
			return strings.HasPrefix(cell, w) || strings.HasSuffix(strings.TrimRight(cell, ": "), w)
		})
	}
	return false
}

// balanceWords are the texts of rows that have a balance in place of a movement, folded.
var balanceWords = []string{
	"opening balance", "closing balance", "beginning balance", "ending balance",
	"balance brought forward", "balance carried forward", "brought forward", "carried forward",
	"starting balance", "start balance", "end balance", "balance b/f", "balance c/f",
	"anfangssaldo", "endsaldo", "startsaldo", "schlusssaldo", "alter saldo", "neuer saldo",
	"alter kontostand", "neuer kontostand", "saldovortrag", "beginsaldo", "eindsaldo",
	"solde initial", "solde final", "ancien solde", "nouveau solde", "saldo inicial",
	"saldo final", "saldo anterior", "saldo iniziale", "saldo finale", "saldo poczatkowe",
	"saldo koncowe", "pocatecni zustatek", "konecny zustatek", "nyito egyenleg",
	"zaro egyenleg", "ingaende saldo", "utgaende saldo", "inngaende saldo", "utgaende saldo",
	"algsaldo", "loppsaldo", "lopsaldo", "sakuma atlikums", "beigu atlikums",
	"likutis pradziai", "likutis pabaigai", "opening bal", "closing bal", "saldo awal",
	"saldo akhir", "входящий остаток", "исходящий остаток", "sold initial",
	"pocetno stanje", "koncno stanje", "zacetno stanje", "saldo do dia", "saldo dia",
	"turnover", "apgrozijums", "kaive", "apyvarta", "s a l d o", "期初余额", "期末余额", "前期繰越", "繰越残高",
}

// isBalance reports whether the only words of a row are those of a balance. Some banks write the
// opening and the closing balance as rows with a day.
func isBalance(fields []string) bool {
	if !slices.ContainsFunc(fields, mayBeBalance) {
		return false
	}
	found := false
	for i, cell := range fields {
		cell = cells.TrimBlanks(cell)
		if cell == "" || cells.IsDate(cell) || cells.IsAmount(cell) ||
			reading.Direction(cell) != 0 || reading.IsAccount(cell) ||
			i > 0 && utf8.RuneCountInString(cell) <= 3 {
			continue
		}
		plain := strings.Trim(reading.Fold(cell), " .:*")
		if !slices.ContainsFunc(balanceWords, func(w string) bool {
			rest, ok := strings.CutPrefix(plain, w)
			return ok && (rest == "" || isDayOf(rest))
		}) {
			return false
		}
		found = true
	}
	return found
}

// balanceHeads are the beginnings of balanceWords, so that other rows are checked quickly.
var balanceHeads = func() map[[headLen]byte]bool {
	heads := make(map[[headLen]byte]bool, len(balanceWords))
	for _, w := range balanceWords {
		heads[[headLen]byte([]byte(w))] = true
	}
	return heads
}()

// headLen is the length of the shortest of balanceWords.
const headLen = 5

// mayBeBalance reports whether a cell begins like one of balanceWords.
func mayBeBalance(cell string) bool {
	cell = cells.TrimBlanks(cell)
	if len(cell) < headLen {
		return false
	}
	var head [headLen]byte
	for i := range head {
		c := cell[i]
		if c >= 0x80 {
			folded := reading.Fold(cells.ClipTo(cell, 4*headLen))
			return len(folded) >= headLen && balanceHeads[[headLen]byte([]byte(folded))]
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		head[i] = c
	}
	return balanceHeads[head]
}

// isDayOf reports whether the end of a text is a day: "as of 01/20/2026".
func isDayOf(rest string) bool {
	words := strings.Fields(rest)
	return len(words) > 0 && len(words) <= 3 && cells.IsDate(words[len(words)-1])
}
