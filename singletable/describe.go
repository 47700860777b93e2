package singletable

import "slices"

// EntityInfo describes an entity for documentation: which item it is, where it is found, and
// which attributes it has.
type EntityInfo struct {
	Name, Table, About string
	// Discriminator and Type are the attribute that tells the entity's items from others, and
	// its value; empty without one.
	Discriminator, Type string
	// Keys begins with the primary key; the indexes that the entity is in follow.
	Keys       []KeyInfo
	Attributes []AttributeInfo
}

// KeyInfo is where an entity's items are in the table or in one of its indexes.
type KeyInfo struct {
	// Index is empty for the primary key.
	Index string
	// Partition and Sort are the key attributes, and the templates that make them. Sort is empty
	// where there is no sort key.
	Partition, PartitionTemplate string
	Sort, SortTemplate           string
	// Sparse tells that an item may be absent from the index.
	Sparse bool
}

// AttributeInfo is an attribute besides the keys.
type AttributeInfo struct {
	Name     string
	Optional bool // absent when it is empty
}

// Entities describes the entities of a table in the order of their definition, the lookup items
// of unique values among them.
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

// describe takes the fields that a lookup item copies, which are all that it has.
func (c *core) describe(copies []int) EntityInfo {
	info := EntityInfo{
		Name: c.name, Table: c.table.name, About: c.note,
		Discriminator: c.disc, Type: c.discVal,
	}
	for _, pl := range append([]*placement{c.base}, c.on...) {
		info.Keys = append(info.Keys, KeyInfo{
			Index: pl.index, Sparse: pl.sparse,
			Partition: pl.keys.Partition, PartitionTemplate: pl.templateOf(0),
			Sort: pl.keys.Sort, SortTemplate: pl.templateOf(1),
		})
	}
	for i := range c.shape.fields {
		f := &c.shape.fields[i]
		stored := !f.opts.keyOnly
		if c.lookup {
			stored = slices.Contains(copies, i)
		}
		if stored {
			// What the key is made of is never empty.
			info.Attributes = append(info.Attributes, AttributeInfo{
				Name: f.attr, Optional: f.opts.omitEmpty && !c.baseFields.has(i)})
		}
	}
	return info
}
