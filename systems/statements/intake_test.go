package statements

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// errCabinet is what a cabinet fails with.
var errCabinet = errors.New("the cabinet is stuck")

// cabinet keeps files in memory, and fails when it is told to.
type cabinet struct {
	mu    sync.Mutex
	files map[string][]byte
	stuck bool
}

func (c *cabinet) Put(_ context.Context, key string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck {
		return errCabinet
	}
	c.files[key] = text
	return nil
}

func (c *cabinet) Open(_ context.Context, key string) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck {
		return nil, errCabinet
	}
	text, ok := c.files[key]
	if !ok {
		return nil, ErrFileMissing
	}
	return memoryFile{bytes.NewReader(text)}, nil
}

func (c *cabinet) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.files, key)
	return nil
}

// intake is a user with two accounts, and a place for files.
type intake struct {
	*shelf
	files *cabinet
	p     *Person
	t     formatting
}

// formatting is what testing.TB and rapid.T have in common.
type formatting interface {
	tb
	Fatalf(format string, args ...any)
}

func newIntake(t testing.TB) *intake {
	t.Helper()
	files := &cabinet{files: map[string][]byte{}}
	s := newShelf(t, Options{Files: files})
	return &intake{s, files, s.user(t, "someone", "a", "b"), t}
}

// upload brings a file, whose upload has the file's name as its id.
func (i *intake) upload(account, name, text string) Received {
	i.t.Helper()
	r, err := i.p.Upload(context.Background(), account,
		UploadRequest{ID: name, FileName: name, Body: strings.NewReader(text)})
	if err != nil {
		i.t.Fatal(err)
	}
	return r
}

// bring uploads, previews and imports a file; what the preview shows is what the import does.
func (i *intake) bring(account, name, text string) Counts {
	i.t.Helper()
	r := i.upload(account, name, text)
	if r.Upload.Status != Parsed {
		i.t.Fatalf("%s is %s: %s %v", name, r.Upload.Status, r.Upload.Why, r.Questions)
	}
	return i.again(account, name)
}

// again previews and imports an upload.
func (i *intake) again(account, name string) Counts {
	i.t.Helper()
	ctx := context.Background()
	shown, err := i.p.Preview(ctx, account, name, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	done, err := i.p.Import(ctx, account, name, ImportOptions{Digest: shown.Digest})
	if err != nil {
		i.t.Fatal(err)
	}
	if done.Status != Processed || done.Counts != shown.Counts || done.Counts.Rows() != done.Rows {
		i.t.Fatalf("%s: the preview shows %+v, the import of %d rows did %+v, %s",
			name, shown.Counts, done.Rows, done.Counts, done.Status)
	}
	i.adds(account)
	return done.Counts
}

// allOf is a range that takes in all rows of the tests.
func allOf(account string) Range {
	return Range{AccountID: account, From: "2024-12-01", To: "2026-06-30"}
}

// rows lists the transactions of an account.
func (i *intake) rows(account string) []Transaction {
	i.t.Helper()
	var rows []Transaction
	for t, err := range i.p.All(context.Background(), allOf(account)) {
		if err != nil {
			i.t.Fatal(err)
		}
		rows = append(rows, t)
	}
	return rows
}

// lines shows the transactions of an account for comparing.
func (i *intake) lines(account string) []string {
	i.t.Helper()
	var lines []string
	for _, t := range i.rows(account) {
		line := fmt.Sprintf("%s %s %s", t.Date, t.Amount, t.Merchant)
		if t.Pending {
			line += " pending"
		}
		if t.Notes != "" {
			line += " (" + t.Notes + ")"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines) // Rows of one day stand in the order of their ids, which says nothing.
	return lines
}

// adds checks that the sheets are what the rows add up to.
func (i *intake) adds(account string) {
	i.t.Helper()
	got := map[string]string{}
	sheets, err := i.p.months().sheets(context.Background(), account, "", "")
	if err != nil {
		i.t.Fatal(err)
	}
	for _, s := range sheets {
		if s.All.Count != 0 {
			got[book.MonthOf(s.Month)] = fmt.Sprint(s.All.Count, " ", s.All.In, " ", s.All.Out)
		}
	}
	in, out, count := map[string]money.Decimal{}, map[string]money.Decimal{}, map[string]int{}
	for _, t := range i.rows(account) {
		m := book.MonthOf(t.Date)
		count[m]++
		side := in
		if t.Amount.Sign() < 0 {
			side = out
		}
		if side[m], err = side[m].Add(t.Amount); err != nil {
			i.t.Fatal(err)
		}
	}
	want := map[string]string{}
	for m := range count {
		want[m] = fmt.Sprint(count[m], " ", in[m], " ", out[m])
	}
	if d := cmp.Diff(want, got); d != "" {
		i.t.Fatalf("the sheets of %s are not what the rows add up to (-rows +sheets):\n%s",
			account, d)
	}
}

// state is all that is kept of an account's rows, but for versions.
func (i *intake) state(account string) (rows []Transaction, entries []Entry) {
	i.t.Helper()
	rows = i.rows(account)
	for n := range rows {
		rows[n].Version = 0
	}
	for _, month := range monthsOf("2024-11-01", "2026-07-31") {
		in := OfMonth{i.p.id, account, month}
		for e, err := range modelOf(i.p).entriesOf.All(context.Background(), i.p.store(), in) {
			if err != nil {
				i.t.Fatal(err)
			}
			e.Version = 0
			entries = append(entries, e)
		}
	}
	return rows, entries
}

// csv makes a file of rows "2025-07-01,-5.00,Coffee"; a fourth column is the bank's id.
func csvFile(rows ...string) string {
	head := "Date,Amount,Description"
	if len(rows) > 0 && strings.Count(rows[0], ",") == 3 {
		head += ",Transaction ID"
	}
	return head + "\n" + strings.Join(rows, "\n") + "\n"
}

// ofxFile makes an OFX file of rows "id,20250701,-5.00,Name".
func ofxFile(account string, rows ...string) string {
	var b strings.Builder
	b.WriteString("OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS>" +
		"<STMTRS><CURDEF>NZD<BANKACCTFROM><BANKID>1<ACCTID>" + account +
		"<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST>\n")
	for _, row := range rows {
		f := strings.Split(row, ",")
		fmt.Fprintf(&b, "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>%s<TRNAMT>%s<FITID>%s<NAME>%s",
			f[1], f[2], f[0], f[3])
		if len(f) > 4 {
			fmt.Fprintf(&b, "<CORRECTFITID>%s<CORRECTACTION>%s", f[4], f[5])
		}
		b.WriteString("</STMTTRN>\n")
	}
	b.WriteString("</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n")
	return b.String()
}

func (i *intake) want(account string, lines ...string) {
	i.t.Helper()
	if d := cmp.Diff(lines, i.lines(account)); d != "" {
		i.t.Fatalf("account %s (-want +got):\n%s", account, d)
	}
}

func (i *intake) counts(what string, got, want Counts) {
	i.t.Helper()
	if got != want {
		i.t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}
