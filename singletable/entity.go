package singletable

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Entity is a kind of item in a table, decoded to and from T, a struct without key fields. Create
// it with [NewEntity].
//
// A verb with a parameter `at T` uses only the fields that the templates of the primary key name:
// accounts.Get(ctx, store, Account{ID: "a1"}).
type Entity[T any] struct {
	c *core
}

// core is the part of an entity that does not depend on its Go type. Structs are passed by address.
type core struct {
	table   *Table
	name    string
	note    string
	shape   *shape
	base    *placement
	on      []*placement
	rings   []ring
	enums   map[string][]string
	readAs  map[string][]string // other forms of key attributes
	disc    string              // discriminator attribute, "" without one
	discVal string
	version int // version field, -1 without one
	uniques []*uniqueCore
	typical int
	load    int // items written per second, 0 if unknown

	lookup     bool     // a lookup item of a unique value; only these use the next two fields
	copy       []string // attributes to copy
	reservable bool

	present, absent *cond // conditions that the item exists, and that it does not
	shapes          shapeCache
	spare           sync.Pool // of *keyTexts

	enumFields []enumField
	baseFields fieldSet // fields of the primary key
	fed        fieldSet // fields on which index keys and unique values depend
	keyOnly    []int    // fields that are stored only in keys
	keyed      fieldSet // fields that can be restored from the primary key
	sources    []keySource
	required   []int // fields without which an item cannot be read
	together   []int // fields of which an item has all or none
	sound      []soundCheck
	ownKeys    []string // index keys that are attributes of fields
	names      map[string]string
	attrs      int   // the maximum number of attributes of an item
	badFields  int   // handles that are not fields
	optional   []int // fields that are not stored if they are empty
	problems   []string
}

type enumField struct {
	idx    int
	values []string
}

// EntityOption is a part of an entity's definition.
type EntityOption func(*core)

// OnOption is an option of an entity's place in an index.
type OnOption func(*placement)

// NewEntity defines an entity of a table. T is a struct. Its exported fields are attributes, named
// by `dynamodbav` tags or, without one, like the field. Errors are reported by [Model.Check] and by
// every verb.
func NewEntity[T any](t *Table, name string, opts ...EntityOption) *Entity[T] {
	c := &core{table: t, name: name, shape: shapeFor(reflect.TypeFor[T]()), version: -1}
	c.problems = append(c.problems, c.shape.problems...)
	for _, opt := range opts {
		opt(c)
	}
	c.bind()
	t.entities = append(t.entities, c)
	return &Entity[T]{c: c}
}

// Name returns the entity's name.
func (e *Entity[T]) Name() string { return e.c.name }

// Table returns the entity's table.
func (e *Entity[T]) Table() *Table { return e.c.table }

// Primary sets the templates of the table's partition key and, unless the table has none, of its
// sort key.
func Primary(templates ...string) EntityOption {
	return func(c *core) { c.base = &placement{templates: templates} }
}

// On places the entity in an index. The templates are those of the index's partition key ("" for a
// local index, whose partition key is the table's) and sort key ("" for an index without one). A
// missing part is an error unless the placement is sparse.
func On(index, partition, sort string, opts ...OnOption) EntityOption {
	return func(c *core) {
		pl := &placement{index: index, templates: []string{partition}}
		if sort != "" {
			pl.templates = append(pl.templates, sort)
		}
		for _, opt := range opts {
			opt(pl)
		}
		c.on = append(c.on, pl)
	}
}

// ReadAs defines another form of a key attribute, which other programs write. Items with it can be
// read, and their missing parts are empty. The kit never writes it.
func ReadAs(attribute, template string) EntityOption {
	return func(c *core) {
		if c.readAs == nil {
			c.readAs = map[string][]string{}
		}
		c.readAs[attribute] = append(c.readAs[attribute], template)
	}
}

// Sparse keeps an item out of the index if a part of its key there is missing.
func Sparse() OnOption { return func(pl *placement) { pl.sparse = true } }

// SparseWhen keeps an item in the index only while the attribute has one of the values and all
// parts of its key there are present.
func SparseWhen(attribute string, values ...string) OnOption {
	return func(pl *placement) {
		pl.sparse, pl.when = true, &sparseRule{attr: attribute, values: values}
	}
}

// Discriminator sets the attribute, and its value, that identify the entity's items.
func Discriminator(attribute, value string) EntityOption {
	return func(c *core) { c.disc, c.discVal = attribute, value }
}

// Versioned names a Number attribute, an int64 or uint64 field of T, that Create sets to 1 and
// every Update and Replace increments. Replace requires the version of the value that it writes.
func Versioned(attribute string) EntityOption {
	return func(c *core) {
		i, ok := c.shape.lookup(attribute)
		if kind := c.shape.kindOf(i); !ok || kind != reflect.Int64 && kind != reflect.Uint64 {
			c.fault("version %s is not a field of type int64 or uint64", attribute)
			return
		}
		c.version = i
	}
}

// Enum lists the values that a text attribute may have. Writes refuse others, and Check uses their
// number.
func Enum(attribute string, values ...string) EntityOption {
	return func(c *core) {
		if c.enums == nil {
			c.enums = map[string][]string{}
		}
		c.enums[attribute] = values
	}
}

// Shards declares a ring of shards whose number can grow. Templates use its name instead of a
// number, as in <ID:shard(ring)>. The epoch of an item is determined by its own time in the
// attribute by, so that a repeated write finds its shard again. The first epoch has no beginning.
func Shards(name, by string, epochs ...Epoch) EntityOption {
	return func(c *core) { c.rings = append(c.rings, ring{name: name, by: by, epochs: epochs}) }
}

// ShardsEver is [Shards] for items that may be in a shard of another epoch than their time implies,
// because a writer did not know the newest epoch, or because another program wrote them. A query
// reads the shards of all epochs, for any range of time, and, if templates have a shardSuffix, also
// the key without a suffix.
func ShardsEver(name, by string, epochs ...Epoch) EntityOption {
	return func(c *core) {
		c.rings = append(c.rings, ring{name: name, by: by, epochs: epochs, ever: true})
	}
}

// Typical sets the typical size of an item in bytes, for plans.
func Typical(bytes int) EntityOption { return func(c *core) { c.typical = bytes } }

// Load sets the number of items that are written per second at the peak, from which Check computes
// the number of shards: each write consumes the item's size in units of 1 KB (see [Typical]), and
// one partition key supports 1,000 units per second.
func Load(writesPerSecond int) EntityOption { return func(c *core) { c.load = writesPerSecond } }

// About sets the entity's sentence for the catalogue.
func About(sentence string) EntityOption { return func(c *core) { c.note = sentence } }

func (c *core) fault(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// err returns the errors of the definition.
func (c *core) err() error {
	if len(c.problems) == 0 && len(c.table.problems) == 0 {
		return nil
	}
	return &ModelError{Subject: c.name, Problems: slices.Concat(c.table.problems, c.problems)}
}

// bind resolves all names of the definition.
func (c *core) bind() {
	c.setPresence()
	// Options declare rings in any order, so templates are bound after all of them.
	if c.base == nil {
		c.base = &placement{}
	}
	c.base.keys = c.table.keys
	c.bindPlacement(c.base)
	if c.base.sparse {
		c.fault("the primary key cannot be sparse")
	}
	c.baseFields = c.base.needs
	c.fed = newFieldSet(len(c.shape.fields))
	placed := c.on
	c.on = nil
	for _, pl := range placed {
		x := c.table.index(pl.index)
		if x == nil {
			c.fault("there is no index %s in table %s", pl.index, c.table.name)
			continue
		}
		c.on = append(c.on, pl)
		pl.keys = x.keys
		if x.local && pl.templates[0] == "" {
			pl.templates[0] = c.base.templateOf(0)
		}
		c.bindPlacement(pl)
		c.fed.addAll(pl.needs)
	}
	c.bindEnums()
	for i := range c.shape.fields {
		if c.shape.fields[i].opts.keyOnly {
			c.keyOnly = append(c.keyOnly, i)
			if !c.recoverable(i) {
				c.fault("field %s is keyonly, but it cannot be restored from the primary key",
					c.shape.fields[i].goName)
			}
		}
	}
	c.names = map[string]string{}
	c.eachAttr(func(a string) { c.names[a] = placeholder(a) })
	c.markShared()
	c.countAttrs()
	c.bindSources()
}

// countAttrs computes the maximum number of attributes of an item, and which of its fields may be
// omitted.
func (c *core) countAttrs() {
	seen := map[string]bool{}
	for i := range c.shape.fields {
		f := &c.shape.fields[i]
		if f.opts.keyOnly {
			continue
		}
		seen[f.attr] = true
		if f.opts.omitEmpty {
			c.optional = append(c.optional, i)
		}
	}
	if c.disc != "" {
		seen[c.disc] = true
	}
	for _, pl := range append([]*placement{c.base}, c.on...) {
		_ = pl.attrs(func(k *keyAttr) error { seen[k.attr] = true; return nil })
	}
	c.attrs = len(seen)
}

// newItem returns an empty item with space for the attributes of the struct at p. The size is close
// to the need, because a map doubles its memory and is large beyond eight entries.
func (c *core) newItem(p unsafe.Pointer) dynamo.Item {
	n := c.attrs
	for _, i := range c.optional {
		if f := &c.shape.fields[i]; f.codec.empty(f.at(p)) {
			n--
		}
	}
	return make(dynamo.Item, n)
}

func (pl *placement) templateOf(i int) string {
	if i < len(pl.templates) {
		return pl.templates[i]
	}
	return ""
}

func (c *core) bindPlacement(pl *placement) {
	where := "primary key"
	if pl.index != "" {
		where = "index " + pl.index
	}
	want := 1
	if pl.keys.Sort != "" {
		want = 2
	}
	pl.needs = newFieldSet(len(c.shape.fields))
	if len(pl.templates) != want {
		c.fault("%s: %d templates for %d key attributes", where, len(pl.templates), want)
	}
	bindAttr := func(attr, text string, limit int) *keyAttr {
		k, bad := newKeyAttr(attr, text, limit, c)
		for _, b := range bad {
			c.fault("%s: %s", where, b)
		}
		pl.needs.addAll(k.needs)
		return k
	}
	pl.part = bindAttr(pl.keys.Partition, pl.templateOf(0), PartitionKeyMax)
	if pl.keys.Sort != "" {
		pl.sort = bindAttr(pl.keys.Sort, pl.templateOf(1), SortKeyMax)
	}
	if pl.when != nil {
		i, ok := c.shape.lookup(pl.when.attr)
		if !ok || c.shape.fields[i].form == formNone {
			c.fault("%s: the rule's attribute %s is not a field that can be compared", where,
				pl.when.attr)
			pl.when = nil
			return
		}
		pl.when.idx = i
		pl.needs.add(i)
	}
}

func (c *core) bindEnums() {
	for attr, values := range c.enums {
		i, ok := c.shape.lookup(attr)
		if !ok || c.shape.fields[i].form != formText {
			c.fault("enum %s is not a text field", attr)
			continue
		}
		c.enumFields = append(c.enumFields, enumField{i, values})
	}
	slices.SortFunc(c.enumFields, func(a, b enumField) int { return a.idx - b.idx })
}

// recoverable reports whether a field can be restored from the primary key. A time that is stored
// only in the key has the precision of the key's format.
func (c *core) recoverable(i int) bool {
	found := false
	_ = c.base.attrs(func(k *keyAttr) error {
		found = found || k.native == i
		for _, p := range k.t.parts {
			found = found || p.idx == i && p.ring == nil &&
				(p.format.lossless || p.format.grain > 0)
		}
		return nil
	})
	return found
}

// eachAttr calls f with every attribute that an item of the entity may have.
func (c *core) eachAttr(f func(attr string)) {
	seen := map[string]bool{"": true}
	visit := func(a string) {
		if !seen[a] {
			seen[a] = true
			f(a)
		}
	}
	for i := range c.shape.fields {
		visit(c.shape.fields[i].attr)
	}
	visit(c.disc)
	c.table.eachKeyAttribute(visit)
}

// markShared marks key attributes that belong to several placements.
func (c *core) markShared() {
	count := map[string]int{}
	visit := func(f func(*keyAttr)) {
		for _, pl := range c.on {
			_ = pl.attrs(func(k *keyAttr) error { f(k); return nil })
		}
	}
	visit(func(k *keyAttr) { count[k.attr]++ })
	visit(func(k *keyAttr) {
		k.shared = count[k.attr] > 1
		k.base = k.attr == c.table.keys.Partition || k.attr == c.table.keys.Sort
		if k.own && !k.base {
			c.ownKeys = append(c.ownKeys, k.attr)
		}
	})
}

// marshal converts the struct at p to an item with all its keys.
func (c *core) marshal(p unsafe.Pointer) (dynamo.Item, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := c.refusePart(p); err != nil {
		return nil, err
	}
	if err := c.checkEnums(p); err != nil {
		return nil, err
	}
	item := c.newItem(p)
	if err := c.shape.encodeInto(item, p); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if c.disc != "" {
		item[c.disc] = dynamo.S(c.discVal)
	}
	keys := c.newKeyTexts()
	defer c.flush(keys, item)
	if _, err := c.base.addTo(keys, item, c, p); err != nil {
		return nil, err
	}
	for _, pl := range c.on {
		if _, err := pl.addTo(keys, item, c, p); err != nil {
			return nil, err
		}
	}
	c.dropEmptyKeys(item)
	return item, nil
}

// dropEmptyKeys removes an empty field that is the key attribute of an index, because the store
// would refuse it: the item is not in that sparse index.
func (c *core) dropEmptyKeys(item dynamo.Item) {
	for _, attr := range c.ownKeys {
		if v, ok := item[attr]; ok && v.Kind() != dynamo.KindN && v.Size() == 0 {
			delete(item, attr)
		}
	}
}

func (c *core) checkEnums(p unsafe.Pointer) error {
	for _, e := range c.enumFields {
		f := &c.shape.fields[e.idx]
		v, err := f.scalar(p)
		if err != nil {
			return err
		}
		if !v.missing && !slices.Contains(e.values, v.text) {
			return fmt.Errorf("%s: %s is %q, not one of %s", c.name, f.attr, v.text,
				strings.Join(e.values, ", "))
		}
	}
	return nil
}

// key returns the primary key for the fields of the struct at p.
func (c *core) key(p unsafe.Pointer) (dynamo.Key, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	key := make(dynamo.Key, 2)
	keys := c.newKeyTexts()
	_, err := c.base.addTo(keys, key, c, p)
	c.flush(keys, key)
	return key, err
}

// keyOf returns the primary key of an item.
func (c *core) keyOf(item dynamo.Item) dynamo.Key {
	key := make(dynamo.Key, 2)
	for _, a := range [...]string{c.table.keys.Partition, c.table.keys.Sort} {
		if v, ok := item[a]; ok && a != "" {
			key[a] = v
		}
	}
	return key
}

// owns reports whether an item belongs to the entity, by its discriminator or, without one, by the
// form of its primary key.
func (c *core) owns(item dynamo.Item) bool {
	if c.disc != "" {
		if v, ok := item[c.disc]; ok {
			return v.S() == c.discVal
		}
	}
	ok := true
	_ = c.base.attrs(func(k *keyAttr) error {
		v, present := item[k.attr]
		ok = ok && present && (k.native >= 0 || k.matches(v.S()))
		return nil
	})
	return ok
}

// Item returns v as it is stored, with all its keys, for exports and inspection.
func (e *Entity[T]) Item(v T) (dynamo.Item, error) { return e.c.marshal(unsafe.Pointer(&v)) }

// Key returns the primary key of at.
func (e *Entity[T]) Key(at T) (dynamo.Key, error) { return e.c.key(unsafe.Pointer(&at)) }

// Decode converts an item of the entity to a T.
func (e *Entity[T]) Decode(item dynamo.Item) (v T, err error) {
	err = e.c.unmarshal(item, unsafe.Pointer(&v))
	return v, err
}

// Owns reports whether an item belongs to the entity.
func (e *Entity[T]) Owns(item dynamo.Item) bool { return e.c.owns(item) }
