package singletable

import (
	"slices"

	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// EntityInfo describes an entity for documentation: its keys and its attributes.
type EntityInfo struct {
	Name, Table, About string
	// Discriminator is the attribute that identifies the entity's items, and Type its value; both
	// are empty without one.
	Discriminator, Type string
	// Keys begins with the primary key. The keys of the entity's indexes follow.
	Keys       []KeyInfo
	Attributes []AttributeInfo
}

// KeyInfo is the place of an entity's items in the table or in one of its indexes.
type KeyInfo struct {
	// Index is empty for the primary key.
	Index string
	// Partition and Sort are the key attributes with their templates. Sort is empty if there is no
	// sort key.
	Partition, PartitionTemplate string
	Sort, SortTemplate           string
	// Sparse reports whether an item may be absent from the index.
	Sparse bool
}

// AttributeInfo is an attribute that is not a key.
type AttributeInfo struct {
	Name     string
	Optional bool // absent if it is empty
}

// Entities describes the entities of a table in the order of their definition, including the lookup
// items of unique values.
func (t *Table) Entities() []EntityInfo {
	copies := map[*core][]int{}
	for _, c := range t.entities {
		for _, u := range c.uniques {
			copies[u.c] = u.copies
		}
	}
	infos := make([]EntityInfo, len(t.entities))
	for i, c := range t.entities {
		infos[i] = c.describe(copies[c])
	}
	return infos
}

// describe describes an entity. copies are the fields that a lookup item copies, which are its only
// attributes.
func (c *core) describe(copies []int) EntityInfo {
	info := EntityInfo{
		Name: c.name, Table: c.table.name, About: c.note,
		Discriminator: c.disc, Type: c.discVal,
	}
	for _, pl := range append([]*layout.Placement{c.base}, c.on...) {
		info.Keys = append(info.Keys, KeyInfo{
			Index: pl.Index, Sparse: pl.Sparse,
			Partition: pl.Keys.Partition, PartitionTemplate: pl.TemplateOf(0),
			Sort: pl.Keys.Sort, SortTemplate: pl.TemplateOf(1),
		})
	}
	for i := range c.shape.Fields {
		f := &c.shape.Fields[i]
		stored := !f.Options.KeyOnly
		if c.lookup {
			stored = slices.Contains(copies, i)
		}
		if stored {
			// fields of the key are never empty
			info.Attributes = append(info.Attributes, AttributeInfo{
				Name: f.Attr, Optional: f.Options.OmitEmpty && !c.baseFields.Has(i)})
		}
	}
	return info
}
