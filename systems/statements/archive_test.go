package statements

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// memory keeps files in memory.
type memory map[string][]byte

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (m memory) Put(_ context.Context, key string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		m[key] = text
	}
	return err
}

func (m memory) Open(_ context.Context, key string) (File, error) {
	if _, ok := m[key]; !ok {
		return nil, ErrFileMissing
	}
	return memoryFile{bytes.NewReader(m[key])}, nil
}

func (m memory) Delete(_ context.Context, key string) error {
	delete(m, key)
	return nil
}

// furnish gives a user something of every kind.
func furnish(t tb, s *shelf, files memory, p *Person, rows ...Transaction) {
	t.Helper()
	ctx, m := context.Background(), modelOf(p)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.SaveProfile(ctx, "someone@example.com", Preferences{Currency: "NZD"}, 0)
	must(err)
	for _, id := range []string{"a", "b", "a#%"} {
		n := NewAccount{ID: id, Name: "Account " + id, Currency: "NZD"}
		_, _, err := p.CreateAccount(ctx, n)
		must(err)
	}
	put(t, p, rows...)
	key := "uploads/" + keyPart(p.id) + "/a/upload-1/bank.csv"
	must(files.Put(ctx, key, strings.NewReader("Date,Amount\n2026-01-01,5\n")))
	must(files.Put(ctx, key+".rows.jsonl", strings.NewReader("{}\n")))
	gone := Upload{UserID: p.id, AccountID: "b", ID: "upload-2", FileKey: key + "x", FileGone: true,
		UploadedAt: p.now().Truncate(time.Second), Months: []string{"2025-12"}, Version: 2}
	zero := dec("0")
	must(m.uploads.PutAll(ctx, p.store(), []Upload{gone, {UserID: p.id, AccountID: "a",
		ID: "upload-1", FileKey: key, Status: Processed, Opening: &zero, Counts: Counts{New: 3},
		UploadedAt: p.now().Truncate(time.Second), Version: 7}}))
	must(m.entries.PutAll(ctx, p.store(), []Entry{
		{UserID: p.id, AccountID: "a", Month: "-", ID: "of another", State: Live,
			Date: "2026-01-01", Currency: "NZD", Source: FromBank, Version: 1},
		{UserID: p.id, AccountID: "b", Month: "2025-11", ID: "txn-202511-x", State: Deleted,
			Date: "2025-11-11", Amount: dec("-3"), Currency: "NZD", Source: FromBank, Version: 2}}))
	yes := true
	must(m.rules.Put(ctx, p.store(), Rule{UserID: p.id, ID: "rule-1", Name: "Coffee",
		Conditions: []Condition{{Field: OnText, Op: OpContains, Text: "<coffee>"}},
		Set:        Setting{Transfer: &yes}, CreatedAt: p.now(), UpdatedAt: p.now(), Version: 3}))
	must(m.jobs.Put(ctx, p.store(), Job{UserID: p.id, ID: "job-1", Kind: ApplyingRules,
		Month: "2026-01-01", CreatedAt: p.now(), UpdatedAt: p.now(), Version: 1}))
}

// rich is a row with everything.
func rich() Transaction {
	return Transaction{AccountID: "a#%", ID: "txn-202602-zz", Date: "2026-02-28",
		Amount: dec("-12.345"), Merchant: `"=Café" & <Söhne>`, Notes: "line\nline\u2028",
		Annotations: []Annotation{{ID: "n", Text: "odd", Type: "advisory",
			CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
		Splits:  []Split{{Amount: dec("-12"), TagIDs: []string{"x"}}, {Amount: dec("-0.345")}},
		Foreign: dec("-7"), ForeignCurrency: "EUR", Edited: []string{FieldNotes, FieldDate},
		Ruled: map[string]string{FieldMerchant: "rule-1"}, Transfer: true, Line: 3,
		ValueDate: "2026-03-01", Pending: true, Source: FromBank, UploadID: "upload-1"}
}

// contents are the files of an archive by name, without the time of its making.
func contents(t tb, archive []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
	}
	var m manifest
	if err := json.Unmarshal([]byte(out[archiveManifest]), &m); err != nil {
		t.Fatal(err)
	}
	m.CreatedAt = time.Time{}
	out[archiveManifest] = fmt.Sprintf("%+v", m)
	return out
}

func archiveOf(t tb, p *Person) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := p.Archive(context.Background(), &out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func restore(p *Person, archive []byte) (ArchiveCounts, error) {
	return p.Restore(context.Background(), bytes.NewReader(archive), int64(len(archive)), nil)
}

// TestAnArchiveComesBackWithoutLoss restores it for another user and archives that one.
func TestAnArchiveComesBackWithoutLoss(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	round := 0
	rounds(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		round++
		from := s.user(t, fmt.Sprintf("from/%d", round))
		rows := []Transaction{rich()}
		for i := range rapid.IntRange(0, 12).Draw(r, "rows") {
			rows = append(rows, *anyRow(r, "a", fmt.Sprintf("txn-2025%02d-%d",
				rapid.IntRange(1, 3).Draw(r, "booked"), i)))
		}
		furnish(r, s, files, from, rows...)
		if rapid.Bool().Draw(r, "foreign") {
			foreign(r, from, Transaction{AccountID: "b", ID: "foreign", Date: "1971-05-05",
				Currency: "NZD", Amount: dec("9")})
		}
		first := archiveOf(r, from)
		to := s.user(t, fmt.Sprintf("to %d", round))
		counts, err := restore(to, first)
		if err != nil {
			r.Fatal(err)
		}
		if counts.Files != 2 || counts.Uploads != 2 || counts.Rules != 1 ||
			counts.Transactions < len(rows) {
			r.Fatalf("%+v", counts)
		}
		if diff := cmp.Diff(contents(r, first), contents(r, archiveOf(r, to))); diff != "" {
			r.Fatal(diff)
		}
		for _, account := range []string{"a", "b", "a#%"} {
			was := checkTotals(r, from, account, CheckOptions{})
			if diff := cmp.Diff(was, checkTotals(r, to, account, CheckOptions{})); diff != "" {
				r.Fatalf("totals: %s", diff)
			}
		}
		u, found, err := s.Books.model.(*model).uploads.Get(context.Background(), s.store,
			Upload{UserID: to.id, AccountID: "a", ID: "upload-1"})
		if err != nil || !found || string(files[u.FileKey]) != "Date,Amount\n2026-01-01,5\n" ||
			!strings.HasPrefix(u.FileKey, "uploads/"+keyPart(to.id)+"/a/") {
			r.Fatal(u.FileKey, err)
		}
		if _, err := restore(to, first); !errors.Is(err, ErrNotEmpty) {
			r.Fatalf("a second time: %v", err)
		}
	})
}

// sumOfX is the SHA-256 of the one byte that the files here have.
const sumOfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

// TestAnArchiveWithoutAStatementIsNone takes away each of the files of uploads in turn.
func TestAnArchiveWithoutAStatementIsNone(t *testing.T) {
	const key = "uploads/someone/a/u/bank.csv"
	for name, c := range map[string]struct {
		upload Upload
		has    []string
		files  int // How many the archive has; -1 where there is none.
	}{
		"both": {Upload{Status: Processed, Hash: sumOfX, Size: 1},
			[]string{key, key + ".rows.jsonl"},
			2},
		"a reading": {Upload{Status: Parsed, Hash: sumOfX, Size: 1}, []string{key}, 1},
		"no reading": {Upload{Status: Processed, Hash: sumOfX, Size: 1},
			[]string{key + ".rows.jsonl"},
			-1},
		"nothing": {Upload{Status: Parsed, Hash: sumOfX, Size: 1}, nil, -1},
		// Another program notes no digest of what has arrived.
		"nothing of another program": {Upload{Status: Processed}, nil, -1},
		"what never arrived":         {Upload{Status: Uploaded}, nil, 0},
		"what was deleted": {Upload{Status: Processed, Hash: sumOfX, FileGone: true},
			nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			files := memory{}
			s := newShelf(t, Options{Files: files})
			p := s.user(t, "someone", "a")
			for _, key := range c.has {
				files[key] = []byte("x")
			}
			u := c.upload
			u.UserID, u.AccountID, u.ID, u.FileKey = p.id, "a", "u", key
			if err := modelOf(p).uploads.Put(t.Context(), p.store(), u); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			counts, err := p.Archive(t.Context(), &out, nil)
			if c.files < 0 {
				if !errors.Is(err, ErrFileMissing) {
					t.Errorf("got %+v, %v", counts, err)
				}
				return
			}
			if err != nil || counts.Files != c.files {
				t.Fatalf("got %+v, %v", counts, err)
			}
			if _, err := restore(s.user(t, "other"), out.Bytes()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnArchiveIsTheSameBytesAgain(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "someone")
	furnish(t, s, files, p, rich())
	if !bytes.Equal(archiveOf(t, p), archiveOf(t, p)) {
		t.Error("two archives of the same differ")
	}
}

// repack changes the files of an archive; a nil text takes one away. The manifest is made to fit
// unless it is changed itself.
func repack(t *testing.T, archive []byte, change map[string]*string, fit bool) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	texts := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(in)
		texts[f.Name] = string(text)
	}
	if err := json.Unmarshal([]byte(texts[archiveManifest]), &m); err != nil {
		t.Fatal(err)
	}
	for name, text := range change {
		if delete(texts, name); text != nil {
			texts[name] = *text
		}
	}
	var out bytes.Buffer
	a := &archiver{zip: zip.NewWriter(&out)}
	names := slices.Sorted(maps.Keys(texts))
	for _, name := range names {
		if name == archiveManifest {
			continue
		}
		if err := a.begin(name); err != nil {
			t.Fatal(err)
		}
		_, _ = a.Write([]byte(texts[name]))
		a.end()
	}
	if m.Files = a.done; fit {
		text, _ := json.Marshal(m)
		texts[archiveManifest] = string(text)
	}
	if text, ok := texts[archiveManifest]; ok {
		_ = a.begin(archiveManifest)
		_, _ = a.Write([]byte(text))
	}
	if err := a.zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestADamagedOrForeignArchiveIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	furnish(t, s, files, s.user(t, "someone"), rich())
	good := archiveOf(t, s.user(t, "someone"))
	read := contents(t, good)
	with := func(name string, text string) map[string]*string {
		return map[string]*string{name: &text}
	}
	fitting := func(name, text string) []byte { return repack(t, good, with(name, text), true) }
	lacking := func(name string, fit bool) []byte {
		return repack(t, good, map[string]*string{name: nil}, fit)
	}
	manifested := func(text string) []byte {
		return repack(t, good, with(archiveManifest, text), false)
	}
	row := func(more string) []byte {
		return fitting(archiveTransactions, `{"accountId":"a","transactionId":"x"`+more+`}`)
	}
	keyed := func(key string) []byte {
		return fitting(archiveUploads,
			`{"accountId":"a","uploadId":"u","s3ObjectKey":"`+key+`"}`)
	}
	bomb := func() []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, _ := z.Create("zeros")
		zeros := make([]byte, 1<<20)
		for range 80 {
			_, _ = w.Write(zeros)
		}
		_ = z.Close()
		return out.Bytes()
	}
	flipped := slices.Clone(good)
	z, err := zip.NewReader(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	offset, err := z.File[slices.Index(archiveOrder, archiveTransactions)].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	flipped[offset+20] ^= 0x20
	for name, c := range map[string]struct {
		archive []byte
		why     string
	}{
		"no zip":          {[]byte("Date,Amount"), "no zip file"},
		"nothing":         {nil, "no zip file"},
		"cut off":         {good[:len(good)-9], "no zip file"},
		"a bit turned":    {flipped, "transactions.jsonl is damaged"},
		"a zip bomb":      {bomb(), "more than an archive of its size is"},
		"another zip":     {lacking(archiveManifest, false), "has no manifest.json"},
		"another format":  {manifested(`{"format":"zip"}`), "no archive of statements"},
		"a later version": {manifested(`{"format":"exchequer-statements","version":2}`), "is 2"},
		"no manifest":     {manifested(`[]`), "not what it should be"},
		"a changed file":  {repack(t, good, with(archiveTags, ""), false), "damaged"},
		"one more file":   {repack(t, good, with("../evil", ""), false), "does not name"},
		"an unknown file": {fitting("../evil", ""), "not known here"},
		"a missing file":  {lacking(archiveTags, true), "tags.jsonl is missing"},
		"fewer lines":     {fitting(archiveRules, ""), "other numbers"},
		"a line twice": {fitting(archiveTransactions,
			strings.Repeat(read[archiveTransactions], 2)), "there twice"},
		"an unknown member": {fitting(archiveTags, `{"tagId":"a","text":"b","color":"red"}`),
			`"color" is not known`},
		"no account":                  {fitting(archiveAccounts, ""), "account that is not there"},
		"no currency":                 {row(`,"date":"2026-01-01"`), "no currency"},
		"no date":                     {row(`,"date":"2026-02-30"`), "no calendar day"},
		"no id":                       {fitting(archiveTags, `{"text":"b"}`), "no id"},
		"no file of an upload":        {keyed("x"), "of an upload's file"},
		"a file below none":           {keyed("-1/a/u/x"), "of an upload's file"},
		"a file of another user":      {keyed("1/../other/a/u/x"), "of an upload's file"},
		"one of another user, deeper": {keyed("1/a/../../other/x"), "of an upload's file"},
		"a file right here":           {keyed("1/a/./x"), "of an upload's file"},
		"a file from the root":        {keyed("1//etc/passwd"), "of an upload's file"},
		"a folder":                    {keyed("1/a/u/"), "of an upload's file"},
		"no name of a file":           {keyed("1/"), "of an upload's file"},
		"no month": {fitting(archiveEntries,
			`{"accountId":"a","transactionId":"x","month":"2026-13"}`), "no calendar day"},
		"the file of another upload": {fitting(archiveUploads, `{"accountId":"a","uploadId":"u",`+
			`"s3ObjectKey":"1/a/u/x","size":25,"sha256":"`+sumOfX+`"}`),
			"not the one that was uploaded"},
		"no number": {row(`,"amount":"1e9"`), "line 1 of its file transactions.jsonl: amount"},
	} {
		t.Run(name, func(t *testing.T) {
			p := s.user(t, "reader")
			_, err := restore(p, c.archive)
			if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v", err)
			}
			if left := itemsOf(t, s, "reader"); len(left) > 0 {
				t.Errorf("written: %v", left)
			}
		})
	}
}

// itemsOf lists the keys of all items that name a user.
func itemsOf(t tb, s *shelf, user string) []string {
	t.Helper()
	var out []string
	in := &dynamo.ScanInput{TableName: s.Books.model.(*model).table.Name()}
	for {
		page, err := s.db.Scan(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			key := item["PK"].S() + " " + item["SK"].S()
			parts := strings.FieldsFunc(key, func(r rune) bool { return r == '#' || r == ' ' })
			if slices.Contains(parts, user) {
				out = append(out, key)
			}
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return out
		}
	}
}

// TestARestoreThatIsCutOffIsFinishedByAnother fails a write of the store at each place in turn.
func TestARestoreThatIsCutOffIsFinishedByAnother(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	if storetest.Remote() {
		t.Skip("faults are the embedded engine's")
	}
	from := s.user(t, "from")
	var rows []Transaction
	for i := range 120 {
		rows = append(rows, Transaction{AccountID: "a", ID: fmt.Sprintf("txn-202601-%03d", i),
			Date: Date(fmt.Sprintf("2026-01-%02d", 1+i%28)), Amount: dec("-1"),
			TagIDs: []string{"x"}})
	}
	furnish(t, s, files, from, rows...)
	archive := archiveOf(t, from)
	want := contents(t, archive)
	other := archiveOf(t, s.user(t, "empty"))
	whole := false
	for cut := 1; !whole; cut++ {
		to := s.user(t, fmt.Sprintf("to-%d", cut))
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		_, err := to.Restore(ctx, bytes.NewReader(archive), int64(len(archive)),
			func(ArchiveCounts) {
				if told++; told == cut {
					cancel()
				}
			})
		cancel()
		if whole = err == nil; !whole {
			if _, err := restore(to, other); !errors.Is(err, ErrNotEmpty) {
				t.Fatalf("cut %d: another archive: %v", cut, err)
			}
			if _, err := restore(to, archive); err != nil {
				t.Fatalf("cut %d: %v", cut, err)
			}
		}
		if diff := cmp.Diff(want, contents(t, archiveOf(t, to))); diff != "" {
			t.Fatalf("cut %d: %s", cut, diff)
		}
		if c := checkTotals(t, to, "a", CheckOptions{}); c.Differ != 0 || c.Rows != 120 {
			t.Fatalf("cut %d: %+v", cut, c)
		}
	}
}
