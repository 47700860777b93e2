package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// jsonReader reads a file with one JSON object in each line.
type jsonReader struct {
	file   *File
	form   *form
	lines  *lineReader
	begun  bool            // whether a whole object was read
	unused map[string]bool // unknown members
	keep   map[string]bool // members that become metadata
}

// unusedMax is the maximum number of names of unknown members that are kept.
const unusedMax = 20

// next returns the fields of the next object; see csvReader.next for errors.
func (r *jsonReader) next() (*fields, int, error) {
	for {
		text, err := r.lines.next()
		line := r.lines.line
		if err != nil {
			return nil, line, err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		f, err := r.fields(text)
		if errors.Is(err, errIncomplete) && !r.begun {
			return nil, line, &FileError{
				Line: line, Wrong: "The file is JSON, but not one object a line",
				Try: "Write each object on a line of its own",
			}
		}
		r.begun = true
		if err != nil {
			return nil, line, err
		}
		f.line = line
		return f, line, nil
	}
}

func (r *jsonReader) fields(text []byte) (*fields, error) {
	f := &fields{form: r.form}
	err := eachMember(text, func(name string, value json.RawMessage) error {
		switch {
		case r.form != &postings:
		case name == colMetadata:
			return f.addMetadata(value)
		case name == colLegs:
			return f.addLegs(value)
		}
		content, err := scalar(name, value)
		if r.keep[name] && err == nil && content != "" {
			f.keepMetadata(name, content)
			f.kept = append(f.kept, name)
		}
		if at := f.at(r.file.named(name)); at != nil {
			*at = content
			return err
		}
		if r.keep[name] {
			return err
		}
		if len(r.unused) < unusedMax {
			r.unused[name] = true
		}
		return nil
	})
	if err == nil && f.legs != nil && (f.from != "" || f.to != "" || f.amount != "") {
		err = errors.New(`has legs and one of "from", "to" and "amount"; give either`)
	}
	return f, err
}

func (f *fields) keepMetadata(name, content string) {
	if f.metadata == nil {
		f.metadata = make(map[string]string)
	}
	f.metadata[name] = content
}

func (f *fields) addMetadata(value json.RawMessage) error {
	if isNull(value) {
		return nil
	}
	return eachMember(value, func(name string, value json.RawMessage) error {
		content, err := scalar(colMetadata+"."+name, value)
		if err == nil {
			f.keepMetadata(name, content)
		}
		return err
	})
}

func (f *fields) addLegs(value json.RawMessage) error {
	if isNull(value) {
		return nil
	}
	var legs []json.RawMessage
	if err := json.Unmarshal(value, &legs); err != nil {
		return errors.New(`has "legs" that are no array`)
	}
	f.legs = make([]legFields, 0, len(legs))
	for i, leg := range legs {
		var l legFields
		err := eachMember(leg, func(name string, value json.RawMessage) error {
			content, err := scalar(fmt.Sprintf("legs[%d].%s", i, name), value)
			switch name {
			case "account":
				l.account = content
			case "type":
				l.kind = content
			case "amount":
				l.amount = content
			case "currency":
				l.currency = content
			default:
				return fmt.Errorf("has legs[%d] with a member %q that has no meaning", i, name)
			}
			return err
		})
		if err != nil {
			return err
		}
		f.legs = append(f.legs, l)
	}
	return nil
}

// eachMember calls do for the members of an object in order. A duplicate member is an error,
// because it is unknown which of two amounts is intended.
func eachMember(text []byte, do func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return errors.New("is not a JSON object")
	}
	var seen []string
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return jsonError(err)
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("has the member %q twice", name)
		}
		seen = append(seen, name)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return jsonError(err)
		}
		if err := do(name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has text after its JSON object")
	}
	return nil
}

var errIncomplete = errors.New("is not complete JSON")

func jsonError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	return fmt.Errorf("is not JSON: %w", err)
}

// scalar returns the text of a string, or a number or boolean as it is written, so that no amount
// is converted to a float. The text of null is empty.
func scalar(name string, value json.RawMessage) (string, error) {
	switch text := strings.TrimSpace(string(value)); {
	case isNull(value):
		return "", nil
	case strings.HasPrefix(text, `"`):
		var content string
		err := json.Unmarshal(value, &content)
		return content, err
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return "", fmt.Errorf("has %q with several values", name)
	default:
		return text, nil
	}
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }
