package singletable

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// KeysMarkdown describes the model's tables in Markdown: for each table its indexes, and for each
// entity the templates of its keys and the types of its attributes.
func (m *Model) KeysMarkdown() string {
	var b strings.Builder
	for _, t := range m.tables {
		t.writeKeys(&b)
	}
	return b.String()
}

func (t *Table) writeKeys(b *strings.Builder) {
	fmt.Fprintf(b, "## Table `%s`\n\n", t.name)
	fmt.Fprintf(b, "Primary key: %s.", keyNames(t.keys))
	if t.ttl != "" {
		fmt.Fprintf(b, " Items expire by `%s`.", t.ttl)
	}
	b.WriteString("\n\n")
	if len(t.indexes) > 0 {
		b.WriteString("| index | key | holds |\n|---|---|---|\n")
		for _, x := range t.indexes {
			name := "`" + x.name + "`"
			if x.local {
				name += " (local)"
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", name, keyNames(x.keys),
				strings.ToLower(projectionText(x.projection)))
		}
		b.WriteString("\n")
	}
	for _, c := range t.entities {
		c.writeKeys(b)
	}
}

func keyNames(k KeyNames) string {
	if k.Sort == "" {
		return "`" + k.Partition + "`"
	}
	return "`" + k.Partition + "`, `" + k.Sort + "`"
}

func (c *core) writeKeys(b *strings.Builder) {
	fmt.Fprintf(b, "### %s\n\n", c.name)
	if c.note != "" {
		fmt.Fprintf(b, "%s\n\n", c.note)
	}
	if len(c.problems) > 0 {
		fmt.Fprintf(b, "Not defined correctly: %s\n\n", strings.Join(c.problems, "; "))
		return
	}
	if c.lookup {
		b.WriteString("The lookup item of a unique value.\n\n")
	}
	b.WriteString("| key attribute | made of |\n|---|---|\n")
	row := func(k *layout.KeyAttr, where string) {
		if k != nil {
			fmt.Fprintf(b, "| `%s` | `%s`%s |\n", k.Attr, escapePipes(k.Template.Shown()), where)
		}
	}
	row(c.base.Part, "")
	row(c.base.Sort, "")
	for _, pl := range c.on {
		where := ""
		switch {
		case pl.When != nil:
			where = fmt.Sprintf(", while `%s` is %s", pl.When.Attr,
				strings.Join(pl.When.Values, " or "))
		case pl.Sparse:
			where = ", where all parts are present"
		}
		row(pl.Part, where)
		row(pl.Sort, where)
	}
	if c.lookup {
		b.WriteString("\n")
		return
	}
	b.WriteString("\n| attribute | type | |\n|---|---|---|\n")
	if c.disc != "" {
		fmt.Fprintf(b, "| `%s` | S | always `%s` |\n", c.disc, c.discVal)
	}
	for i := range c.shape.Fields {
		f := &c.shape.Fields[i]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Attr, kindText(f), c.fieldNote(i))
	}
	b.WriteString("\n")
}

func escapePipes(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func kindText(f *layout.Field) string {
	if f.Codec.Kind == 0 {
		return "any"
	}
	return f.Codec.Kind.String()
}

// fieldNote returns the special properties of an attribute.
func (c *core) fieldNote(i int) string {
	f := &c.shape.Fields[i]
	var notes []string
	add := func(cond bool, note string) {
		if cond {
			notes = append(notes, note)
		}
	}
	add(f.Options.KeyOnly, "in the key alone")
	add(f.Options.OmitEmpty, "optional")
	add(f.Options.UnixTime, "epoch seconds")
	add(c.version == i, "version")
	add(f.Attr == c.table.ttl, "expiry")
	for _, name := range [...]string{f.Attr, f.GoName} {
		if vs := c.enums[name]; len(vs) > 0 {
			notes = append(notes, strings.Join(vs, ", "))
			break
		}
	}
	return strings.Join(notes, "; ")
}

// PatternsMarkdown describes the model's access patterns in Markdown: a table of all, and a section
// for each.
func (m *Model) PatternsMarkdown() string {
	var b strings.Builder
	b.WriteString("| pattern | answers | reads | rows |\n|---|---|---|---|\n")
	for _, p := range m.patterns {
		in := p.Info()
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", in.Name, in.Name, in.Description,
			placeText(in), strings.Join(in.Entities, ", "))
	}
	for _, p := range m.patterns {
		p.Info().write(&b)
	}
	return b.String()
}

func placeText(in PatternInfo) string {
	place := "`" + in.Table + "`"
	if in.Index != "" {
		place += " by `" + in.Index + "`"
	}
	return place
}

func (in PatternInfo) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n", in.Name)
	if in.Description != "" {
		fmt.Fprintf(b, "%s\n\n", in.Description)
	}
	fmt.Fprintf(b, "A %s in %s", in.Kind, placeText(in))
	if in.Partitions != "1" {
		fmt.Fprintf(b, ", over %s", in.Partitions)
	}
	var how []string
	if in.Descending {
		how = append(how, "in descending order")
	}
	if in.Filtered {
		how = append(how, "filtered")
	}
	if in.Consistent {
		how = append(how, "consistent")
	}
	if len(how) > 0 {
		fmt.Fprintf(b, ", %s", strings.Join(how, ", "))
	}
	b.WriteString(".\n")
	if in.Where != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", in.Where)
	}
	if len(in.Inputs) == 0 {
		return
	}
	b.WriteString("\n| input | type | | for |\n|---|---|---|---|\n")
	for _, i := range in.Inputs {
		need := "optional"
		if i.Required {
			need = "required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", i.Name, i.Type, need, i.Use)
	}
}
