package singletable

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
	infos := make([]EntityInfo, len(t.entities))
	for i, c := range t.entities {
		infos[i] = c.describe()
	}
	return infos
}

func (c *core) describe() EntityInfo {
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
		if f := &c.shape.fields[i]; !f.opts.keyOnly {
			info.Attributes = append(info.Attributes,
				AttributeInfo{Name: f.attr, Optional: f.opts.omitEmpty})
		}
	}
	return info
}
