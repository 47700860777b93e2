package statements

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/match"
)

// jammed is a place for files that cannot be read while it is told so.
type jammed struct {
	*cabinet
	jam bool
}

func (j *jammed) Open(ctx context.Context, key string) (File, error) {
	if j.jam {
		return nil, errCabinet
	}
	return j.cabinet.Open(ctx, key)
}

func TestAFileThatCouldNotBeReadIsReadByARepeat(t *testing.T) {
	files := &jammed{cabinet: &cabinet{files: map[string][]byte{}}, jam: true}
	s := newShelf(t, Options{Files: files})
	i := &intake{s, files.cabinet, s.user(t, "someone", "a"), t}
	file := csvFile("2025-07-01,-9.00,Shop")
	request := func() UploadRequest { return UploadRequest{ID: "1", Body: strings.NewReader(file)} }
	if _, err := i.p.Upload(t.Context(), "a", request()); !errors.Is(err, errCabinet) {
		t.Fatalf("upload = %v", err)
	}
	if u, err := i.p.UploadOf(t.Context(), "a", "1"); err != nil || u.Hash == "" {
		t.Fatalf("what has arrived: %+v, %v", u, err)
	}
	files.jam = false
	if r, err := i.p.Upload(t.Context(), "a", request()); err != nil || r.Upload.Status != Parsed {
		t.Fatalf("the repeat: %+v, %v", r, err)
	}
	i.counts("imported", i.again("a", "1"), Counts{New: 1})
}

// TestAFileThatCannotBeReadIsShownAsThat has one whose first reading was cut off.
func TestAFileThatCannotBeReadIsShownAsThat(t *testing.T) {
	files := &jammed{cabinet: &cabinet{files: map[string][]byte{}}, jam: true}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "someone", "a")
	request := func() UploadRequest {
		return UploadRequest{ID: "1", Body: strings.NewReader("%PDF-1.7 no rows")}
	}
	if _, err := p.Upload(t.Context(), "a", request()); !errors.Is(err, errCabinet) {
		t.Fatalf("upload = %v", err)
	}
	files.jam = false
	shown, err := p.Questions(t.Context(), "a", "1")
	if err != nil || shown.Upload.Status != Failed || len(shown.Questions) > 0 {
		t.Fatalf("shown: %+v, %v", shown, err)
	}
	r, err := p.Upload(t.Context(), "a", request())
	if err != nil || r.Upload.Status != Failed || r.Upload.Why != shown.Upload.Why {
		t.Errorf("the repeat: %+v, %v; shown was %q", r, err, shown.Upload.Why)
	}
}

// TestWithoutAPlaceForFilesWhatIsNotThereIsNotThere asks for uploads where no files are kept.
func TestWithoutAPlaceForFilesWhatIsNotThereIsNotThere(t *testing.T) {
	i := newIntake(t)
	i.bring("a", "1", csvFile("2025-07-01,-9.00,Shop"))
	i.opts.Files = nil
	for id, missing := range map[string]error{"1": ErrNoFiles, "none": ErrNoUpload} {
		for name, do := range map[string]func() error{
			"preview": func() error {
				_, err := i.p.Preview(t.Context(), "a", id, nil)
				return err
			},
			"import": func() error {
				_, err := i.p.Import(t.Context(), "a", id, ImportOptions{})
				return err
			},
			"answer": func() error {
				_, err := i.p.Answer(t.Context(), "a", id, nil)
				return err
			},
			"outcomes": func() error {
				_, err := i.p.Outcomes(t.Context(), "a", id, nil, 0, 1)
				return err
			},
			"delete the file": func() error {
				_, err := i.p.DeleteFile(t.Context(), "a", id)
				return err
			},
		} {
			want := missing
			if id == "1" && name == "answer" {
				want = ErrUploadState // It is imported.
			}
			if err := do(); !errors.Is(err, want) {
				t.Errorf("%s of %s: got %v, want %v", name, id, err, want)
			}
		}
	}
	if u, err := i.p.UploadOf(t.Context(), "a", "1"); err != nil || u.FileGone {
		t.Errorf("the upload: %+v, %v", u, err)
	}
}

func TestAReadingThatFailsLeavesTheUploadAsItWas(t *testing.T) {
	files := &jammed{cabinet: &cabinet{files: map[string][]byte{}}}
	s := newShelf(t, Options{Files: files})
	i := &intake{s, files.cabinet, s.user(t, "someone", "a"), t}
	before := i.upload("a", "1", csvFile("2025-07-01,-9.00,Shop")).Upload
	files.jam = true
	mapping := bankfile.Mapping{Version: bankfile.MappingVersion, Invert: true}
	if _, err := i.p.Remap(t.Context(), "a", "1", mapping); !errors.Is(err, errCabinet) {
		t.Fatalf("remap = %v", err)
	}
	after, err := i.p.UploadOf(t.Context(), "a", "1")
	if err != nil || after.Version != before.Version || len(after.Months) != 1 {
		t.Errorf("before %+v\nafter %+v, %v", before, after, err)
	}
}

func TestNotesThatARuleSetComeAndGoWithTheRow(t *testing.T) {
	i := newIntake(t)
	_, _, err := i.p.CreateRule(t.Context(), Rule{Name: "r", Conditions: []Condition{
		{Field: OnText, Op: OpContains, Text: "market"}}, Set: Setting{Notes: "food"}})
	if err != nil {
		t.Fatal(err)
	}
	i.bring("a", "1", ofxFile("11-1", "A,20250701,-5.00,Market", "B,20250702,-6.00,Shop"))
	i.want("a", "2025-07-01 -5 Market (food)", "2025-07-02 -6 Shop")
	i.counts("taken back and corrected", i.bring("a", "2", ofxFile("11-1",
		"C,20250701,-5.00,Market,A,DELETE", "D,20250702,-6.00,Market,B,REPLACE")),
		Counts{Deleted: 1, Merged: 1})
	i.want("a", "2025-07-02 -6 Market (food)")
	if _, err := i.p.Undo(t.Context(), "a", "2", UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	i.want("a", "2025-07-01 -5 Market (food)", "2025-07-02 -6 Shop")
	for _, row := range i.rows("a") {
		if what := touched(&row); len(what) > 0 {
			t.Errorf("%s has %v of a person", row.Merchant, what)
		}
	}
}

// TestWhatTheLargestRowWasFitsAnEntry makes a row of all that one may have, in signs that JSON
// writes with six bytes each, part of what a bank corrects, and takes it out again.
func TestWhatTheLargestRowWasFitsAnEntry(t *testing.T) {
	const sign = "<"
	for _, divided := range []bool{false, true} {
		t.Run(fmt.Sprintf("divided %v", divided), func(t *testing.T) {
			i := newIntake(t)
			i.bring("a", "1", ofxFile("11-1", "A,20250701,-50.00,Shop"))
			row := i.rows("a")[0]
			notes, merchant := full(sign, NotesMax), full(sign, NameMax)
			c := TransactionChange{Notes: &notes, Merchant: &merchant}
			var tags []string
			for n := range TagsOfPartsMax {
				tag, _, err := i.p.CreateTag(t.Context(),
					fmt.Sprintf("%02d%s", n, full(sign, NameMax-2)))
				if err != nil {
					t.Fatal(err)
				}
				tags = append(tags, tag.ID)
			}
			if divided {
				splits := make([]NewSplit, SplitsMax)
				for n := range splits {
					splits[n] = NewSplit{Amount: dec("-1"), Notes: full(sign, NameMax)}
				}
				splits[0].TagIDs = tags[:TagsOfPartsMax/2]
				splits[1].TagIDs = tags[TagsOfPartsMax/2:]
				c.Splits = &splits
			} else {
				few := tags[:TagsOfOneMax]
				c.TagIDs = &few
			}
			at := At{AccountID: "a", ID: row.ID}
			if _, err := i.p.ChangeTransaction(t.Context(), at, c); err != nil {
				t.Fatal(err)
			}
			before, e, err := i.p.rows().locate(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			after := before.Clone()
			after.Text = full(sign, TextMax)
			after.Counterparty, after.Reference = full(sign, NameMax), full(sign, NameMax)
			after.Category, after.BankID = full(sign, NameMax), full(sign, NameMax)
			for n := range AnnotationsMax {
				after.Annotations = append(after.Annotations, Annotation{ID: fmt.Sprint(n),
					Text: full(sign, AnnotationMax), Type: "remark"})
			}
			err = i.p.rows().write(t.Context(), nil,
				[]change{{before: &before, after: after, entryBefore: e}})
			if err != nil {
				t.Fatal(err)
			}
			i.counts("corrected", i.bring("a", "2", ofxFile("11-1",
				"B,20250701,-50.00,Shop,A,REPLACE")), Counts{Merged: 1})
			_, entries := i.state("a")
			largest := 0
			for _, e := range entries {
				item, err := modelOf(i.p).entries.Item(e)
				if err != nil {
					t.Fatal(err)
				}
				largest = max(largest, item.Size())
			}
			if largest < NotesMax || largest > itemMax*3/4 {
				t.Errorf("the largest entry has %d bytes", largest)
			}
			t.Logf("the largest entry has %d bytes", largest)
			if _, err := i.p.Undo(t.Context(), "a", "2", UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			got := i.rows("a")[0]
			if got.Notes != notes || len(got.Annotations) != AnnotationsMax ||
				len(got.TagIDs) != len(after.TagIDs) || len(got.Splits) != len(after.Splits) ||
				got.Text != after.Text {
				t.Error("the row is not what it was")
			}
		})
	}
}

func TestWhatInterimReportsWithoutIdsTell(t *testing.T) {
	rows := []string{":61:2507010701D3,00NMSCNONREF", ":86:Coffee",
		":61:2507010701D3,00NMSCNONREF", ":86:Coffee", ":61:2507020702D7,50NMSCNONREF", ":86:Fuel"}
	i := newIntake(t)
	i.counts("the first", i.bring("a", "1", mt(true, "", "", rows[:2]...)), Counts{New: 1})
	i.counts("one with all of the day so far", i.bring("a", "2", mt(true, "", "", rows...)),
		Counts{New: 2, Known: 1})
	// A bank that tells each row once leaves nothing by which an equal one is another.
	i.counts("one with an equal row", i.bring("a", "3", mt(true, "", "", rows[:2]...)),
		Counts{Known: 1})
	i.counts("booked", i.bring("a", "4", mt(false, "100,00", "86,50", rows...)), Counts{Merged: 3})
	i.want("a", "2025-07-01 -3 Coffee", "2025-07-01 -3 Coffee", "2025-07-02 -7.5 Fuel")
}

// heapNow is what is in use, after what is not has been collected.
func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestAnImporterHoldsLittleOfARow looks at the heap at the end of a preview, when all of the file
// was read, over a store that has next to nothing.
func TestAnImporterHoldsLittleOfARow(t *testing.T) {
	if testing.Short() {
		t.Skip("what is held in memory is measured in a full run")
	}
	held := map[int]int64{}
	for _, rows := range []int{20_000, 100_000} {
		i := newIntake(t)
		i.upload("a", "1", yearsFile(rows))
		before := heapNow()
		n := 0
		_, err := i.p.Preview(t.Context(), "a", "1", func(Decision) bool {
			if n++; n == rows {
				held[rows] = heapNow() - before
			}
			return true
		})
		if err != nil || n != rows {
			t.Fatalf("%d rows, %v", n, err)
		}
	}
	a, b := held[20_000], held[100_000]
	t.Logf("%d bytes for 20,000 rows, %d for 100,000", a, b)
	if grown := (b - a) / 80_000; grown > rowHeldMax {
		t.Errorf("%d bytes for each row, want %d at most", grown, rowHeldMax)
	}
}

// rowHeldMax and knownHeldMax are what is promised of the memory of an import, in bytes: for each
// row of the file, and for each that is known of its months.
const (
	rowHeldMax   = 60
	knownHeldMax = 200
)

func TestWhatIsKnownOfARowIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("what is held in memory is measured in a full run")
	}
	const rows = 200_000
	e := Entry{State: Live, Date: "2025-07-01", Amount: dec("-12.34"), Currency: "NZD",
		Source: FromBank, UploadID: "1", Payee: "a shop in a street"}
	before := heapNow()
	k := match.NewKnownRows()
	for n := range rows {
		e.ID = book.RowID("a", "2025-07-01", fmt.Sprint(n))
		e.BankKey, e.Content = book.KeyHash(
			fmt.Sprint("id", n),
		), book.KeyHash(
			fmt.Sprint("content", n),
		)
		e.Amount = money.DecimalFromInt(int64(n))
		if !k.Add(&e, "2") {
			t.Fatal("not taken in")
		}
	}
	held := (heapNow() - before) / rows
	runtime.KeepAlive(k)
	t.Logf("%d bytes for each row", held)
	if held > knownHeldMax {
		t.Errorf("%d bytes for each row, want %d at most", held, knownHeldMax)
	}
}
