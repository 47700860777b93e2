package statements

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// olderMax is how many earlier ways to read the files of an account are tried. A mapping changes
// seldom, and each one costs a pass over the file.
const olderMax = 3

// older are the file's readings by the mappings with which earlier files of the account were read.
// A row that was imported under one of them is known by its content then, so that a change of the
// mapping doubles nothing.
func (p *Person) older(
	ctx context.Context, a Account, u Upload, src *source,
) ([]*bankfile.File, error) {
	if src.bank.Format != bankfile.CSV {
		return nil, nil
	}
	uploads, err := p.latestUploads(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	tried := []string{readingOf(src.mapping)}
	var files []*bankfile.File
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
		if slices.Contains(tried, reading) {
			continue
		}
		tried = append(tried, reading)
		m.Encoding, m.Delimiter = src.mapping.Encoding, src.mapping.Delimiter
		m.DateOrder, m.Decimal = src.mapping.DateOrder, src.mapping.Decimal
		file, err := bankfile.Open(src.file, src.file.Size(), bankfile.Options{
			Currency: a.Currency, Mapping: &m, Exact: true})
		var undecided *bankfile.UndecidedError
		var format *bankfile.FormatError
		switch {
		case errors.As(err, &undecided) || errors.As(err, &format):
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

// at returns the keys that the row of a line has by the older mappings.
func (all followers) at(line int) (keys []bankfile.Key) {
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
			keys = append(keys, f.key)
		}
	}
	return keys
}
