package bankfile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// seeded gives a random source and prints its seed, by which a failure can be repeated.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// amountHabit is how one bank writes amounts.
type amountHabit struct {
	decimal, group string
	sign           func(plain string, negative bool) string
}

func randomAmountHabit(random *rand.Rand) amountHabit {
	h := amountHabit{decimal: ".", group: ","}
	if random.IntN(2) == 0 {
		h = amountHabit{decimal: ",", group: "."}
	}
	others := []string{h.group, h.group, "", " ", "\u00a0", "\u202f", "'", "’"}
	h.group = others[random.IntN(len(others))]
	signs := []func(string, bool) string{
		prefix("-", ""), prefix("−", ""), prefix("- ", ""), prefix("-", "+"), prefix("-", "+ "),
		prefix("-$", "$"), prefix("$-", "$"), prefix("€ -", "€ "), prefix("-NZD ", "NZD "),
		suffix("-", ""), suffix(" €-", " €"), suffix(" DR", " CR"), suffix(" D", " C"),
		prefix("DR ", "CR "), suffix("-", "+"),
		func(plain string, negative bool) string {
			if negative {
				return "(" + plain + ")"
			}
			return plain
		},
		func(plain string, negative bool) string {
			if negative {
				return "$(" + plain + ")"
			}
			return "--$" + plain
		},
	}
	h.sign = signs[random.IntN(len(signs))]
	return h
}

func prefix(negative, positive string) func(string, bool) string {
	return func(plain string, is bool) string {
		if is {
			return negative + plain
		}
		return positive + plain
	}
}

func suffix(negative, positive string) func(string, bool) string {
	return func(plain string, is bool) string {
		if is {
			return plain + negative
		}
		return plain + positive
	}
}

// write writes a number of cents.
func (h amountHabit) write(cents int64) string {
	negative := cents < 0
	if negative {
		cents = -cents
	}
	whole := fmt.Sprint(cents / 100)
	var groups []string
	for len(whole) > 3 && h.group != "" {
		groups = append([]string{whole[len(whole)-3:]}, groups...)
		whole = whole[:len(whole)-3]
	}
	whole = strings.Join(append([]string{whole}, groups...), h.group)
	return h.sign(fmt.Sprintf("%s%s%02d", whole, h.decimal, cents%100), negative)
}

// Whatever a bank's habit is, the amounts come back as they were written, by themselves.
func TestAmountsOfEveryHabitComeBack(t *testing.T) {
	random := seeded(t)
	for range 200 * int(rounds()) {
		h := randomAmountHabit(random)
		var cells []string
		var want []money.Decimal
		for range 1 + random.IntN(12) {
			cents := random.Int64N(1 << (1 + random.IntN(40)))
			if random.IntN(2) == 0 {
				cents = -cents
			}
			d, err := money.NewDecimal(cents, 2)
			if err != nil {
				t.Fatal(err)
			}
			cells, want = append(cells, h.write(cents)), append(want, d)
		}
		for name, text := range map[string]string{
			"CSV": amounts(cells...), "QIF": qif(pairsOf("2024-05-06", cells)...),
		} {
			r, err := read(text, bankfile.Options{Currency: "NZD"})
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			got := r.entries()
			if len(got) != len(want) || len(r.rows) != len(want) {
				t.Fatalf("%s: %d rows of %d: %q\n%s", name, len(got), len(want), r.brief(), text)
			}
			for i := range want {
				if got[i].Amount != want[i] {
					t.Fatalf("%s: %q is read as %s\n%s", name, cells[i], got[i].Amount, text)
				}
			}
		}
	}
}

// pairsOf puts a date before each cell.
func pairsOf(date string, cells []string) []string {
	var pairs []string
	for _, c := range cells {
		pairs = append(pairs, date, c)
	}
	return pairs
}

// dateForms are forms of dates by day, month and year, with what settles the order of a file.
var dateForms = []struct {
	form    string // Of the package time.
	settles bool   // The form itself says the order.
}{
	{"02/01/2006", false}, {"01/02/2006", false}, {"02-01-2006", false}, {"01-02-2006", false},
	{"2/1/2006", false}, {"1/2/2006", false}, {"02/01/06", false}, {"01/02/06", false},
	{"02/01/2006 15:04", false}, {"1/ 2'06", false}, {"02.01.2006", true}, {"2006-01-02", true},
	{"2006/01/02", true}, {"20060102", true}, {"20060102150405", true}, {"2006.01.02.", true},
	{"2-Jan-2006", true}, {"02 Jan 2006", true}, {"Jan 2, 2006", true}, {"02-Jan-06", true},
	{"2006-01-02T15:04:05Z", true}, {"2006-01-02 15:04:05 -0700", true},
	{"Mon, 2 Jan 2006", true}, {"2006-01-02T15:04:05.000-07:00", true},
}

// In whatever form a bank writes its dates, the days come back, whatever the zone of the machine:
// by themselves where a file shows the order, and by one answer for all where it does not.
func TestDatesOfEveryFormComeBack(t *testing.T) {
	random := seeded(t)
	local := time.Local
	defer func() { time.Local = local }()
	for range 200 * int(rounds()) {
		time.Local = time.FixedZone("somewhere", (random.IntN(27)-12)*3600)
		form := dateForms[random.IntN(len(dateForms))]
		var cells, want []string
		shown, short := form.settles, !strings.Contains(form.form, "2006")
		for range 1 + random.IntN(8) {
			day := time.Date(2000+random.IntN(60), time.Month(1+random.IntN(12)), 1+random.IntN(31),
				random.IntN(24), random.IntN(60), 0, 0, time.UTC)
			shown = shown || day.Day() > 12
			short = short && day.Year()%100 <= 31 // So that it can be a day.
			cells = append(cells, strings.ToUpper(day.Format(form.form)))
			want = append(want, day.Format("2006-01-02"))
		}
		text := dates(cells...)
		r, err := read(text, bankfile.Options{})
		if ask := asked(err); len(ask) > 0 {
			// Years of two digits that differ more than the days may be the days.
			if shown && !short || ask[0] != bankfile.AskOrder {
				t.Fatalf("%v is asked\n%s", ask, text)
			}
			order := bankfile.DayFirst
			if strings.Index(form.form, "1") < strings.Index(form.form, "2") {
				order = bankfile.MonthFirst
			}
			r, err = read(text, bankfile.Options{Mapping: &bankfile.Mapping{
				Version: 1, DateOrder: order}})
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got := r.entries()
		if len(got) != len(want) {
			t.Fatalf("%q\n%s", r.brief(), text)
		}
		for i := range want {
			if string(got[i].Date) != want[i] {
				t.Fatalf("%q is read as %s\n%s", cells[i], got[i].Date, text)
			}
		}
	}
}
