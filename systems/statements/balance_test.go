package statements

import (
	"strings"
	"testing"
)

// TestStatementsOfAFileMustJoin uploads files with several statements of one account: each of them
// fits by itself, and the file fits only if they follow one another.
func TestStatementsOfAFileMustJoin(t *testing.T) {
	page := func(number, day, opening, currency, closing string, row string) string {
		return ":20:1\n:25:11-1\n:28C:" + number + "\n:60F:C" + day + currency + opening + "\n" +
			":61:" + day + "D" + row + ",00NMSC" + number + "\n" +
			":62F:C" + day + currency + closing + "\n-\n"
	}
	one := page("1", "250701", "100,00", "NZD", "95,00", "5")
	two := page("2", "250702", "95,00", "NZD", "92,00", "3")
	three := page("3", "250703", "92,00", "NZD", "90,00", "2")
	other := page("4", "250703", "40,00", "EUR", "39,00", "1")
	for name, c := range map[string]struct {
		file            string
		checked, agrees bool
		doubt           string
	}{
		"one after the other": {one + two + three, true, true, ""},
		"newest first":        {three + two + one, true, true, ""},
		"one is missing": {one + three, true, false,
			"begins with 92, but the previous one, of line 4, ended with 95"},
		"one is there twice": {one + two + two + three, true, false,
			"begins with 95, but the previous one, of line 11, ended with 92"},
		"two currencies": {one + other + two, true, true, ""},
		"two currencies, and one is missing": {one + other + three, true, false,
			"begins with 92, but the previous one"},
		"one does not fit by itself": {one + strings.Replace(two, "D3,00", "D4,00", 1), true, false,
			""},
		"one has no opening balance": {one + strings.Replace(two, ":60F:C250702NZD95,00\n", "", 1),
			false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			u := i.upload("a", "1", c.file).Upload
			if u.Status != Parsed {
				t.Fatalf("%s: %s", u.Status, u.Why)
			}
			if u.Checked != c.checked || u.Agrees != c.agrees {
				t.Errorf("checked %t, agrees %t, want %t, %t; doubts %q", u.Checked, u.Agrees,
					c.checked, c.agrees, u.Doubts)
			}
			doubts := strings.Join(u.Doubts, "\n")
			if strings.Contains(doubts, "the previous one") != (c.doubt != "") ||
				!strings.Contains(doubts, c.doubt) {
				t.Errorf("doubts %q, want %q", u.Doubts, c.doubt)
			}
		})
	}
}
