package singletable

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Row is an item of an entity as generic values, for tools that do not know its Go type. It does
// not have the attributes that are only keys.
type Row struct {
	Entity string
	Fields []RowField
}

// RowField is one attribute. Value has a type of JSON: string, bool, nil, [Number], []any or
// map[string]any; binary is []byte.
type RowField struct {
	Name  string
	Value any
}

// MarshalJSON returns the row as an object whose members are in the order of the fields.
func (r Row) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range r.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get returns the value of a field and reports whether the row has it.
func (r Row) Get(name string) (any, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return nil, false
}

// row converts an item of the entity to a Row: the fields of its struct in order, including those
// that are stored in keys, followed by other attributes of the item, such as those of other
// programs.
func (c *core) row(pc *patternCore, item dynamo.Item) (Row, error) {
	r := Row{Entity: c.name}
	p := c.zero()
	if err := pc.unmarshal(c, item, p); err != nil {
		return r, err
	}
	seen := map[string]bool{}
	c.table.eachKeyAttribute(func(a string) { seen[a] = true })
	for i := range c.shape.Fields {
		f := &c.shape.Fields[i]
		v, ok := item[f.Attr]
		if f.Options.KeyOnly {
			var err error
			if v, err = f.Codec.Encode(f.At(p)); err != nil {
				return r, err
			}
			ok = !v.IsAbsent()
		}
		if ok {
			r.Fields = append(r.Fields, RowField{f.Attr, layout.DecodeAny(v)})
		}
		seen[f.Attr] = true
	}
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if !seen[name] {
			r.Fields = append(r.Fields, RowField{name, layout.DecodeAny(item[name])})
		}
	}
	return r, nil
}

// note keeps an item that cannot be read, and returns other errors.
func (p *Page[Out]) note(err error) error {
	if bad, ok := AsUnreadable(err); ok {
		p.Unreadable = append(p.Unreadable, bad)
		return nil
	}
	return err
}

// runRows is page with rows as generic values.
func (c *patternCore) runRows(
	ctx context.Context, s *Store, p unsafe.Pointer, size int, cursor string,
) (Page[Row], error) {
	var page Page[Row]
	raw, err := c.page(ctx, s, p, size, cursor, func(item dynamo.Item) (bool, error) {
		for _, m := range c.members {
			if !m.owns(item) {
				continue
			}
			row, err := m.row(c, item)
			if err == nil {
				page.Items = append(page.Items, row)
			}
			return true, page.note(err)
		}
		err := c.stranger(item)
		return err != nil, page.note(err)
	})
	if err != nil {
		return Page[Row]{}, err
	}
	if raw.reversed {
		slices.Reverse(page.Items)
		slices.Reverse(page.Unreadable)
	}
	page.Next, page.Prev, page.Resume = raw.next, raw.prev, raw.resume
	page.Calls, page.Capacity = raw.calls, raw.read
	return page, nil
}
