package locations_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func sheet(t testing.TB, text string) *locations.Sheet {
	t.Helper()
	s, err := locations.ReadSheet(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// imported imports a sheet and returns a line for each row.
func (d *directory) imported(text string, mode locations.Mode, preview bool) []string {
	d.t.Helper()
	outcomes, err := d.Import(d.t.Context(), sheet(d.t, text).Rows, mode, preview)
	if err != nil {
		d.t.Fatal(err)
	}
	var lines []string
	for _, o := range outcomes {
		line := fmt.Sprintf("%d %s %s", o.Line, o.Code, o.Action)
		for _, c := range o.Changes {
			line += fmt.Sprintf(" [%s: %s > %s]", c.Field, c.From, c.To)
		}
		for _, w := range o.Warnings {
			line += " (" + w + ")"
		}
		if o.Problem != nil {
			line += ": " + o.Problem.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestImportCreatesChangesAndLeavesAlone(t *testing.T) {
	d := open(t, locations.Options{})
	const first = `Code,Name,Latitude,Longitude,City,Country,Tags,Manager
AKL-01,Auckland,"36°50'54""S",174.7633,Auckland,NZ,depot; shop,Ann
wlg-01,Wellington,-41.2866,174.7756,Wellington,NZ,,
no-01,Nowhere,,,,,,
`
	s := sheet(t, first)
	if len(s.Unused) != 1 || s.Unused[0] != "Manager" {
		t.Error(s.Unused)
	}
	want := []string{"2 AKL-01 create", "3 wlg-01 create",
		"4 no-01 create (there are no coordinates)"}
	same(t, d.imported(first, locations.Upsert, true), want...)
	if s := d.snapshot(); len(s.Locations) != 0 {
		t.Fatal("a preview writes", s.Locations)
	}
	same(t, d.imported(first, locations.Upsert, false), want...)
	l, err := d.ByCode(t.Context(), "akl-01")
	if err != nil || l.Point == nil || l.Point.Lng != 174.7633 || len(l.Tags) != 2 ||
		l.Address.Locality != "Auckland" || l.Address.Country != "NZ" {
		t.Fatalf("%+v, %v", l, err)
	}
	nowhere, err := d.ByCode(t.Context(), "no-01")
	if err != nil || nowhere.Point != nil {
		t.Fatalf("blank coordinates are %v, %v", nowhere.Point, err)
	}
	// The same file again says so, and writes nothing.
	d.made()
	same(t, d.imported(first, locations.Upsert, false), "2 AKL-01 same", "3 wlg-01 same",
		"4 no-01 same (there are no coordinates)")
	for _, call := range d.made() {
		if call != "BatchGetItem" {
			t.Errorf("a repeat does %s", call)
		}
	}
	// Blank cells leave things as they are, and a literal empties them.
	const second = `code;name;lat;lng;city;tags
akl-01;;;;Albany;-clear-
wlg-01;Wellington Central;;;;
no-01;;-clear-;;;
`
	changes := []string{
		"2 akl-01 change [code: AKL-01 > akl-01] [address: Auckland, NZ > Albany, NZ] " +
			"[tags: depot; shop > ]",
		"3 wlg-01 change [name: Wellington > Wellington Central]",
		"4 no-01 same",
	}
	same(t, d.imported(second, locations.Upsert, true), changes...)
	same(t, d.imported(second, locations.Upsert, false), changes...)
	if l, err = d.ByCode(t.Context(), "akl-01"); err != nil || l.Name != "Auckland" ||
		l.Point == nil || l.Tags != nil || l.Address.Country != "NZ" {
		t.Errorf("%+v, %v", l, err)
	}
	d.sound()
}

func TestImportReportsEveryBadRowAndSavesTheOthers(t *testing.T) {
	d := open(t, locations.Options{})
	gone := d.create(named("gone", "Gone"))
	must(t, gone, must2(d.Delete(t.Context(), gone.ID, "")))
	d.create(named("known", "Known"))
	d.create(named("007", "Bond"))
	const text = `code,name,lat,lng,country
good,Good,,,
Twice,One,,,
twice,Two,,,
bad code,X,,,
new,,,,
gone,Again,,,
known,-clear-,,,
swapped,Town,174.77,-41.28,
half,Half,1,,
far,Town,12.35,53.51,DE
7,Seven,,,
long,Long,,,,extra
`
	same(t, d.imported(text, locations.Upsert, false),
		"2 good create (there are no coordinates)",
		"3 Twice error: The code Twice is in lines 3, 4 (code is repeated)",
		"4 twice error: The code twice is in lines 3, 4 (code is repeated)",
		"5 bad code error: bad code cannot be a code: it must not have ' ' (code is not a code)",
		"6 new error: The request is incomplete or malformed (name is missing)",
		"7 gone error: The code gone is reserved by location "+string(gone.ID)+
			", Gone, which was deleted",
		"8 known error: The request is incomplete or malformed (name cannot be emptied)",
		"9 swapped error: The request is incomplete or malformed (point the latitude "+
			"\"174.77\" is 174.77 degrees, outside -90 to 90; are latitude and longitude swapped?)",
		"10 half error: The request is incomplete or malformed (point the longitude is "+
			"missing)",
		"11 far create (the point lies outside DE: latitude and longitude look swapped)",
		"12 7 create (there are no coordinates) (the code differs from 007 by zeros before it alone)",
		"13 long error: The row has 6 cells, and the head line 5",
	)
	d.sound()
	if s := d.snapshot(); len(s.Locations) != 5 {
		t.Errorf("%d locations", len(s.Locations))
	}
}

func TestImportModes(t *testing.T) {
	d := open(t, locations.Options{})
	known := d.create(named("known", "Known"))
	const text = "code,name\nknown,Changed\nnew,New\n"
	same(t, d.imported(text, locations.UpdateOnly, true),
		"2 known change [name: Known > Changed]", "3 new error: No location has the code new")
	same(t, d.imported(text, locations.CreateOnly, true),
		"2 known error: The code known is taken by location "+string(known.ID)+", Known",
		"3 new create")
	_, err := d.Import(t.Context(), nil, "replace", true)
	wants(t, err, locations.ErrInvalid)
	_, err = d.Import(t.Context(), make([]locations.Row, locations.RowsMax+1), "", true)
	wants(t, err, locations.ErrInvalid)
	same(t, d.imported("code,name\nx,X\n", "", true), "2 x create")
	outcomes, err := d.Import(t.Context(), []locations.Row{{Line: 1,
		Cells: map[string]string{"code": "x", "name": "X", "colour": "red"}}}, "", true)
	if err != nil || outcomes[0].Action != locations.RowError {
		t.Error(outcomes, err)
	}
}

func TestImportGoesOnWhereItWasBrokenOff(t *testing.T) {
	d := open(t, locations.Options{})
	var b strings.Builder
	b.WriteString("code,name\n")
	for i := range 60 {
		fmt.Fprintf(&b, "c%d,Name %d\n", i, i)
	}
	rows := sheet(t, b.String()).Rows
	if _, err := d.Import(t.Context(), rows[:25], "", false); err != nil {
		t.Fatal(err)
	}
	outcomes, err := d.Import(t.Context(), rows, "", false)
	if err != nil {
		t.Fatal(err)
	}
	count := map[locations.Action]int{}
	for _, o := range outcomes {
		count[o.Action]++
	}
	if count[locations.RowSame] != 25 || count[locations.RowCreate] != 35 {
		t.Error(count)
	}
	if s := d.snapshot(); len(s.Locations) != 60 {
		t.Errorf("%d locations", len(s.Locations))
	}
	d.sound()
}

func TestReadSheetUnderstandsWhatSpreadsheetsWrite(t *testing.T) {
	wide := func(text string, mark []byte, big bool) string {
		out := mark
		for _, u := range utf16.Encode([]rune(text)) {
			if big {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
		return string(out)
	}
	const plain = "code,name\n007,Ōtāhuhu\n"
	for name, text := range map[string]string{
		"plain": plain, "with a mark": "\ufeff" + plain,
		"UTF-16":     wide(plain, []byte{0xff, 0xfe}, false),
		"big-endian": wide(plain, []byte{0xfe, 0xff}, true),
		"CR alone":   "code,name\r\r007,Ōtāhuhu\r",
		"CRLF":       "code,name\r\n007,Ōtāhuhu\r\n", "tabs": "code\tname\n007\tŌtāhuhu\n",
		"semicolons":  "code;name\n007;Ōtāhuhu\n",
		"quoted":      "\"Code\",\"Name\"\n\"007\",\"Ōtāhuhu\"",
		"blank lines": "code,name\n\n007,Ōtāhuhu\n,\n",
		"other heads": "Location Code,NAME\n007,Ōtāhuhu",
	} {
		s := sheet(t, text)
		if len(s.Rows) != 1 || s.Rows[0].Cells["code"] != "007" ||
			s.Rows[0].Cells["name"] != "Ōtāhuhu" {
			t.Errorf("%s: %+v", name, s.Rows)
		}
	}
	s := sheet(t, "code,name\nk,M\xfcnchen \x80\n")
	if s.Rows[0].Cells["name"] != "München €" || len(s.Notes) != 1 {
		t.Error(s.Rows, s.Notes)
	}
	for _, text := range []string{"", "name\nx\n", "code,code\nx,y\n", "code,Latitude,lat\n"} {
		_, err := locations.ReadSheet(strings.NewReader(text))
		wants(t, err, locations.ErrSheet)
	}
}

// TestTheCellOfTheLatitudeHasBothOrOne takes both coordinates out of one cell only where they
// cannot be one coordinate, whose decimals may stand behind a comma.
func TestTheCellOfTheLatitudeHasBothOrOne(t *testing.T) {
	d := open(t, locations.Options{})
	for lat, want := range map[string]string{
		"53.51, 12.35": "53.51, 12.35", "53,51, 12,35": "53.51, 12.35", "53, 12": "53, 12",
		"53,-12": "53, -12", "53.5,12": "53.5, 12", "53 12": "", "53,51": "", "-53,51": "",
		"53,51°": "", "53.51": "", "53°30′": "",
	} {
		outcomes, err := d.Import(t.Context(), []locations.Row{{Cells: map[string]string{
			"code": "a", "name": "A", "lat": lat, "lng": ""}}}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			wants(t, outcomes[0].Problem, locations.ErrInvalid)
			if text := outcomes[0].Problem.Error(); !strings.Contains(text, "is missing") {
				t.Errorf("%q: %s", lat, text)
			}
			continue
		}
		if l, err := d.ByCode(t.Context(), "a"); err != nil || outcomes[0].Problem != nil ||
			l.Point.String() != want {
			t.Errorf("%q is %v, %v, %v", lat, l.Point, err, outcomes[0].Problem)
		}
	}
}

// TestAQuotationMarkThatIsNotClosedLosesNoRow wants every row that is read from several lines and
// may be several rows to be reported with those lines.
func TestAQuotationMarkThatIsNotClosedLosesNoRow(t *testing.T) {
	const head = "code,name,address\n"
	for _, c := range []struct{ name, text, says string }{
		{"in a name", "a,\"A\nb,\"B\"\n", "2 to 3"},
		{"in a code", "\"a,A\nb,B\n", "2 to 3"},
		{"in an address", "a,A,\"1 Queen St\nb,B,\"2 Queen St\"\n", "2 to 3"},
		{"up to the end", "a,A,\"1 Queen St\nb,B,\nc,C,\n\n", "2 to 4"},
		{"a name of two lines", "a,\"A\nB\",1 Queen St\n", "2 to 3"},
		{"an address of two lines", "a,A,\"1 Queen St\nUnit \"\"5\"\"\"\n", ""},
		{"in one line", "a,A \"B\" C,1 \"Queen\" St\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sheet(t, head+c.text)
			if len(s.Rows) != 1 {
				t.Fatalf("%+v", s.Rows)
			}
			err := s.Rows[0].Problem
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wants(t, err, locations.ErrRow)
			if !strings.Contains(err.Error(), "lines "+c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

// TestAnExportImportedAgainChangesNothing writes what there is as a sheet and reads it back, into
// the same directory and into an empty one.
func TestAnExportImportedAgainChangesNothing(t *testing.T) {
	d := open(t, locations.Options{})
	n := austin()
	n.Address = &locations.Address{Lines: []string{"123 Main St", "Suite \"5\", rear"},
		Locality: "Austin", Region: "TX", Postcode: "078701", Country: "US"}
	n.Phone, n.TimeZone, n.Tags = "+15125550100", "America/Chicago", []string{"a", "b c",
		"bar, café", "x;y|z", `12" pizza`, `"quoted"`, `"half, one`}
	n.Place.FormattedAddress = "123 Main St\nAustin"
	d.create(n)
	d.create(named("007", "Bond, James"))
	text := d.export()
	same(t, d.imported(text, "", false), "2 007 same (there are no coordinates)",
		"3 austin-main-01 same")
	other := open(t, locations.Options{})
	same(t, other.imported(text, "", false), "2 007 create (there are no coordinates)",
		"3 austin-main-01 create")
	if diff := cmp.Diff(text, other.export()); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadSheet(f *testing.F) {
	f.Add("code,name\nx,y\n")
	f.Add("\xff\xfec\x00")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := locations.ReadSheet(strings.NewReader(text))
		if err != nil {
			return
		}
		last := 1
		for _, row := range s.Rows {
			if row.Line <= last {
				t.Errorf("a row in line %d after line %d", row.Line, last)
			}
			last = row.Line
		}
	})
}

// export writes all locations as a sheet.
func (d *directory) export() string {
	d.t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(locations.Columns())
	for _, l := range d.snapshot().Locations {
		_ = w.Write(locations.Record(l))
	}
	w.Flush()
	return b.String()
}
