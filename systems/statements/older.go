package statements

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// olderMax is how many earlier ways to read the files of an account are tried. A mapping changes
// seldom, and each one costs a pass over the file.
const olderMax = 3

// olderMappings are the mappings, the latest first, by which earlier files of the account were
// read, except those that read rows as the header of the file does. A row that was imported under
// one of them is known by its content then, so that a change of the mapping doubles nothing.
func (p uploader) olderMappings(
	ctx context.Context, u *Upload, found *parsed.Header,
) ([]bankfile.Mapping, error) {
	if found.Format != bankfile.CSV {
		return nil, nil
	}
	uploads, err := p.latestUploads(ctx, u.AccountID)
	if err != nil {
		return nil, err
	}
	seen := []string{readingOf(found.Mapping)}
	var mappings []bankfile.Mapping
	for _, o := range uploads {
		if o.ID == u.ID || o.Format != bankfile.CSV || o.MappingText == "" ||
			o.Status != Processed && o.Status != Importing {
			continue
		}
		m, err := bankfile.ParseMapping([]byte(o.MappingText))
		if err != nil {
			continue // A later version wrote it; its rows are known by their content.
		}
		reading := readingOf(m)
		if slices.Contains(seen, reading) {
			continue
		}
		seen, mappings = append(seen, reading), append(mappings, m)
	}
	return mappings, nil
}

// readingsOf identifies the readings by some mappings.
func readingsOf(mappings []bankfile.Mapping) []string {
	var readings []string
	for _, m := range mappings {
		readings = append(readings, digestOf(readingOf(m)))
	}
	return readings
}

// openOlder opens the file by older mappings, as far as those are about files like it.
func (s *source) openOlder(
	a *Account, found *parsed.Header, mappings []bankfile.Mapping,
) ([]*bankfile.File, error) {
	var files []*bankfile.File
	for _, m := range mappings {
		m.Encoding, m.Delimiter = found.Mapping.Encoding, found.Mapping.Delimiter
		m.DateOrder, m.Decimal = found.Mapping.DateOrder, found.Mapping.Decimal
		file, err := bankfile.Open(s.file, s.file.Size(), bankfile.Options{
			Currency: a.Currency, Mapping: &m, Exact: true})
		var undecided *bankfile.UndecidedError
		var format *bankfile.FormatError
		var limit *bankfile.LimitError
		switch {
		case errors.As(err, &undecided) || errors.As(err, &format) || errors.As(err, &limit):
			continue // That mapping was of other files.
		case err != nil:
			return nil, unreadable(err)
		}
		if files = append(files, file); len(files) == olderMax {
			break
		}
	}
	return files, nil
}

// readingOf is the part of a mapping that decides the identity of rows.
func readingOf(m bankfile.Mapping) string {
	m.Name, m.Encoding, m.Delimiter, m.DateOrder, m.Decimal = "", "", "", "", ""
	m.SignsGiven = false
	// Earlier versions did not keep the columns that are not read.
	m.Columns = slices.DeleteFunc(slices.Clone(m.Columns), func(c bankfile.Column) bool {
		return c.Role == bankfile.RoleIgnore
	})
	text, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(text)
}

// followers read the file by older mappings, row by row next to the reading that counts.
type followers []*follower

type follower struct {
	next func() (bankfile.Row, error, bool)
	stop func()
	keys bankfile.Keys
	row  bankfile.Row
	key  bankfile.Key
	done bool
}

func follow(files []*bankfile.File) followers {
	all := make(followers, len(files))
	for i, file := range files {
		f := &follower{}
		f.next, f.stop = iter.Pull2(file.Rows())
		all[i] = f
	}
	return all
}

func (all followers) stop() {
	for _, f := range all {
		f.stop()
	}
}

// at returns the contents that the row of a line has by the older mappings.
func (all followers) at(line int) (contents []string) {
	for _, f := range all {
		for !f.done && f.row.Line < line {
			row, err, ok := f.next()
			if f.done = !ok || err != nil; f.done {
				break
			}
			f.row, f.key = row, bankfile.Key{}
			if row.Outcome == bankfile.Read {
				f.key = f.keys.Of("", row.Entry)
			}
		}
		if !f.done && f.row.Line == line && f.key.Content != "" {
			contents = append(contents, f.key.Content)
		}
	}
	return contents
}
