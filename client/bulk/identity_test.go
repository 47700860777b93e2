package bulk_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// cells are the texts of a row by column.
type cells map[string]string

// saving is one way in which a program writes a file.
type saving struct {
	random  *rand.Rand
	columns []string
	// spell writes the text of a column in another way that means the same.
	spell map[string]func(string) string
}

// csv writes rows as CSV with random separators, quotes, line ends and order of columns.
func (s *saving) csv(rows []cells) string {
	columns := slices.Clone(s.columns)
	s.random.Shuffle(
		len(columns),
		func(i, j int) { columns[i], columns[j] = columns[j], columns[i] },
	)
	separator := []string{",", ";", "\t"}[s.random.IntN(3)]
	end := []string{"\n", "\r\n"}[s.random.IntN(2)]
	trailing := strings.Repeat(separator, s.random.IntN(3))
	var out strings.Builder
	if s.random.IntN(2) == 0 {
		out.WriteString("\ufeff")
	}
	out.WriteString(strings.Join(columns, separator) + trailing + end)
	for _, row := range rows {
		for i, name := range columns {
			if i > 0 {
				out.WriteString(separator)
			}
			text := s.spelled(name, row[name])
			if strings.ContainsAny(text, ",;\t\"\n") || s.random.IntN(2) == 0 {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			out.WriteString(strings.ReplaceAll(text, "\n", end))
		}
		out.WriteString(trailing + end)
	}
	return out.String()
}

// json writes rows as objects with their members in random order.
func (s *saving) json(rows []cells) string {
	var out strings.Builder
	for _, row := range rows {
		names := slices.Clone(s.columns)
		s.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var members []string
		for _, name := range names {
			text := s.spelled(name, row[name])
			value, _ := json.Marshal(text)
			switch {
			case text == "" && s.random.IntN(2) == 0:
				value = []byte("null")
			case text == "":
				continue
			case name == "amount" && s.random.IntN(2) == 0 && !strings.HasPrefix(text, "0"):
				value = []byte(text)
			}
			members = append(members, fmt.Sprintf("%q : %s", name, value))
		}
		out.WriteString("{" + strings.Join(members, ", ") + "}\n")
	}
	return out.String()
}

func (s *saving) spelled(name, text string) string {
	if spell := s.spell[name]; spell != nil && text != "" {
		return spell(text)
	}
	return text
}

// keysOf returns the keys of the rows of a file, in order of the keys.
func keysOf(t *testing.T, r bulk.Reading, content string) []string {
	t.Helper()
	f, err := r.OpenReader(strings.NewReader(content))
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	var keys []string
	for row, err := range f.Read() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Wrong != nil {
			t.Fatalf("line %d: %s\n%s", row.Line, row.Wrong.Sentence, content)
		}
		keys = append(keys, row.Key())
	}
	slices.Sort(keys)
	return keys
}

// A row has the same key in every saving of its file, and two rows of a file never have the same.
func TestARowIsTheSameRowInEverySaving(t *testing.T) {
	const rounds = 200
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	zeros := func(text string) string {
		if !strings.Contains(text, ".") {
			text += pick("", ".0")
		}
		if strings.Contains(text, ".") {
			text += pick("", "0", "00")
		}
		return pick("", "0") + text
	}
	elsewhere := func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.In(time.FixedZone("", 3600*(random.IntN(25)-12))).Format(time.RFC3339)
	}
	describe := func() string {
		return pick("", "Rent", "two\nlines", `a "quote"; and, more`, " x ")
	}
	for range rounds {
		var transactions, orders []cells
		for range 1 + random.IntN(8) {
			transactions = append(transactions, cells{
				"type": pick("deposit", "fee", "transfer"), "from": pick("a", "@opening"),
				"to": pick("b", "c"), "amount": pick("1", "2.5", "0.01"), "currency": "NZD",
				"description": describe(),
			})
			orders = append(orders, cells{
				"account": pick("a", "b"), "payee": pick("c", "d"), "amount": pick("1", "2.5"),
				"currency": "NZD", "at": pick("2026-01-31T10:00:00Z", "2026-02-01T10:00:00+13:00"),
				"description": describe(), "data": pick("", "aGk="),
			})
		}
		for _, file := range []struct {
			reading bulk.Reading
			rows    []cells
			columns []string
		}{
			{bulk.Reading{}, transactions,
				[]string{"type", "from", "to", "amount", "currency", "description"}},
			{bulk.Reading{Payments: true}, orders,
				[]string{"account", "payee", "amount", "currency", "at", "description", "data"}},
		} {
			s := &saving{
				random:  random,
				columns: file.columns,
				spell: map[string]func(string) string{
					"amount": zeros, "at": elsewhere,
					"from": func(text string) string {
						if text == "@opening" {
							return pick(text, "@opening-NZD")
						}
						return text
					},
				},
			}
			want := keysOf(
				t,
				file.reading,
				(&saving{random: random, columns: file.columns}).csv(file.rows),
			)
			if len(slices.Compact(slices.Clone(want))) != len(file.rows) {
				t.Fatalf("two rows have one key: %v", want)
			}
			random.Shuffle(len(file.rows), func(i, j int) {
				file.rows[i], file.rows[j] = file.rows[j], file.rows[i]
			})
			for _, content := range []string{s.csv(file.rows), s.json(file.rows)} {
				if diff := cmp.Diff(want, keysOf(t, file.reading, content)); diff != "" {
					t.Fatalf("(-first saving +this one):\n%s\n%s", diff, content)
				}
			}
		}
	}
}

// Each part of the content counts.
func TestRowsThatAskForOtherThingsAreOtherRows(t *testing.T) {
	base := `{"type":"fee","from":"a","to":"b","amount":1,"currency":"NZD"%s}` + "\n"
	seen := map[string]string{}
	for _, content := range []string{
		fmt.Sprintf(base, ""),
		fmt.Sprintf(base, `,"description":"x"`),
		fmt.Sprintf(base, `,"merchant":"m"`),
		fmt.Sprintf(base, `,"metadata":{"x":"1"}`),
		fmt.Sprintf(base, `,"metadata":{"x":"2"}`),
		`{"type":"tip","from":"a","to":"b","amount":1,"currency":"NZD"}`,
		`{"type":"fee","from":"b","to":"a","amount":1,"currency":"NZD"}`,
		`{"type":"fee","from":"a","to":"b","amount":2,"currency":"NZD"}`,
		`{"type":"fee","from":"a","to":"b","amount":1,"currency":"USD"}`,
	} {
		key := keysOf(t, bulk.Reading{}, content)[0]
		if other, found := seen[key]; found {
			t.Errorf("one key for\n%s\n%s", other, content)
		}
		seen[key] = content
	}
}

// The columns that are kept do not decide which row it is: importing with others moves no money.
func TestWhatIsKeptDoesNotMakeAnotherRow(t *testing.T) {
	const content = "from,to,amount,currency,batch\na,b,1,USD,7\na,b,1,USD,8\n"
	want := keysOf(t, bulk.Reading{}, content)
	kept := keysOf(t, bulk.Reading{Keep: []string{"Batch"}}, content)
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherColumnHasTheKeys(t *testing.T) {
	want := []string{"r1", "r2"}
	for _, content := range []string{
		"Reference,from,to,amount,currency\nr1,a,b,1,USD\nr2,a,b,1,USD\n",
		"key,Reference,from,to,amount,currency\nx,r1,a,b,1,USD\nx,r2,a,b,1,USD\n",
		`{"Reference":"r1","from":"a","to":"b","amount":1,"currency":"USD"}` + "\n" +
			`{"key":"x","Reference":"r2","from":"a","to":"b","amount":1,"currency":"USD"}` + "\n",
	} {
		got := keysOf(t, bulk.Reading{KeyColumn: "Reference"}, content)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", diff, content)
		}
	}
}

// The keys of rows are stored with what the rows made.
func TestKeysOfRowsAreFrozen(t *testing.T) {
	frozen.Check(t, "rows",
		frozen.Sample{Name: "1 transaction", Value: keysOf(t, bulk.Reading{},
			"type,to,amount,currency,description\ndeposit,b,1.00,USD,Salary\n")[0]},
		frozen.Sample{Name: "1 payment", Value: keysOf(t, bulk.Reading{Payments: true},
			"account,payee,amount,currency,at\na,b,1.00,USD,2026-01-31T10:00:00Z\n")[0]},
	)
}
