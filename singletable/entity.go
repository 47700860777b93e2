package singletable

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
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
	shape   *layout.Shape
	base    *layout.Placement
	on      []*layout.Placement
	rings   []layout.Ring
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
	baseFields layout.FieldSet // fields of the primary key
	fed        layout.FieldSet // fields on which index keys and unique values depend
	keyOnly    []int           // fields that are stored only in keys
	keyed      layout.FieldSet // fields that can be restored from the primary key
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
type OnOption func(*layout.Placement)

// NewEntity defines an entity of a table. T is a struct. Its exported fields are attributes, named
// by `dynamodbav` tags or, without one, like the field. Errors are reported by [Model.Check] and by
// every verb.
func NewEntity[T any](t *Table, name string, opts ...EntityOption) *Entity[T] {
	c := &core{table: t, name: name, shape: layout.ShapeFor(reflect.TypeFor[T]()), version: -1}
	c.problems = append(c.problems, c.shape.Problems...)
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
	return func(c *core) { c.base = &layout.Placement{Templates: templates} }
}

// On places the entity in an index. The templates are those of the index's partition key ("" for a
// local index, whose partition key is the table's) and sort key ("" for an index without one). A
// missing part is an error unless the placement is sparse.
func On(index, partition, sort string, opts ...OnOption) EntityOption {
	return func(c *core) {
		pl := &layout.Placement{Index: index, Templates: []string{partition}}
		if sort != "" {
			pl.Templates = append(pl.Templates, sort)
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
func Sparse() OnOption { return func(pl *layout.Placement) { pl.Sparse = true } }

// SparseWhen keeps an item in the index only while the attribute has one of the values and all
// parts of its key there are present.
func SparseWhen(attribute string, values ...string) OnOption {
	return func(pl *layout.Placement) {
		pl.Sparse, pl.When = true, &layout.SparseRule{Attr: attribute, Values: values}
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
		i, ok := c.shape.Lookup(attribute)
		if kind := c.shape.KindOf(i); !ok || kind != reflect.Int64 && kind != reflect.Uint64 {
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
	return func(c *core) {
		c.rings = append(c.rings, layout.Ring{Name: name, By: by, Epochs: epochs})
	}
}

// ShardsEver is [Shards] for items that may be in a shard of another epoch than their time implies,
// because a writer did not know the newest epoch, or because another program wrote them. A query
// reads the shards of all epochs, for any range of time, and, if templates have a shardSuffix, also
// the key without a suffix.
func ShardsEver(name, by string, epochs ...Epoch) EntityOption {
	return func(c *core) {
		c.rings = append(c.rings, layout.Ring{Name: name, By: by, Epochs: epochs, Ever: true})
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
		c.base = &layout.Placement{}
	}
	c.base.Keys = c.table.keys
	c.bindPlacement(c.base)
	if c.base.Sparse {
		c.fault("the primary key cannot be sparse")
	}
	c.baseFields = c.base.Needs
	c.fed = layout.NewFieldSet(len(c.shape.Fields))
	placed := c.on
	c.on = nil
	for _, pl := range placed {
		x := c.table.index(pl.Index)
		if x == nil {
			c.fault("there is no index %s in table %s", pl.Index, c.table.name)
			continue
		}
		c.on = append(c.on, pl)
		pl.Keys = x.keys
		if x.local && pl.Templates[0] == "" {
			pl.Templates[0] = c.base.TemplateOf(0)
		}
		c.bindPlacement(pl)
		c.fed.AddAll(pl.Needs)
	}
	c.bindEnums()
	for i := range c.shape.Fields {
		if c.shape.Fields[i].Options.KeyOnly {
			c.keyOnly = append(c.keyOnly, i)
			if !c.recoverable(i) {
				c.fault("field %s is keyonly, but it cannot be restored from the primary key",
					c.shape.Fields[i].GoName)
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
	for i := range c.shape.Fields {
		f := &c.shape.Fields[i]
		if f.Options.KeyOnly {
			continue
		}
		seen[f.Attr] = true
		if f.Options.OmitEmpty {
			c.optional = append(c.optional, i)
		}
	}
	if c.disc != "" {
		seen[c.disc] = true
	}
	for _, pl := range append([]*layout.Placement{c.base}, c.on...) {
		_ = pl.Attrs(func(k *layout.KeyAttr) error { seen[k.Attr] = true; return nil })
	}
	c.attrs = len(seen)
}

// newItem returns an empty item with space for the attributes of the struct at p. The size is close
// to the need, because a map doubles its memory and is large beyond eight entries.
func (c *core) newItem(p unsafe.Pointer) dynamo.Item {
	n := c.attrs
	for _, i := range c.optional {
		if f := &c.shape.Fields[i]; f.Codec.Empty(f.At(p)) {
			n--
		}
	}
	return make(dynamo.Item, n)
}

func (c *core) bindPlacement(pl *layout.Placement) {
	where := "primary key"
	if pl.Index != "" {
		where = "index " + pl.Index
	}
	want := 1
	if pl.Keys.Sort != "" {
		want = 2
	}
	pl.Needs = layout.NewFieldSet(len(c.shape.Fields))
	if len(pl.Templates) != want {
		c.fault("%s: %d templates for %d key attributes", where, len(pl.Templates), want)
	}
	bindAttr := func(attr, text string, limit int) *layout.KeyAttr {
		k, bad := layout.NewKeyAttr(attr, text, c.table.keyKind(attr), limit, c.shape, c.rings,
			c.readAs[attr])
		for _, b := range bad {
			c.fault("%s: %s", where, b)
		}
		pl.Needs.AddAll(k.Needs)
		return k
	}
	pl.Part = bindAttr(pl.Keys.Partition, pl.TemplateOf(0), PartitionKeyMax)
	if pl.Keys.Sort != "" {
		pl.Sort = bindAttr(pl.Keys.Sort, pl.TemplateOf(1), SortKeyMax)
	}
	if pl.When != nil {
		i, ok := c.shape.Lookup(pl.When.Attr)
		if !ok || c.shape.Fields[i].Form == layout.FormNone {
			c.fault("%s: the rule's attribute %s is not a field that can be compared", where,
				pl.When.Attr)
			pl.When = nil
			return
		}
		pl.When.Index = i
		pl.Needs.Add(i)
	}
}

func (c *core) bindEnums() {
	for attr, values := range c.enums {
		i, ok := c.shape.Lookup(attr)
		if !ok || c.shape.Fields[i].Form != layout.FormText {
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
	_ = c.base.Attrs(func(k *layout.KeyAttr) error {
		found = found || k.Native == i
		for _, p := range k.Template.Parts {
			found = found || p.Index == i && p.Ring == nil &&
				(p.Format.Lossless || p.Format.Grain > 0)
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
	for i := range c.shape.Fields {
		visit(c.shape.Fields[i].Attr)
	}
	visit(c.disc)
	c.table.eachKeyAttribute(visit)
}

// markShared marks key attributes that belong to several placements.
func (c *core) markShared() {
	count := map[string]int{}
	visit := func(f func(*layout.KeyAttr)) {
		for _, pl := range c.on {
			_ = pl.Attrs(func(k *layout.KeyAttr) error { f(k); return nil })
		}
	}
	visit(func(k *layout.KeyAttr) { count[k.Attr]++ })
	visit(func(k *layout.KeyAttr) {
		k.Shared = count[k.Attr] > 1
		k.Base = k.Attr == c.table.keys.Partition || k.Attr == c.table.keys.Sort
		if k.Own && !k.Base {
			c.ownKeys = append(c.ownKeys, k.Attr)
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
	if err := c.shape.EncodeInto(item, p); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if c.disc != "" {
		item[c.disc] = dynamo.S(c.discVal)
	}
	keys := c.newKeyTexts()
	defer c.flush(keys, item)
	if _, err := c.base.AddTo(keys, item, c.name, c.shape, p); err != nil {
		return nil, err
	}
	for _, pl := range c.on {
		if _, err := pl.AddTo(keys, item, c.name, c.shape, p); err != nil {
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
		f := &c.shape.Fields[e.idx]
		v, err := f.Scalar(p)
		if err != nil {
			return err
		}
		if !v.Missing && !slices.Contains(e.values, v.Text) {
			return fmt.Errorf("%s: %s is %q, not one of %s", c.name, f.Attr, v.Text,
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
	_, err := c.base.AddTo(keys, key, c.name, c.shape, p)
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
	_ = c.base.Attrs(func(k *layout.KeyAttr) error {
		v, present := item[k.Attr]
		ok = ok && present && (k.Native >= 0 || k.Matches(v.S()))
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

// newKeyTexts returns a buffer from the pool, or a new one.
func (c *core) newKeyTexts() *layout.KeyTexts {
	if t, ok := c.spare.Get().(*layout.KeyTexts); ok {
		return t
	}
	return &layout.KeyTexts{Buf: make([]byte, 0, 512), Ends: make([]layout.KeyEnd, 0, 8)}
}

// flush adds the keys to the item and returns the buffer to the pool.
func (c *core) flush(t *layout.KeyTexts, item dynamo.Item) {
	if len(t.Ends) > 0 {
		text := string(t.Buf)
		start := 0
		for _, e := range t.Ends {
			item[e.Attr] = dynamo.S(text[start:e.End])
			start = e.End
		}
	}
	t.Buf, t.Ends = t.Buf[:0], t.Ends[:0]
	c.spare.Put(t)
}

// zero returns a new T.
func (c *core) zero() unsafe.Pointer { return reflect.New(c.shape.Type).UnsafePointer() }

// placeKey returns the key of the struct at p in a placement.
func (c *core) placeKey(pl *layout.Placement, p unsafe.Pointer) (
	part, sort dynamo.Value, in bool, err error,
) {
	item := dynamo.Item{}
	keys := c.newKeyTexts()
	in, err = pl.AddTo(keys, item, c.name, c.shape, p)
	c.flush(keys, item)
	if err != nil || !in {
		return part, sort, false, err
	}
	part, sort = item[pl.Part.Attr], dynamo.Value{}
	if pl.Sort != nil {
		sort = item[pl.Sort.Attr]
	}
	return part, sort, true, nil
}
