package singletable

import "github.com/exchequer-dev/exchequer/dynamo"

// Table is one DynamoDB table: its name, its key attributes, its indexes and the attribute by which
// items expire. [NewTable] creates it, and only [NewEntity] changes it later, by adding entities.
// Build the whole model before several goroutines use it.
type Table struct {
	name     string
	keys     KeyNames
	indexes  []*Index
	ttl      string
	types    map[string]dynamo.Kind // key attributes that are not strings
	entities []*core
	problems []string
}

// Index is a global or local secondary index of a table.
type Index struct {
	name       string
	keys       KeyNames
	local      bool
	projection dynamo.Projection
}

// Keys returns the names of a table's key attributes: the partition key and, unless items have
// none, the sort key.
func Keys(partition string, sort ...string) KeyNames {
	k := KeyNames{Partition: partition}
	if len(sort) > 0 {
		k.Sort = sort[0]
	}
	return k
}

// TableOption is a part of a table's definition.
type TableOption func(*Table)

// IndexOption is a part of an index's definition.
type IndexOption func(*Index)

// NewTable defines a table. Errors in the definition are reported by [Model.Check], and by every
// operation on the table.
func NewTable(name string, keys KeyNames, opts ...TableOption) *Table {
	t := &Table{name: name, keys: keys, types: map[string]dynamo.Kind{}}
	for _, opt := range opts {
		opt(t)
	}
	return t
}

// GSI adds a global secondary index that projects all attributes unless an option selects fewer.
// The sort attribute is empty for an index without one.
func GSI(name, partition, sort string, opts ...IndexOption) TableOption {
	return func(t *Table) {
		t.addIndex(&Index{name: name, keys: KeyNames{Partition: partition, Sort: sort}}, opts)
	}
}

// LSI adds a local secondary index: the table's partition key with another sort attribute. It can
// be created only together with its table, and limits an item collection to 10 GB.
func LSI(name, sort string, opts ...IndexOption) TableOption {
	return func(t *Table) {
		t.addIndex(
			&Index{
				name:  name,
				keys:  KeyNames{Partition: t.keys.Partition, Sort: sort},
				local: true,
			},
			opts,
		)
	}
}

func (t *Table) addIndex(x *Index, opts []IndexOption) {
	x.projection.ProjectionType = dynamo.ProjectAll
	for _, opt := range opts {
		opt(x)
	}
	t.indexes = append(t.indexes, x)
}

// KeysOnly makes an index hold only its own key attributes and those of the table.
func KeysOnly() IndexOption {
	return func(x *Index) { x.projection.ProjectionType = dynamo.ProjectKeysOnly }
}

// Include makes an index hold the named attributes in addition to the keys.
func Include(attributes ...string) IndexOption {
	return func(x *Index) {
		x.projection.ProjectionType = dynamo.ProjectInclude
		x.projection.NonKeyAttributes = append(x.projection.NonKeyAttributes, attributes...)
	}
}

// TTL names the attribute with the time, a Number in seconds since 1970, after which the store may
// delete an item. An expired item can be read until it is deleted.
func TTL(attribute string) TableOption { return func(t *Table) { t.ttl = attribute } }

// NumberKeys declares that the named key attributes are Numbers. Key attributes are strings by
// default.
func NumberKeys(attributes ...string) TableOption { return keyTypes(dynamo.KindN, attributes) }

// BinaryKeys declares that the named key attributes are binary.
func BinaryKeys(attributes ...string) TableOption { return keyTypes(dynamo.KindB, attributes) }

func keyTypes(k dynamo.Kind, attributes []string) TableOption {
	return func(t *Table) {
		for _, a := range attributes {
			t.types[a] = k
		}
	}
}

// Name returns the table's name.
func (t *Table) Name() string { return t.name }

// Keys returns the names of the table's key attributes.
func (t *Table) Keys() KeyNames { return t.keys }

// keyKind returns the type of a key attribute.
func (t *Table) keyKind(attribute string) dynamo.Kind {
	if k, ok := t.types[attribute]; ok {
		return k
	}
	return dynamo.KindS
}

func (t *Table) index(name string) *Index {
	for _, x := range t.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// eachKeyAttribute calls f with every attribute that is part of a key of the table.
func (t *Table) eachKeyAttribute(f func(attribute string)) {
	seen := map[string]bool{"": true}
	visit := func(k KeyNames) {
		for _, a := range [...]string{k.Partition, k.Sort} {
			if !seen[a] {
				seen[a] = true
				f(a)
			}
		}
	}
	visit(t.keys)
	for _, x := range t.indexes {
		visit(x.keys)
	}
}
