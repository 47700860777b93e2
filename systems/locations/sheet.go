package locations

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/sheet"
)

// Bounds of a sheet.
const (
	// sheetMax is about 300,000 rows of locations with everything in them.
	sheetMax = 128 << 20
	// SheetRowsMax is how many rows a sheet may have.
	SheetRowsMax = 500_000
)

// Clear is the cell that empties what a location has; a blank cell leaves it as it is.
const Clear = "-clear-"

// Columns are the columns of a sheet, in the order of an export.
var columns = []string{
	"code", "name", "lat", "lng", "address", "locality", "region", "postcode", "country", "phone",
	"timeZone", "tags", "placeId", "placeIdCheckedAt", "formattedAddress",
}

// columnNames are other names of columns, in lower case and without blanks, dashes and underscores.
var columnNames = map[string]string{
	"locationcode": "code", "storecode": "code", "latitude": "lat", "longitude": "lng",
	"lon": "lng", "long": "lng", "point": "point", "coordinates": "point", "latlng": "point",
	"latlon": "point", "gps": "point", "addresslines": "address", "street": "address",
	"city": "locality", "town": "locality", "state": "region", "province": "region",
	"postalcode": "postcode", "zip": "postcode", "zipcode": "postcode", "telephone": "phone",
	"tz": "timeZone", "labels": "tags", "googleplaceid": "placeId",
}

// Columns returns the names of the columns of an export. An import also knows "point", with
// both coordinates in one cell.
func Columns() []string { return slices.Clone(columns) }

// columnOf returns the column that a head names, or "".
func columnOf(head string) string {
	name := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(head))
	for _, c := range columns {
		if strings.ToLower(c) == name {
			return c
		}
	}
	return columnNames[name]
}

// Sheet is a file of locations.
type Sheet struct {
	Rows []Row
	// Unused are the heads of columns that mean nothing here.
	Unused []string
	// Notes are about how the file was read.
	Notes []string
}

// Row is a row of a sheet: cells by the names of their columns.
type Row struct {
	// Line is where the row begins in its file, from 1.
	Line  int
	Cells map[string]string
	// Problem is set where the row cannot be used.
	Problem error
}

// ReadSheet reads a CSV file. It may be separated by commas, semicolons or tabs, and be in UTF-8,
// UTF-16 with its mark, or Windows-1252. All cells are text. Rows with the same code, in any case,
// are all given a problem that names their lines.
func ReadSheet(r io.Reader) (*Sheet, error) {
	data, err := io.ReadAll(io.LimitReader(r, sheetMax+1))
	if err != nil {
		return nil, fmt.Errorf("read sheet: %w", err)
	}
	invalid := func(format string, args ...any) error {
		return ErrSheet.With("format", "CSV").With("reason", fmt.Sprintf(format, args...))
	}
	if len(data) > sheetMax {
		return nil, invalid("it has more than %d MB", sheetMax>>20)
	}
	s := &Sheet{}
	data = plainLines(s.decode(data))
	in := csv.NewReader(bytes.NewReader(data))
	in.Comma, in.FieldsPerRecord, in.LazyQuotes = separator(data), -1, true
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, invalid("it is empty")
	}
	if err != nil {
		return nil, invalid("%v", err)
	}
	names := make([]string, len(head))
	for i, text := range head {
		text = strings.TrimSpace(text)
		names[i] = columnOf(text)
		switch {
		case names[i] == "" && text != "":
			s.Unused = append(s.Unused, text)
		case names[i] != "" && slices.Contains(names[:i], names[i]):
			return nil, invalid("two columns are the %s", names[i])
		}
	}
	if !slices.Contains(names, "code") {
		return nil, invalid("it has no column named code")
	}
	if torn(data[:in.InputOffset()], in.Comma) {
		return nil, invalid("a quotation mark in the head line is not closed")
	}
	if err := s.readRows(in, data, names); err != nil {
		return nil, err
	}
	s.markRepeated()
	return s, nil
}

// torn reports whether what was read as one row of several lines has a quotation mark that is not
// closed, so that the lines may be rows.
func torn(text []byte, separator rune) bool {
	if !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) {
		return false
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma = separator
	_, err := in.Read()
	return err != nil
}

// readRows reads what follows the head.
func (s *Sheet) readRows(in *csv.Reader, data []byte, names []string) error {
	for {
		start := in.InputOffset()
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return ErrSheet.With("format", "CSV").With("reason", err)
		}
		if len(s.Rows) == SheetRowsMax {
			return ErrSheet.With("format", "CSV").
				With("reason", fmt.Sprintf("it has more than %d rows", SheetRowsMax))
		}
		line, _ := in.FieldPos(0)
		if strings.TrimSpace(strings.Join(record, "")) == "" {
			continue
		}
		row := Row{Line: line, Cells: make(map[string]string, len(names))}
		text := data[start:in.InputOffset()]
		several := torn(text, in.Comma)
		for i, name := range names {
			if name != "" && i < len(record) {
				cell := strings.TrimSpace(sheet.Plain(record[i]))
				row.Cells[name] = cell
				several = several || name != "address" && name != "formattedAddress" &&
					strings.Contains(cell, "\n")
			}
		}
		if several {
			row.Problem = ErrRow.With("wrong", fmt.Sprintf(
				"cannot be read: a quotation mark makes one row of the lines %d to %d", line,
				line+bytes.Count(bytes.TrimSpace(text), []byte("\n"))))
		}
		if len(record) > len(names) {
			row.Problem = ErrRow.With("wrong", fmt.Sprintf("has %d cells, and the head line %d",
				len(record), len(names)))
		}
		s.Rows = append(s.Rows, row)
	}
}

// markRepeated gives every row whose code another row has too a problem that names all of them.
func (s *Sheet) markRepeated() {
	lines := map[string][]string{}
	for _, row := range s.Rows {
		if _, key, err := Code(row.Cells["code"]); err == nil {
			lines[key] = append(lines[key], fmt.Sprint(row.Line))
		}
	}
	for i := range s.Rows {
		shown, key, err := Code(s.Rows[i].Cells["code"])
		if err == nil && len(lines[key]) > 1 {
			s.Rows[i].Problem = ErrRowRepeated.With("code", shown).
				With("lines", strings.Join(lines[key], ", ")).Field("code", "is repeated")
		}
	}
}

// separator guesses what separates the cells, from the head line.
func separator(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t'} {
		if n := strings.Count(string(line), string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// plainLines ends every line with a line feed alone: some programs still write a carriage return.
func plainLines(data []byte) []byte {
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}

// decode returns the file in UTF-8.
func (s *Sheet) decode(data []byte) []byte {
	wide := func(at func(b []byte) uint16) []byte {
		var units []uint16
		for b := data[2:]; len(b) > 1; b = b[2:] {
			units = append(units, at(b))
		}
		s.Notes = append(s.Notes, "read as UTF-16")
		return []byte(string(utf16.Decode(units)))
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		data = wide(func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 })
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		data = wide(func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 })
	}
	if utf8.Valid(data) {
		return data
	}
	s.Notes = append(s.Notes, "not UTF-8, so read as Windows-1252")
	out := make([]byte, 0, len(data)+len(data)/8)
	for _, c := range data {
		r := rune(c)
		if c >= 0x80 && c < 0xa0 {
			r = windows1252[c-0x80]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// windows1252 are the characters of the code page from 0x80 to 0x9f; its others are Unicode's.
var windows1252 = [32]rune{
	'€', '\ufffd', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\ufffd', 'Ž', '\ufffd',
	'\ufffd', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\ufffd', 'ž', 'Ÿ',
}

// tagForm is a tag in a cell: in quotation marks, two of which are read as one, or without any.
var tagForm = regexp.MustCompile(`\s*(?:"((?:[^"]|"")*)"|([^;,|]*?))\s*(?:[;,|]|$)`)

// tagsOf returns the tags of a cell.
func tagsOf(cell string) (tags []string) {
	for _, m := range tagForm.FindAllStringSubmatch(cell, -1) {
		if tag := strings.ReplaceAll(m[1], `""`, `"`) + strings.TrimSpace(m[2]); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// tagsCell writes tags so that tagsOf finds them again.
func tagsCell(tags []string) string {
	cells := slices.Clone(tags)
	for i, tag := range tags {
		if strings.ContainsAny(tag, `;,|"`) || strings.TrimSpace(tag) != tag ||
			strings.EqualFold(tag, Clear) {
			cells[i] = `"` + strings.ReplaceAll(tag, `"`, `""`) + `"`
		}
	}
	return strings.Join(cells, "; ")
}

// Record returns a location as the cells of a sheet, in the order of Columns.
func Record(l Location) []string {
	var a Address
	if l.Address != nil {
		a = *l.Address
	}
	var lat, lng string
	if l.Point != nil {
		lat, lng = degrees(l.Point.Lat), degrees(l.Point.Lng)
	}
	checked := ""
	if !l.Place.CheckedAt.IsZero() {
		checked = stamp(l.Place.CheckedAt)
	}
	return []string{
		l.Code, l.Name, lat, lng, strings.Join(a.Lines, "\n"), a.Locality, a.Region, a.Postcode,
		a.Country, l.Phone, l.TimeZone, tagsCell(l.Tags), l.Place.ID, checked,
		l.Place.FormattedAddress,
	}
}
