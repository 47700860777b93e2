package statements

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// parses is a place for files that counts how often each file is parsed, and how often it is
// looked through for its encoding.
type parses struct {
	*cabinet
	mu     sync.Mutex
	parsed int
	scans  int
}

func (c *parses) Open(ctx context.Context, key string) (File, error) {
	f, err := c.cabinet.Open(ctx, key)
	if err != nil || strings.HasSuffix(key, ".rows") {
		return f, err
	}
	return &countedFile{f, c}, nil
}

type countedFile struct {
	File
	c *parses
}

// ReadAt counts readings of the last block of the file, by what reads it.
func (f *countedFile) ReadAt(p []byte, from int64) (int, error) {
	if from == (f.Size()-1)/blockSize*blockSize {
		var callers [100]uintptr
		frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			f.c.mu.Lock()
			switch {
			case strings.HasSuffix(frame.Function, "bankfile.(*File).parse"):
				f.c.parsed++
			case strings.HasSuffix(frame.Function, "internal/charset.detect"):
				f.c.scans++
			}
			f.c.mu.Unlock()
		}
	}
	return f.File.ReadAt(p, from)
}

// times returns how often files were parsed and looked through since the last call.
func (c *parses) times() (parsed, scans int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parsed, scans = c.parsed, c.scans
	c.parsed, c.scans = 0, 0
	return parsed, scans
}

func newCounted(t *testing.T) (*intake, *parses) {
	t.Helper()
	files := &parses{cabinet: &cabinet{files: map[string][]byte{}}}
	s := newShelf(t, Options{Files: files})
	return &intake{s, files.cabinet, s.user(t, "someone", "a", "b"), t}, files
}

// filler makes a row so long that a file of some has several blocks.
var filler = strings.Repeat(" of the town", 330)

const fillerRows = 35

func largeCSV(date func(int) string) string {
	var b strings.Builder
	b.WriteString("Date,Amount,Description\n")
	for n := range fillerRows {
		fmt.Fprintf(&b, "%s,-%d.00,Shop %d%s\n", date(n), 1+n%7, n, filler)
	}
	return b.String()
}

func isoDate(n int) string  { return fmt.Sprintf("2025-07-%02d", 1+n%28) }
func openDate(n int) string { return fmt.Sprintf("%02d/%02d/2025", 1+n%12, 1+n*5%12) }

// largeQIF makes a file of an account with a balance whose date may be either order.
func largeQIF(balance string) string {
	var b strings.Builder
	b.WriteString("!Type:Bank\n" + balance)
	for n := range fillerRows {
		fmt.Fprintf(&b, "D%s\nT-%d.00\nPShop %d\nM%s\n^\n", openDate(n), 1+n%7, n, filler)
	}
	return b.String()
}

// A file is parsed at most three times from its upload to the end of its import, whatever is asked
// and looked at on the way.
func TestAFileIsParsedAtMostThreeTimes(t *testing.T) {
	const most = 3
	type step = func(t *testing.T, i *intake, id string)
	answer := func(topic bankfile.Topic, value string) step {
		return func(t *testing.T, i *intake, id string) {
			r, err := i.p.Questions(t.Context(), "a", id)
			if err != nil || len(r.Questions) != 1 || r.Questions[0].Topic != topic {
				t.Fatalf("questions: %+v, %v", r.Questions, err)
			}
			if _, err := i.p.Preview(t.Context(), "a", id, nil); !errors.Is(err, ErrUndecided) {
				t.Fatalf("preview with an open question: %v", err)
			}
			_, err = i.p.Answer(t.Context(), "a", id, map[bankfile.Topic]string{topic: value})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var ofx []string
	for n := range fillerRows {
		ofx = append(ofx, fmt.Sprintf("X%d,202507%02d,-%d,500,Shop%s", n, 1+n%28, 1+n%7, filler))
	}
	for n := range ofx { // The mark of the amounts is open, because it has three digits behind it.
		ofx[n] = strings.Replace(ofx[n], ",500,", ".500,", 1)
	}
	accounts := func(day string) string {
		text := strings.ReplaceAll(largeCSV(func(int) string { return day }), "\n"+day,
			"\n12-3456-001,"+day)
		return "Account," + text + "12-3456-002," + day + ",-1.00,Other\n"
	}
	for name, c := range map[string]struct {
		file    string
		before  string // A file that is imported before.
		mapping *bankfile.Mapping
		ask     []step
		want    Counts
	}{
		"no row is known": {file: largeCSV(isoDate), want: Counts{New: fillerRows}},
		"all rows are known": {file: largeCSV(isoDate) + "2025-07-29,-1.00,Bar\n",
			before: largeCSV(isoDate), want: Counts{New: 1, Known: fillerRows}},
		"the order of dates is asked": {file: largeCSV(openDate),
			ask:  []step{answer(bankfile.AskOrder, "day-month-year")},
			want: Counts{New: fillerRows}},
		"the order is asked and rows are known": {file: largeCSV(openDate),
			before: largeCSV(isoDate),
			ask:    []step{answer(bankfile.AskOrder, "day-month-year")}},
		"the account is asked": {file: accounts("2025-07-01"),
			want: Counts{New: fillerRows, Skipped: 1},
			ask:  []step{answer(AskStatement, "12-3456-001")}},
		"the order and then the account are asked": {
			file: accounts("07/08/2025"),
			want: Counts{New: fillerRows, Skipped: 1},
			ask: []step{answer(bankfile.AskOrder, "month-day-year"),
				answer(AskStatement, "12-3456-001")}},
		"OFX":           {file: ofxFile("11-1", ofx...), want: Counts{New: fillerRows}},
		"OFX after CSV": {file: ofxFile("11-1", ofx...), before: largeCSV(isoDate)},
		"QIF, and the order": {file: largeQIF(""), ask: qifOrder,
			want: Counts{New: fillerRows}},
		"QIF with a balance too": {file: largeQIF(qifBalance), ask: qifOrder},
	} {
		t.Run(name, func(t *testing.T) {
			i, files := newCounted(t)
			if c.before != "" {
				i.bring("a", "before", c.before)
			}
			files.times()
			i.upload("a", "1", c.file)
			for _, ask := range c.ask {
				ask(t, i, "1")
			}
			got := i.again("a", "1")
			if c.want != (Counts{}) && got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if parsed, scans := files.times(); parsed > most || scans > most {
				t.Errorf("parsed %d times, looked through %d times", parsed, scans)
			} else if parsed < 2 {
				t.Errorf("parsed %d times: the counter does not count", parsed)
			}
			if left := i.stored(); len(left) > 0 {
				t.Errorf("rows are still stored after the import: %v", left)
			}
		})
	}
}

const qifBalance = "D01/02/2025\nT100.00\nPOpening Balance\n^\n"

var qifOrder = []func(*testing.T, *intake, string){func(t *testing.T, i *intake, id string) {
	_, err := i.p.Answer(t.Context(), "a", id, map[bankfile.Topic]string{
		bankfile.AskOrder: "day-month-year"})
	if err != nil {
		t.Fatal(err)
	}
}}

// stored returns the keys of stored rows.
func (i *intake) stored() (keys []string) {
	i.files.mu.Lock()
	defer i.files.mu.Unlock()
	for key := range i.files.files {
		if strings.HasSuffix(key, ".rows") {
			keys = append(keys, key)
		}
	}
	return keys
}

// decisions are all decisions of a preview with the rows that they make, but for the time.
func (i *intake) decisions(account, id string) (all []Decision) {
	i.t.Helper()
	_, err := i.p.Preview(context.Background(), account, id, func(d Decision) bool {
		if d.Transaction != nil {
			row := *d.Transaction
			row.CreatedAt = time.Time{}
			d.Transaction = &row
		}
		all = append(all, d)
		return true
	})
	if err != nil {
		i.t.Fatal(err)
	}
	return all
}

// Whatever happens to the stored rows, and whatever changes what they depend on, a preview decides
// as it does for a file that is parsed.
func TestStoredRowsAreUsedOnlyWhileTheyHold(t *testing.T) {
	file := "Date,Vendor,Amount\n2025-01-02,Coffee House,-4.50\n2025-01-03,Book Shop,-12.00\n" +
		"2025-01-03,Book Shop,-12.00\n"
	for n := range fillerRows {
		file += fmt.Sprintf("%d Jan 2025,Shop %d%s,-1.00\n", n%28, n, filler)
	}
	upload := func(i *intake, change func(*Upload)) {
		_, err := i.p.files().changeUpload(context.Background(), "a", "1", func(u *Upload) error {
			change(u)
			return nil
		})
		if err != nil {
			i.t.Fatal(err)
		}
	}
	object := func(i *intake, change func([]byte) []byte) {
		for _, key := range i.stored() {
			i.files.files[key] = change(bytes.Clone(i.files.files[key]))
		}
	}
	for name, c := range map[string]struct {
		change func(i *intake)
		uses   bool // The rows are still those of the file.
	}{
		"nothing changes": {func(*intake) {}, true},
		"a known row": {func(i *intake) {
			i.bring("a", "2", "Date,Vendor,Amount\n2025-01-03,Book Shop,-12.00\n")
		}, true},
		"the account remembers a different mapping": {func(i *intake) {
			i.remembers(dateColumn, amountColumn, bankfile.Column{Index: 1, Name: "Vendor",
				Role: bankfile.RoleReference})
		}, true},
		"a known row of a different mapping": {func(i *intake) {
			i.remembers(dateColumn, amountColumn, bankfile.Column{Index: 1, Name: "Vendor",
				Role: bankfile.RoleReference})
			i.bring("a", "2", "Date,Vendor,Amount\n2025-01-03,Book Shop,-12.00\n")
		}, false},
		"the mapping": {func(i *intake) {
			m := bankfile.Mapping{Version: bankfile.MappingVersion, Invert: true, SignsGiven: true}
			if _, err := i.p.Remap(context.Background(), "a", "1", m); err != nil {
				i.t.Fatal(err)
			}
			upload(i, func(u *Upload) {
				u.MappingText = strings.Replace(u.MappingText,
					`"invert":true,`, "", 1)
			})
		}, false},
		"the rows are gone": {func(i *intake) {
			_ = i.files.Delete(context.Background(), i.stored()[0]) // It never fails.
		}, false},
		"the rows are cut": {func(i *intake) {
			object(i, func(b []byte) []byte { return b[:40] })
		}, false},
		"the rows are damaged": {func(i *intake) {
			object(i, func(b []byte) []byte { b[30] ^= 1; return b })
		}, false},
		"the rows are of a different file": {func(i *intake) {
			upload(i, func(u *Upload) { u.RowsHash = strings.Repeat("0", 64) })
		}, false},
		"the rows are not known": {func(i *intake) {
			upload(i, func(u *Upload) { u.RowsHash = "" })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			i, files := newCounted(t)
			i.upload("a", "1", file)
			c.change(i)
			files.times()
			got := i.decisions("a", "1")
			if parsed, _ := files.times(); (parsed == 0) != c.uses {
				t.Errorf("parsed %d times", parsed)
			}
			upload(i, func(u *Upload) { u.RowsHash = "" })
			if d := cmp.Diff(i.decisions("a", "1"), got); d != "" {
				t.Errorf("with stored rows (-file +stored rows):\n%s", d)
			}
		})
	}
}
