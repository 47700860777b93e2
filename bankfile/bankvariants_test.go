package bankfile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// sheetOf is a sample taken apart, so that it can be given in other forms.
type sheetOf struct {
	sample *bankSample
	before []string   // The lines before the table.
	header []string   // Nil where there is none.
	rows   [][]string // The rows of the entries.
	after  []string
	delim  string
	m      bankfile.Mapping
	right  []string // The rows of the sample, in the order of rows.
	// Loose is whether only days and amounts are compared, because the names are gone.
	loose    bool
	encoding string
}

// takeApart returns the sheet of a sample, or false for one whose rows do not stand in one block of
// single lines.
func takeApart(t *testing.T, s *bankSample) (sheetOf, bool) {
	r, err := s.open(t, s.bytes(t))
	if err != nil || s.told != "" {
		return sheetOf{}, false
	}
	sheet := sheetOf{sample: s, m: r.file.Mapping(), encoding: s.encoding, right: s.rows}
	sheet.delim = sheet.m.Delimiter
	names := func(cells []string) bool {
		return slices.ContainsFunc(sheet.m.Columns, func(c bankfile.Column) bool {
			return c.Name != "" && c.Index < len(cells) &&
				strings.TrimSpace(cells[c.Index]) == c.Name
		})
	}
	lines := strings.Split(strings.TrimSuffix(s.text, "\n"), "\n")
	first, last := 0, 0
	for _, row := range r.rows {
		if row.Outcome != bankfile.Read {
			continue
		}
		if first == 0 {
			first = row.Line
		} else if row.Line != last+1 {
			return sheetOf{}, false
		}
		if last = row.Line; strings.Contains(row.Raw, "\n") {
			return sheetOf{}, false
		}
	}
	for i, line := range lines {
		cells := cellsOf(line, sheet.delim)
		switch {
		case strings.Count(line, `"`)%2 != 0:
			return sheetOf{}, false
		case i+1 == first-1 && names(cells):
			sheet.header = cells
		case i+1 < first:
			sheet.before = append(sheet.before, line)
		case i+1 <= last:
			sheet.rows = append(sheet.rows, cells)
		default:
			sheet.after = append(sheet.after, line)
		}
	}
	same := !slices.ContainsFunc(sheet.rows, func(row []string) bool {
		return len(row) != len(sheet.rows[0]) ||
			sheet.header != nil && len(row) != len(sheet.header)
	})
	return sheet, same && (sheet.header != nil || !slices.ContainsFunc(sheet.before,
		func(line string) bool {
			return len(cellsOf(line, sheet.delim)) == len(sheet.rows[0])
		}))
}

// changes are the ways in which the form of a file is changed. A change that a sheet does not allow
// returns false.
var changes = []struct {
	name string
	do   func(*sheetOf, *rand.Rand) bool
}{
	{"another separator", func(s *sheetOf, random *rand.Rand) bool {
		s.delim = []string{",", ";", "\t", "|"}[random.IntN(4)]
		return len(s.before)+len(s.after) == 0
	}},
	{"another encoding", func(s *sheetOf, random *rand.Rand) bool {
		names := []string{"utf-8", "utf-8-bom", "utf-16le-bom", "utf-16be-bom", "utf-16le",
			"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
			"windows-1255", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "shift-jis",
			"gb18030", "euc-kr", "big5"}
		if !strings.ContainsFunc(s.text(), func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Katakana)
		}) {
			names = names[:len(names)-4] // No bank of another script writes those.
		}
		if !slices.Contains([]string{"EE", "LT", "LV"}, s.sample.country) {
			names = slices.DeleteFunc(names, func(n string) bool { return n == "windows-1257" })
		}
		s.encoding = names[random.IntN(len(names))]
		_, err := encoders[s.encoding].NewEncoder().String(s.text())
		return err == nil
	}},
	{"columns in another order", func(s *sheetOf, random *rand.Rand) bool {
		order := random.Perm(len(s.rows[0]))
		shuffle := func(row []string) []string {
			out := make([]string, len(row))
			for i, at := range order {
				out[i] = row[at]
			}
			return out
		}
		for i := range s.rows {
			s.rows[i] = shuffle(s.rows[i])
		}
		if s.header != nil {
			s.header = shuffle(s.header)
		}
		// Without names, the place of a balance or of a name is all that there is.
		return s.header != nil && !s.loose && len(s.after) == 0
	}},
	{"no header", func(s *sheetOf, _ *rand.Rand) bool {
		had := s.header != nil
		s.header, s.loose = nil, true
		return had && len(s.before) == 0
	}},
	{"unknown names", func(s *sheetOf, _ *rand.Rand) bool {
		for i := range s.header {
			s.header[i] = fmt.Sprintf("Xq%c", 'a'+i%26)
		}
		s.loose = true
		return s.header != nil
	}},
	{"rows in the other order", func(s *sheetOf, _ *rand.Rand) bool {
		slices.Reverse(s.rows)
		slices.Reverse(s.right)
		return true
	}},
	{"lines before and behind", func(s *sheetOf, random *rand.Rand) bool {
		s.before = append([]string{"Account statement", ""}, s.before...)
		s.after = append(s.after, "", []string{"End of the list", "Total" + s.delim + "123.45",
			"Printed on 20 January 2026"}[random.IntN(3)])
		return true
	}},
	{"days in another form", daysInAnotherForm},
	{"one column of amounts becomes two", splitAmounts},
}

var isoDay = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)$`)
var pointedDay = regexp.MustCompile(`^(\d\d)[./](\d\d)[./](\d{4})$`)

// daysInAnotherForm writes days with the year last, or as they are sorted.
func daysInAnotherForm(s *sheetOf, random *rand.Rand) bool {
	form := []string{"2006-01-02", "02.01.2006", "02/01/2006", "20060102", "2 Jan 2006"}
	to, done := form[random.IntN(len(form))], false
	for _, row := range s.rows {
		for i, cell := range row {
			from := ""
			switch parts := pointedDay.FindStringSubmatch(cell); {
			case isoDay.MatchString(cell):
				from = "2006-01-02"
			case parts != nil && parts[2] <= "12":
				from = "02" + cell[2:3] + "01" + cell[2:3] + "2006"
			default:
				continue
			}
			day, err := time.Parse(from, cell)
			if err != nil {
				return false
			}
			row[i], done = day.Format(to), true
		}
	}
	return done
}

// splitAmounts writes money out and money in into columns of their own.
func splitAmounts(s *sheetOf, _ *rand.Rand) bool {
	at := -1
	for _, c := range s.m.Columns {
		switch c.Role {
		case bankfile.RoleAmount:
			at = c.Index
		case bankfile.RoleDebit, bankfile.RoleCredit, bankfile.RoleDirection, bankfile.RoleFee:
			return false
		}
	}
	if at < 0 || s.header == nil || s.loose || s.m.Invert || at >= len(s.header) ||
		s.header[at] != columnName(s.m, at) || len(s.after) > 0 {
		return false
	}
	s.header = slices.Replace(slices.Clone(s.header), at, at+1, "Debit", "Credit")
	for i, row := range s.rows {
		cell := strings.TrimSpace(row[at])
		plain, out := strings.CutPrefix(cell, "-")
		if strings.ContainsAny(plain, "-+−()") {
			return false
		}
		pair := []string{"", plain}
		if out {
			pair = []string{plain, ""}
		}
		s.rows[i] = slices.Replace(slices.Clone(row), at, at+1, pair...)
	}
	return true
}

func columnName(m bankfile.Mapping, at int) string {
	for _, c := range m.Columns {
		if c.Index == at {
			return c.Name
		}
	}
	return ""
}

func (s *sheetOf) text() string {
	lines := slices.Clone(s.before)
	write := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = cell; strings.Contains(cell, s.delim) || strings.Contains(cell, `"`) {
				cells[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
		}
		lines = append(lines, strings.Join(cells, s.delim))
	}
	if s.header != nil {
		write(s.header)
	}
	for _, row := range s.rows {
		write(row)
	}
	return strings.Join(append(lines, s.after...), "\n") + "\n"
}

// verdict is what became of a variant.
type verdict int

// The verdicts.
const (
	readRight verdict = iota
	askedAbout
	toldAbout // A row is refused, or the file, or a doubt names the answer.
	wrongInSilence
)

func (s *sheetOf) judge(t *testing.T) (verdict, string) {
	t.Helper()
	raw, err := encoders[s.encoding].NewEncoder().String(s.text())
	if err != nil {
		t.Fatal(err)
	}
	r, err := read(raw, bankfile.Options{Currency: s.sample.currency})
	var undecided *bankfile.UndecidedError
	switch {
	case errors.As(err, &undecided):
		return askedAbout, err.Error()
	case err != nil:
		return toldAbout, err.Error()
	}
	entries := r.entries()
	why := ""
	if len(entries) != len(s.right) {
		why = fmt.Sprintf("%d rows", len(entries))
	}
	for i := 0; why == "" && i < len(entries); i++ {
		// The words must be kept; whether they are a name is known by the names of columns.
		row, e := strings.ReplaceAll(s.right[i], "| @", "| "), &entries[i]
		if s.loose {
			day := strings.Fields(row)[0]
			row = fmt.Sprintf("%s %s %s", day, strings.Fields(row)[1], s.sample.currency)
			e.Pending, e.Currency = false, s.sample.currency
			if day == string(e.ValueDate) || day == string(e.AuthorisedDate) {
				e.Date = bankfile.Date(day) // Without names, no day is more than another.
			}
		}
		if d := differs(row, e); d != "" {
			why = d + ", but want " + row
		}
	}
	switch {
	case why == "":
		return readRight, ""
	case slices.ContainsFunc(r.rows, func(row bankfile.Row) bool {
		return row.Outcome == bankfile.Refused || row.Outcome == bankfile.Warned
	}) || strings.Contains(strings.Join(r.file.Doubts, " "), "invert="):
		return toldAbout, why
	}
	return wrongInSilence, why
}

// variantSeed makes the table of the page about banks the same in each run.
const variantSeed = 20260101

// variantsOfEach is how many variants of each sample are read.
const variantsOfEach = 3

// variantTable reads variants of all samples and returns the table of what became of them.
func variantTable(t *testing.T, each int) (table string, all [4]int) {
	t.Helper()
	counts := make([][4]int, len(changes))
	for n, sample := range loadBanks(t) {
		for v := range each {
			random := rand.New(rand.NewPCG(variantSeed, uint64(n*1000+v)))
			sheet, ok := takeApart(t, &sample)
			if !ok {
				break
			}
			sheet.right = slices.Clone(sheet.right)
			var used []int
			for range 1 + random.IntN(3) {
				i := random.IntN(len(changes))
				next := sheet
				next.header, next.right = slices.Clone(sheet.header), slices.Clone(sheet.right)
				next.rows = make([][]string, len(sheet.rows))
				for r := range sheet.rows {
					next.rows[r] = slices.Clone(sheet.rows[r])
				}
				if !slices.Contains(used, i) && changes[i].do(&next, random) {
					raw := encoders[next.encoding].NewEncoder()
					if _, err := raw.String(next.text()); err == nil {
						sheet, used = next, append(used, i)
					}
				}
			}
			got, why := sheet.judge(t)
			all[got]++
			for _, i := range used {
				counts[i][got]++
			}
			if got != readRight {
				t.Logf("%s, %d: verdict %d, %s\n%v %s\n%s", sample.name, v, got, why, used,
					sheet.encoding, sheet.text())
			}
		}
	}
	var b strings.Builder
	line := func(name string, c [4]int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, c[0]+c[1]+c[2]+c[3],
			c[readRight], c[askedAbout], c[toldAbout], c[wrongInSilence])
	}
	for i, change := range changes {
		line(change.name, counts[i])
	}
	line("**all files**", all)
	return b.String(), all
}

// More variants than those of the page are read in long runs.
func TestVariantsOfBanksAreReadRight(t *testing.T) {
	if rounds() == 1 {
		t.Skip("TestBanksPage reads the variants of the page; EXCHEQUER_ROUNDS reads more")
	}
	_, all := variantTable(t, variantsOfEach*int(rounds()))
	checkVariants(t, all)
}

// checkVariants reports an error unless fewer than one variant of two hundred is wrong in silence,
// and fewer than one of ten asks.
func checkVariants(t *testing.T, all [4]int) {
	t.Helper()
	count := all[0] + all[1] + all[2] + all[3]
	t.Logf("of %d: %d right, %d asked, %d told, %d wrong in silence", count, all[readRight],
		all[askedAbout], all[toldAbout], all[wrongInSilence])
	if all[wrongInSilence]*200 > count || all[askedAbout]*10 > count {
		t.Errorf("of %d files, %d are wrong in silence and %d are asked about", count,
			all[wrongInSilence], all[askedAbout])
	}
}
