package singletable

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Model is a whole design: its tables with their entities, and its access patterns. It is used for
// checks, catalogues and documentation; the tables and patterns work without it.
type Model struct {
	name     string
	tables   []*Table
	patterns []AccessPattern
	accepted []Accepted
}

// NewModel returns a model with a name, tables and patterns.
func NewModel(name string, tables []*Table, patterns ...AccessPattern) *Model {
	return &Model{name: name, tables: tables, patterns: patterns}
}

// Accept accepts a warning of [Model.Check] with a reason: the warning about subject whose text
// contains the given one. It returns the model.
func (m *Model) Accept(subject, text, reason string) *Model {
	m.accepted = append(m.accepted, Accepted{Finding{subject, text}, reason})
	return m
}

// Name returns the model's name.
func (m *Model) Name() string { return m.name }

// Tables returns the model's tables.
func (m *Model) Tables() []*Table { return m.tables }

// Patterns returns the model's patterns in the order of their definition.
func (m *Model) Patterns() []AccessPattern { return m.patterns }

// Pattern returns the pattern of that name.
func (m *Model) Pattern(name string) (AccessPattern, bool) {
	for _, p := range m.patterns {
		if p.Name() == name {
			return p, true
		}
	}
	return nil, false
}

// Ensure creates those tables of the model that do not exist, and verifies the others.
func (m *Model) Ensure(ctx context.Context, admin dynamo.Admin) error {
	for _, t := range m.tables {
		if err := t.Ensure(ctx, admin); err != nil {
			return err
		}
	}
	return nil
}

// Verify compares all tables with the store and returns all differences.
func (m *Model) Verify(ctx context.Context, admin dynamo.Admin) error {
	var errs []error
	for _, t := range m.tables {
		errs = append(errs, t.Verify(ctx, admin))
	}
	return errors.Join(errs...)
}

// AccessPattern is a [Pattern] of any types, for catalogues and command lines.
type AccessPattern interface {
	// Name returns the pattern's name.
	Name() string
	// Info describes the pattern.
	Info() PatternInfo
	// RunText is Page with inputs as text, by name, and rows as generic values.
	RunText(ctx context.Context, s *Store, inputs map[string]string, size int, cursor string) (
		Page[Row], error)
	// PlanText is Plan with inputs as text.
	PlanText(s *Store, inputs map[string]string, size int) (Plan, error)

	core() *patternCore
}

// PatternInfo describes a pattern for a catalogue.
type PatternInfo struct {
	Name, Description string
	// Kind is lookup, query, collection or scan.
	Kind         string
	Table, Index string
	// Entities are the names of the entities whose items are rows.
	Entities []string
	Inputs   []InputInfo
	// Where is the key condition with the names of inputs as values.
	Where                            string
	Filtered, Descending, Consistent bool
	// Partitions describes the partitions with the rows: "1", "5 shards", "one a month", ...
	Partitions string
}

// InputInfo describes one input.
type InputInfo struct {
	Name string
	// Type is text, time, integer, number, boolean or bytes.
	Type     string
	Required bool
	// Use describes the purpose of the input.
	Use string
}

var inputTypes = [...]string{"", "text", "integer", "number", "time", "boolean", "bytes"}

// Info describes the pattern.
func (p *Pattern[In, Out]) Info() PatternInfo { return p.c.info() }

func (c *patternCore) info() PatternInfo {
	in := PatternInfo{Name: c.name, Description: c.note, Kind: c.kind.String(),
		Filtered: len(c.filters)+len(c.filterBy) > 0 || c.live, Descending: c.descending,
		Consistent: c.consistent, Partitions: "1"}
	if c.table == nil {
		return in
	}
	in.Table = c.table.name
	if c.index != nil {
		in.Index = c.index.name
	}
	for _, m := range c.members {
		in.Entities = append(in.Entities, m.name)
	}
	if c.err() != nil {
		return in
	}
	in.Where = c.where()
	in.Inputs = c.inputInfos()
	in.Partitions = c.partitionText()
	return in
}

// where returns the key condition as text.
func (c *patternCore) where() string {
	if c.kind == kindScan {
		return ""
	}
	text := fmt.Sprintf("%s = %q", c.keys.Partition, c.bindingText(c.hash, len(c.hash.in)))
	switch {
	case c.kind == kindCollection:
		if c.prefix != "" {
			text += fmt.Sprintf(" AND begins_with(%s, %q)", c.keys.Sort, c.prefix)
		}
		return text
	case c.sort == nil:
		return text
	}
	open := c.openPart()
	prefix := c.bindingText(c.sort, open)
	switch {
	case open == len(c.sort.in):
		return text + fmt.Sprintf(" AND %s = %q", c.keys.Sort, prefix)
	case c.rng != nil && c.rng.inSort && c.rng.prefix != "":
		return text + fmt.Sprintf(" AND begins_with(%s, %q)", c.keys.Sort,
			prefix+"<"+c.rng.prefix+">")
	case c.rng != nil && c.rng.inSort:
		return text + fmt.Sprintf(" AND %s from %q to %q%s", c.keys.Sort,
			prefix+endText(c.rng.from), prefix+endText(c.rng.to), closedText(c.rng.closed))
	case prefix != "":
		return text + fmt.Sprintf(" AND begins_with(%s, %q)", c.keys.Sort, prefix)
	}
	return text
}

func endText(input string) string {
	if input == "" {
		return "…"
	}
	return "<" + input + ">"
}

func closedText(closed bool) string {
	if closed {
		return ", both included"
	}
	return ", the end excluded"
}

// openPart returns the index of the first part of the sort key that no input fixes.
func (c *patternCore) openPart() int {
	for i, in := range c.sort.in {
		if c.sort.k.Template.Parts[i].IsField() && in < 0 {
			return i
		}
	}
	return len(c.sort.in)
}

func (c *patternCore) bindingText(b *binding, n int) string {
	var text strings.Builder
	for i := range n {
		p := b.k.Template.Parts[i]
		if b.in[i] >= 0 {
			p.Name = c.in.Fields[b.in[i]].GoName
		}
		text.WriteString(p.Shown())
	}
	return text.String()
}

func (c *patternCore) inputInfos() []InputInfo {
	var out []InputInfo
	for i := range c.in.Fields {
		f := &c.in.Fields[i]
		info := InputInfo{Name: f.GoName, Type: inputTypes[f.Form], Use: "filter"}
		switch {
		case c.uses(c.hash, i):
			info.Use, info.Required = "partition key", true
		case c.uses(c.sort, i):
			info.Use, info.Required = "sort key", c.kind == kindLookup
		case c.rng != nil && c.rng.fromIn == i:
			info.Use, info.Required = "start of the range of "+c.rng.attr, c.rng.inHash
		case c.rng != nil && c.rng.toIn == i:
			info.Use, info.Required = "end of the range of "+c.rng.attr, c.rng.inHash
		case c.rng != nil && c.rng.prefixIn == i:
			info.Use = "prefix of " + c.rng.attr
		}
		out = append(out, info)
	}
	return out
}

func (c *patternCore) uses(b *binding, in int) bool {
	if b == nil {
		return false
	}
	for i, at := range b.in {
		if at == in && b.k.Template.Parts[i].Ring == nil {
			return true
		}
	}
	return false
}

func (c *patternCore) partitionText() string {
	if c.kind == kindScan {
		return "the whole table"
	}
	var parts []string
	for i := range c.hash.k.Template.Parts {
		p := &c.hash.k.Template.Parts[i]
		switch {
		case p.Ring != nil && c.hash.in[i] < 0 && p.Format.Few > 1:
			parts = append(parts, fmt.Sprintf("%d shards", p.Format.Few))
		case p.IsField() && c.hash.in[i] < 0 && p.Ring == nil:
			parts = append(parts, "one a "+p.Format.Name)
		}
	}
	if len(parts) == 0 {
		return "1"
	}
	return strings.Join(parts, ", each ")
}

// textInputs returns an In from text.
func (c *patternCore) textInputs(inputs map[string]string) (reflect.Value, error) {
	in := reflect.New(c.inType)
	for name, text := range inputs {
		i, ok := c.in.Lookup(name)
		if !ok {
			for j := range c.in.Fields {
				if strings.EqualFold(c.in.Fields[j].GoName, name) {
					i, ok = j, true
				}
			}
		}
		if !ok {
			return in, fmt.Errorf("pattern %s has no input %s; it has %s", c.name, name,
				strings.Join(c.inputNames(), ", "))
		}
		f := &c.in.Fields[i]
		if f.Form == layout.FormNone {
			return in, fmt.Errorf("pattern %s: input %s cannot be given as text", c.name, name)
		}
		v, err := layout.Scalar{Form: layout.FormText, Text: text}.ConvertText(f.Form)
		if err == nil {
			err = f.Write(f.At(in.UnsafePointer()), v)
		}
		if err != nil {
			return in, fmt.Errorf("pattern %s: input %s: %w", c.name, name, err)
		}
	}
	return in, nil
}

func (c *patternCore) inputNames() []string {
	names := make([]string, len(c.in.Fields))
	for i := range c.in.Fields {
		names[i] = c.in.Fields[i].GoName
	}
	return names
}

// PlanText is Plan with inputs as text.
func (p *Pattern[In, Out]) PlanText(
	s *Store, inputs map[string]string, size int,
) (Plan, error) {
	in, err := p.c.textInputs(inputs)
	if err != nil {
		return Plan{}, err
	}
	return p.c.plan(s, in.UnsafePointer(), size)
}

// RunText is Page with inputs as text, by name, and rows as generic values. Times are RFC 3339 or
// calendar days.
func (p *Pattern[In, Out]) RunText(
	ctx context.Context, s *Store, inputs map[string]string, size int, cursor string,
) (Page[Row], error) {
	in, err := p.c.textInputs(inputs)
	if err != nil {
		return Page[Row]{}, err
	}
	return p.c.runRows(ctx, s, in.UnsafePointer(), size, cursor)
}
