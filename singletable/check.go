package singletable

import (
	"errors"
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Report is the result of [Model.Check].
type Report struct {
	// Errors must be corrected: the model cannot be used, or would lose or mix data.
	Errors []Finding
	// Warnings are problems under load or over time, such as a hot key. A design may accept a
	// warning; the reason belongs in the design's documents.
	Warnings []Finding
	// Accepted are the warnings that the model accepts, each with the reason; see [Model.Accept].
	Accepted []Accepted
}

// Accepted is a warning that a design accepts.
type Accepted struct {
	Finding
	Reason string
}

// Finding is one error or warning.
type Finding struct {
	// Subject is the table, entity or pattern.
	Subject string
	Text    string
}

func (f Finding) String() string { return f.Subject + ": " + f.Text }

// Err returns the errors as one, or nil if there are none.
func (r Report) Err() error {
	var errs []error
	for _, f := range r.Errors {
		errs = append(errs, errors.New(f.String()))
	}
	return errors.Join(errs...)
}

// String lists errors and warnings, one in each line.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Errors {
		fmt.Fprintf(&b, "error: %s\n", f)
	}
	for _, f := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", f)
	}
	return b.String()
}

// checker collects findings.
type checker struct {
	r Report
}

func (k *checker) fail(subject, format string, args ...any) {
	k.r.Errors = append(k.r.Errors, Finding{subject, fmt.Sprintf(format, args...)})
}

func (k *checker) warn(subject, format string, args ...any) {
	k.r.Warnings = append(k.r.Warnings, Finding{subject, fmt.Sprintf(format, args...)})
}

// Check checks the whole model and returns all errors and warnings. Run it in a test.
func (m *Model) Check() Report {
	k := &checker{}
	names := map[string]bool{}
	for _, t := range m.tables {
		if names[t.name] {
			k.fail(t.name, "two tables have this name")
		}
		names[t.name] = true
		k.table(t)
	}
	if m.name == "" {
		k.fail("model", "the model has no name")
	}
	seen := map[string]bool{}
	var silent []string
	for _, p := range m.patterns {
		if p.core().note == "" {
			silent = append(silent, p.Name())
		}
		if p.Name() == "" {
			k.fail("pattern", "a pattern has no name")
		}
		if seen[p.Name()] {
			k.fail("pattern "+p.Name(), "two patterns have this name")
		}
		seen[p.Name()] = true
		k.pattern(p.core(), names)
	}
	for _, t := range m.tables {
		k.unusedIndexes(t, m.patterns)
	}
	if len(silent) > 0 {
		k.warn(m.name, "no description of %s", strings.Join(silent, ", "))
	}
	k.accept(m.accepted)
	return k.r
}

// accept moves accepted warnings to a list of their own. An accepted warning that does not occur is
// an error, because the design or the text of the warning has changed.
func (k *checker) accept(accepted []Accepted) {
	for _, a := range accepted {
		found := false
		rest := k.r.Warnings[:0:0]
		for _, w := range k.r.Warnings {
			if w.Subject == a.Subject && strings.Contains(w.Text, a.Text) {
				found = true
				k.r.Accepted = append(k.r.Accepted, Accepted{w, a.Reason})
				continue
			}
			rest = append(rest, w)
		}
		k.r.Warnings = rest
		switch {
		case !found:
			k.fail(a.Subject, "the accepted warning %q does not occur", a.Text)
		case a.Reason == "":
			k.fail(a.Subject, "the warning %q is accepted without a reason", a.Text)
		}
	}
}

// Limits of tables ("Quotas in Amazon DynamoDB").
const (
	globalIndexesMax = 20
	localIndexesMax  = 5
	tableNameMin     = 3
	tableNameMax     = 255
	includedMax      = 100
)

func (k *checker) table(t *Table) {
	for _, p := range t.problems {
		k.fail(t.name, "%s", p)
	}
	if len(t.name) < tableNameMin || len(t.name) > tableNameMax || !isTableName(t.name) {
		k.fail(t.name, "a table's name has %d to %d letters, digits, and _ - .", tableNameMin,
			tableNameMax)
	}
	if t.keys.Partition == "" {
		k.fail(t.name, "the table has no partition key")
	}
	k.stored(t)
	k.indexes(t)
	used := map[string]bool{}
	t.eachKeyAttribute(func(a string) { used[a] = true })
	for a := range t.types {
		if !used[a] {
			k.fail(t.name, "%s has a key type but is not a key attribute", a)
		}
	}
	byName, byValue := map[string]bool{}, map[string]string{}
	for _, c := range t.entities {
		if byName[c.name] {
			k.fail(c.name, "two entities of table %s have this name", t.name)
		}
		byName[c.name] = true
		if c.disc != "" {
			id := c.disc + "=" + c.discVal
			if other := byValue[id]; other != "" {
				k.fail(c.name, "%s has the same discriminator %s", other, id)
			}
			byValue[id] = c.name
		}
		k.entity(c)
	}
	for i, a := range t.entities {
		for _, b := range t.entities[i+1:] {
			if len(a.problems)+len(b.problems) == 0 {
				k.pair(a, b)
			}
		}
	}
}

// stored finds attribute names that no entity of the table stores.
func (k *checker) stored(t *Table) {
	if len(t.entities) == 0 {
		k.fail(t.name, "the table has no entity")
		return
	}
	has := map[string]bool{}
	for _, c := range t.entities {
		c.eachAttr(func(a string) { has[a] = true })
		for i := range c.shape.Fields {
			if f := &c.shape.Fields[i]; f.Options.KeyOnly || f.Options.KeyText || f.Options.Rest {
				delete(has, f.Attr)
			}
		}
	}
	if t.ttl != "" && !has[t.ttl] {
		k.fail(t.name, "items expire by %s, which no entity stores", t.ttl)
	}
	for _, x := range t.indexes {
		placed := false
		for _, c := range t.entities {
			for _, pl := range c.on {
				placed = placed || pl.Index == x.name
			}
		}
		if !placed {
			k.fail(t.name, "no entity is in index %s", x.name)
		}
		for _, a := range x.projection.NonKeyAttributes {
			if !has[a] {
				k.fail(t.name, "index %s includes %s, which no entity stores", x.name, a)
			}
		}
	}
}

func isTableName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isWordByte(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func (k *checker) indexes(t *Table) {
	global, local, included := 0, 0, 0
	seen := map[string]bool{}
	for _, x := range t.indexes {
		if seen[x.name] {
			k.fail(t.name, "two indexes are called %s", x.name)
		}
		seen[x.name] = true
		if len(x.name) < tableNameMin || len(x.name) > tableNameMax || !isTableName(x.name) {
			k.fail(t.name, "index %q: a name of an index has %d to %d letters, digits, and _ - .",
				x.name, tableNameMin, tableNameMax)
		}
		if x.keys.Partition == "" {
			k.fail(t.name, "index %s has no partition key", x.name)
		}
		if x.local {
			local++
			if t.keys.Sort == "" || x.keys.Sort == "" {
				k.fail(t.name, "local index %s needs a sort key, in the table and in itself",
					x.name)
			}
		} else {
			global++
		}
		if x.projection.ProjectionType == dynamo.ProjectInclude {
			included += len(x.projection.NonKeyAttributes)
			if len(x.projection.NonKeyAttributes) == 0 {
				k.fail(t.name, "index %s includes no attributes; use KeysOnly", x.name)
			}
		}
	}
	if global > globalIndexesMax || local > localIndexesMax || included > includedMax {
		k.fail(t.name, "%d global and %d local indexes that include %d attributes; at most %d, %d "+
			"and %d are possible", global, local, included, globalIndexesMax, localIndexesMax,
			includedMax)
	}
}

func (k *checker) entity(c *core) {
	if c.name == "" {
		k.fail(c.table.name, "an entity has no name")
	}
	for _, p := range c.problems {
		k.fail(c.name, "%s", p)
	}
	if c.badFields > 0 {
		k.fail(c.name, "FieldOf was called with a function that returns no field of the entity, "+
			"%d times", c.badFields)
	}
	if len(c.problems) > 0 {
		return
	}
	k.identity(c)
	if !c.lookup && (len(c.copy) > 0 || c.reservable) {
		k.fail(c.name, "Copy and Reservable are for unique values")
	}
	k.attributes(c)
	k.keyAttr(c, c.base.Part, "")
	k.keyAttr(c, c.base.Sort, "")
	k.partition(c, c.base, "the table")
	k.baseSort(c)
	for _, pl := range c.on {
		k.keyAttr(c, pl.Part, pl.Index)
		k.keyAttr(c, pl.Sort, pl.Index)
		if x := c.table.index(pl.Index); x != nil && !x.local {
			k.partition(c, pl, "index "+pl.Index)
		}
		k.sparse(c, pl)
	}
	k.sharedAttrs(c)
	k.stray(c)
}

// identity finds primary keys that two different items could share, because a format of the key
// does not keep the whole field.
func (k *checker) identity(c *core) {
	if c.lookup {
		return // A lookup item maps equal values to one key on purpose.
	}
	var lossy []string
	exact, fields := false, false
	_ = c.base.Attrs(func(a *layout.KeyAttr) error {
		exact = exact || a.Native >= 0
		for i := range a.Template.Parts {
			p := &a.Template.Parts[i]
			if !p.IsField() || p.Ring != nil {
				continue
			}
			fields = true
			if p.Format.Lossless {
				exact = true
			} else {
				lossy = append(lossy, p.Source())
			}
		}
		return nil
	})
	if fields && !exact {
		k.fail(
			c.name,
			"the primary key is made of %s alone, which different items can have: add a "+
				"part that keeps the whole of an id",
			strings.Join(lossy, " and "),
		)
		return
	}
	for _, part := range lossy {
		if strings.HasSuffix(part, ":lower>") || strings.HasSuffix(part, ":upper>") {
			k.warn(c.name, "part %s of the primary key is the same for texts that differ in case: "+
				"one item overwrites the other; keep the id as it is, and use NewUnique", part)
		}
	}
}

// attributes checks fields against attributes that the kit itself writes.
func (k *checker) attributes(c *core) {
	if i, ok := c.shape.ByName[c.disc]; ok && c.disc != "" && c.shape.Fields[i].Attr == c.disc {
		k.fail(c.name, "field %s has the discriminator's attribute %s", c.shape.Fields[i].GoName,
			c.disc)
	}
	if i, ok := c.shape.ByName[c.table.ttl]; ok && c.table.ttl != "" {
		f := &c.shape.Fields[i]
		if f.Codec.Kind != dynamo.KindN {
			k.fail(c.name,
				"expiry %s must be stored as a Number: give field %s the option unixtime",
				f.Attr, f.GoName)
		}
	}
}

func (k *checker) keyAttr(c *core, a *layout.KeyAttr, index string) {
	if a == nil || a.Native >= 0 {
		return
	}
	if n := a.Template.MaxLen(); n > a.Max {
		where := "the table"
		if index != "" {
			where = "index " + index
		}
		k.fail(
			c.name,
			"key %q of %s can be %d bytes long, more than %d",
			a.Template.Text,
			where,
			n,
			a.Max,
		)
	}
}

// partitionWrites is the throughput of one partition key, in write units per second (AWS, "Best
// practices for designing and using partition keys effectively").
const partitionWrites = 1000

// partition warns of a partition key with few values, because they limit the write throughput of a
// table of any size.
func (k *checker) partition(c *core, pl *layout.Placement, where string) {
	values, dated, few := 1, false, true
	for i := range pl.Part.Template.Parts {
		p := &pl.Part.Template.Parts[i]
		if !p.IsField() {
			continue
		}
		n := c.fewValues(p)
		switch {
		case p.Format.Grain >= layout.GrainDay:
			dated = true
		case n == 0:
			few = false
		default:
			values *= n
		}
	}
	if c.load > 0 && few {
		k.load(c, pl, where)
		return
	}
	switch {
	case !few:
	case dated && values == 1:
		k.warn(c.name, "partition key %q of %s is a bare date: all writes of the time go to one "+
			"partition, at most %d units a second; add an id or a shard", pl.Part.Template.Text, where,
			partitionWrites)
	case pl.When != nil && values == 1 && !dated:
		k.warn(c.name, "partition key %q of %s has one value: at most %d write units a second; "+
			"add a shard if more items than that enter or leave", pl.Part.Template.Text, where,
			partitionWrites)
	default:
		k.warn(c.name, "partition key %q of %s has about %d values: each takes at most %d write "+
			"units a second, however many items there are; add a shard", pl.Part.Template.Text,
			where, values, partitionWrites)
	}
}

// load compares the expected writes with the throughput of the partitions. Only shards are assumed
// to spread the writes, because most items have the same status most of the time.
func (k *checker) load(c *core, pl *layout.Placement, where string) {
	shards := 1
	for i := range pl.Part.Template.Parts {
		if p := &pl.Part.Template.Parts[i]; p.Ring != nil {
			shards = max(shards, p.Format.Few)
		}
	}
	units := c.load * int(dynamo.WriteUnits(c.typicalSize()))
	need := (units + partitionWrites - 1) / partitionWrites
	if shards < need {
		k.warn(c.name,
			"partition key %q of %s takes %d write units a second (%d items of %d bytes), "+
				"which needs at least %d shards; it has %d", pl.Part.Template.Text, where, units,
			c.load, c.typicalSize(), need, shards)
	}
}

// fewValues returns the number of values of a part if it is small; 0 means many.
func (c *core) fewValues(p *layout.Piece) int {
	if p.Format.Few > 0 {
		return p.Format.Few
	}
	f := &c.shape.Fields[p.Index]
	for _, name := range [...]string{f.Attr, f.GoName} {
		if vs := c.enums[name]; len(vs) > 0 {
			return len(vs)
		}
	}
	if soundsFew(f.GoName) {
		return fewGuess
	}
	return 0
}

// fewGuess is the assumed number of values of an attribute with the name of a status or kind.
const fewGuess = 5

// soundsFew reports whether a name is typical of statuses and kinds. A State may belong to an
// address, so it counts only with Enum.
func soundsFew(name string) bool {
	for _, end := range [...]string{"Status", "Type", "Kind", "Category", "Phase"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// baseSort warns of a status in the table's own sort key, because it cannot be updated there.
func (k *checker) baseSort(c *core) {
	if c.base.Sort == nil || c.lookup {
		return
	}
	for i := range c.base.Sort.Template.Parts {
		p := &c.base.Sort.Template.Parts[i]
		if p.IsField() && p.Ring == nil && p.Format.Few == 0 && c.fewValues(p) > 0 {
			k.warn(c.name,
				"%s in sort key %q of the table: a change of it is a deletion and a new "+
					"item; keep it in an index's sort key", p.Source(), c.base.Sort.Template.Text)
		}
	}
}

// sparse finds sparse placements whose key attributes cannot be removed.
func (k *checker) sparse(c *core, pl *layout.Placement) {
	if !pl.Sparse {
		return
	}
	removable := false
	_ = pl.Attrs(func(a *layout.KeyAttr) error {
		removable = removable || !a.Own && !a.Base && !a.Shared
		return nil
	})
	if !removable && pl.When != nil {
		k.fail(c.name, "index %s cannot be sparse by a rule: its key attributes all serve as "+
			"something else too, and cannot be removed", pl.Index)
	}
}

// sharedAttrs finds key attributes that two templates define differently.
func (k *checker) sharedAttrs(c *core) {
	made := map[string]*layout.KeyAttr{}
	visit := func(a *layout.KeyAttr) error {
		if other := made[a.Attr]; other != nil && other.Template.Text != a.Template.Text {
			k.fail(c.name, "key attribute %s is made by %q and by %q", a.Attr, other.Template.Text,
				a.Template.Text)
		}
		made[a.Attr] = a
		return nil
	}
	_ = c.base.Attrs(visit)
	for _, pl := range c.on {
		_ = pl.Attrs(visit)
	}
}

// stray finds fields that put an entity into an index without a placement.
func (k *checker) stray(c *core) {
	if c.lookup {
		return
	}
	for _, x := range c.table.indexes {
		placed := false
		for _, pl := range c.on {
			placed = placed || pl.Index == x.name
		}
		if placed {
			continue
		}
		has := func(attr string) bool {
			i, ok := c.shape.ByName[attr]
			return attr == "" || ok && c.shape.Fields[i].Attr == attr ||
				attr == c.table.keys.Partition || attr == c.table.keys.Sort
		}
		if has(x.keys.Partition) && has(x.keys.Sort) {
			k.warn(
				c.name,
				"its attributes put it into index %s; declare it with On, or rename them",
				x.name,
			)
		}
	}
}

// pair finds entities whose keys can be equal or whose key ranges overlap.
func (k *checker) pair(a, b *core) {
	if a.base.Part.CouldEqual(b.base.Part) && a.base.Sort.CouldEqual(b.base.Sort) {
		k.fail(a.name, "an item can have the same key as one of %s: %s and %s", b.name,
			a.keyTemplates(), b.keyTemplates())
	}
	k.bleed(a, b, a.base, b.base)
	k.bleed(b, a, b.base, a.base)
	for _, pa := range a.on {
		for _, pb := range b.on {
			if pa.Index == pb.Index {
				k.bleed(a, b, pa, pb)
				k.bleed(b, a, pb, pa)
			}
		}
	}
}

func (c *core) keyTemplates() string {
	text := fmt.Sprintf("%q", c.base.Part.Template.Text)
	if c.base.Sort != nil {
		text += fmt.Sprintf(", %q", c.base.Sort.Template.Text)
	}
	return text
}

// bleed warns if a query with a's prefix also reads b's items.
func (k *checker) bleed(a, b *core, pa, pb *layout.Placement) {
	if pa.Sort == nil || pb.Sort == nil || pa.Sort.Native >= 0 || pb.Sort.Native >= 0 ||
		!pa.Part.CouldEqual(pb.Part) {
		return
	}
	prefix := pa.Sort.Template.LiteralPrefix()
	if prefix == "" || len(pa.Sort.Template.Parts) == 1 {
		return
	}
	lead := (&layout.Template{Parts: []layout.Piece{{Literal: prefix}}}).Nodes()
	if layout.Overlap(pb.Sort.Template.Nodes(), lead, true) {
		k.warn(a.name,
			"a query of its sort keys %q also reads %s, whose keys %q begin the same way",
			pa.Sort.Template.Text, b.name, pb.Sort.Template.Text)
	}
}

func (k *checker) pattern(c *patternCore, tables map[string]bool) {
	subject := "pattern " + c.name
	for _, p := range c.problems {
		k.fail(subject, "%s", p)
	}
	if c.table != nil && !tables[c.table.name] {
		k.fail(subject, "its table %s is not part of the model", c.table.name)
	}
	if len(c.problems) > 0 || c.err() != nil {
		return
	}
	if c.kind == kindScan {
		k.warn(subject, "a scan reads the whole table, and costs more as it grows")
	}
	if c.kind == kindCollection && c.descending {
		return
	}
	k.filters(c, subject)
}

// filters finds filters on key attributes, which the store refuses, and on attributes that the
// index does not hold.
func (k *checker) filters(c *patternCore, subject string) {
	for _, f := range c.filters {
		for _, attr := range f.attrs() {
			if c.kind != kindScan && (attr == c.keys.Partition || attr == c.keys.Sort) {
				k.fail(subject, "a filter cannot name the key attribute %s", attr)
			}
			if !c.projects(attr) {
				k.fail(subject, "index %s does not hold %s, which a filter names", c.index.name,
					attr)
			}
		}
	}
}

// attrs returns the attributes of a condition.
func (c *cond) attrs() []string {
	var out []string
	if c.attr != "" {
		out = append(out, c.attr)
	}
	for _, kid := range c.kids {
		out = append(out, kid.attrs()...)
	}
	return out
}

// projects reports whether rows of the pattern have an attribute.
func (c *patternCore) projects(attr string) bool {
	if c.index == nil || c.index.projection.ProjectionType == dynamo.ProjectAll {
		return true
	}
	for _, a := range append([]string{c.keys.Partition, c.keys.Sort, c.table.keys.Partition,
		c.table.keys.Sort}, c.index.projection.NonKeyAttributes...) {
		if a == attr {
			return true
		}
	}
	return false
}

// unusedIndexes warns of indexes that no pattern uses, because every write pays for them.
func (k *checker) unusedIndexes(t *Table, patterns []AccessPattern) {
	for _, x := range t.indexes {
		used := false
		for _, p := range patterns {
			c := p.core()
			used = used || c.table == t && c.index == x
		}
		if !used && len(patterns) > 0 {
			k.warn(t.name, "no pattern uses index %s, which every write pays for", x.name)
		}
	}
}
