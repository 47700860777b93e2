package singletable

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// AuditItem is a stored item, for checks that compare stored data with expected data. It is read
// independently of patterns: an item that no entity owns, or that cannot be decoded, is an
// AuditItem, too.
type AuditItem struct {
	t     *Table
	index *Index // the index from which it was read, nil for the table
	item  dynamo.Item
	owner *core
}

// AuditQuery selects stored items: all items of a table or index, or with a Partition the items of
// one partition key in the order of their sort keys.
type AuditQuery struct {
	Table *Table
	// Index reads from an index. Empty reads the table, consistently.
	Index string
	// Partition is the text of a partition key of the table or of the index.
	Partition string
	// Segment is one of Segments parts of a table or index that are read in parallel.
	Segment, Segments int
	// Limit is the maximum number of items in a page; 0 means as many as the store returns.
	Limit int
	// After continues after a page, from its Next.
	After string
}

// AuditPage is a page of stored items. Next is empty only on the last page. A page may be empty
// although it is not the last.
type AuditPage struct {
	Items []AuditItem
	Next  string
}

// Audit reads a page of stored items. Items with the same partition key are adjacent.
func (s *Store) Audit(ctx context.Context, q AuditQuery) (AuditPage, error) {
	index, err := q.Table.auditIndex(q.Index)
	if err != nil {
		return AuditPage{}, err
	}
	after, err := parsePlace(q.After)
	if err != nil {
		return AuditPage{}, fmt.Errorf("audit %s: %w", q.Table.name, err)
	}
	var items []dynamo.Item
	var last dynamo.Key
	if q.Partition == "" {
		items, last, err = s.auditScan(ctx, q, after)
	} else {
		items, last, err = s.auditQuery(ctx, q, index, after)
	}
	if err != nil {
		return AuditPage{}, fmt.Errorf("audit %s: %w", q.Table.name, err)
	}
	page := AuditPage{Items: make([]AuditItem, len(items)), Next: auditPlace(last)}
	for i, item := range items {
		page.Items[i] = q.Table.audited(item, index)
	}
	return page, nil
}

func (t *Table) auditIndex(name string) (*Index, error) {
	if name == "" {
		return nil, nil
	}
	for _, x := range t.indexes {
		if x.name == name {
			return x, nil
		}
	}
	return nil, fmt.Errorf("table %s has no index %s", t.name, name)
}

// audited returns an AuditItem with the entity that owns it.
func (t *Table) audited(item dynamo.Item, index *Index) AuditItem {
	a := AuditItem{t: t, index: index, item: item}
	for _, c := range t.entities {
		if c.owns(item) {
			a.owner = c
			break
		}
	}
	return a
}

func (s *Store) auditScan(
	ctx context.Context, q AuditQuery, after dynamo.Key,
) (items []dynamo.Item, last dynamo.Key, err error) {
	in := &dynamo.ScanInput{TableName: q.Table.name, IndexName: q.Index, Limit: q.Limit,
		ConsistentRead: q.Index == "", ExclusiveStartKey: after,
		ReturnConsumedCapacity: capacity(ctx)}
	if q.Segments > 1 {
		in.Segment, in.TotalSegments = q.Segment, q.Segments
	}
	req := request{op: "Scan", table: q.Table.name, index: q.Index}
	err = s.call(ctx, req, func(ctx context.Context) (usage, error) {
		out, err := s.db.Scan(ctx, in)
		if err != nil {
			return usage{}, err
		}
		items, last = out.Items, out.LastEvaluatedKey
		return usage{one: out.ConsumedCapacity}, nil
	})
	return items, last, err
}

func (s *Store) auditQuery(
	ctx context.Context, q AuditQuery, index *Index, after dynamo.Key,
) ([]dynamo.Item, dynamo.Key, error) {
	keys := q.Table.keys
	if index != nil {
		keys = index.keys
	}
	x := expressions{}
	condition := x.name(keys.Partition) + " = " +
		x.value(keys.Partition, dynamo.S(q.Partition))
	return s.auditRead(ctx, &dynamo.QueryInput{TableName: q.Table.name, IndexName: q.Index,
		KeyConditionExpression: condition, Expressions: x.placeholders(), Limit: q.Limit,
		ConsistentRead: index == nil, ExclusiveStartKey: after})
}

func (s *Store) auditRead(
	ctx context.Context, in *dynamo.QueryInput,
) (items []dynamo.Item, last dynamo.Key, err error) {
	in.ReturnConsumedCapacity = capacity(ctx)
	req := request{op: "Query", table: in.TableName, index: in.IndexName}
	err = s.call(ctx, req, func(ctx context.Context) (usage, error) {
		out, err := s.db.Query(ctx, in)
		if err != nil {
			return usage{}, err
		}
		items, last = out.Items, out.LastEvaluatedKey
		return usage{one: out.ConsumedCapacity}, nil
	})
	return items, last, err
}

// AuditMany reads the stored items at the keys of some values, consistently and in their order. An
// element is nil if there is no item at the key.
func (e *Entity[T]) AuditMany(ctx context.Context, s *Store, at []T) ([]*AuditItem, error) {
	keys := make([]dynamo.Key, len(at))
	for i := range at {
		var err error
		if keys[i], err = e.c.key(unsafe.Pointer(&at[i])); err != nil {
			return nil, fmt.Errorf("audit %s, key %d: %w", e.c.name, i, err)
		}
	}
	items, err := s.getMany(ctx, e.c.table, keys, readOptions{consistent: true})
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", e.c.name, err)
	}
	out := make([]*AuditItem, len(at))
	for i, key := range keys {
		if item, ok := items[e.c.table.identity(key)]; ok {
			a := e.c.table.audited(item, nil)
			out[i] = &a
		}
	}
	return out, nil
}

// AuditAgain reads an item of the table again by its primary key, consistently, and reports whether
// it exists. The item may have been read from an index.
func (s *Store) AuditAgain(ctx context.Context, a *AuditItem) (AuditItem, bool, error) {
	key := dynamo.Key{}
	for _, attr := range [...]string{a.t.keys.Partition, a.t.keys.Sort} {
		if v, ok := a.item[attr]; ok && attr != "" {
			key[attr] = v
		}
	}
	items, err := s.getMany(ctx, a.t, []dynamo.Key{key}, readOptions{consistent: true})
	if err != nil {
		return AuditItem{}, false, fmt.Errorf("audit %s: %w", a.Key(), err)
	}
	item, ok := items[a.t.identity(key)]
	if !ok {
		return AuditItem{}, false, nil
	}
	return a.t.audited(item, nil), true, nil
}

// AuditIndexed reports whether an index has an item at the item's index keys. An item without those
// keys is in no index.
func (s *Store) AuditIndexed(ctx context.Context, a *AuditItem, name string) (bool, error) {
	index, err := a.t.auditIndex(name)
	if err != nil || index == nil {
		return false, err
	}
	x := expressions{}
	var conditions []string
	for _, attr := range [...]string{index.keys.Partition, index.keys.Sort} {
		if attr == "" {
			continue
		}
		v, ok := a.item[attr]
		if !ok {
			return false, nil
		}
		conditions = append(conditions, x.name(attr)+" = "+x.value(attr, v))
	}
	in := &dynamo.QueryInput{TableName: a.t.name, IndexName: name,
		KeyConditionExpression: strings.Join(conditions, " AND "), Expressions: x.placeholders()}
	for {
		items, last, err := s.auditRead(ctx, in)
		if err != nil {
			return false, fmt.Errorf("audit %s: %w", a.Key(), err)
		}
		for _, item := range items {
			if a.t.identity(item) == a.t.identity(a.item) {
				return true, nil
			}
		}
		if last == nil {
			return false, nil
		}
		in.ExclusiveStartKey = last
	}
}

// Entity returns the name of the entity that owns the item, or "" if no entity of its table does.
func (a *AuditItem) Entity() string {
	if a.owner == nil {
		return ""
	}
	return a.owner.name
}

// Partition and Sort return the primary key as text.
func (a *AuditItem) Partition() string { return keyPart(a.item[a.t.keys.Partition]) }

// Sort returns the sort key as text, or "" in a table without one.
func (a *AuditItem) Sort() string { return keyPart(a.item[a.t.keys.Sort]) }

func keyPart(v dynamo.Value) string {
	switch v.Kind() {
	case dynamo.KindN:
		return v.N()
	case dynamo.KindB:
		return fmt.Sprintf("%x", v.B())
	}
	return v.S()
}

// Key returns the primary key for messages: "TXN#1 METADATA".
func (a *AuditItem) Key() string { return strings.TrimSpace(a.Partition() + " " + a.Sort()) }

// Place returns the position of the item in its table, for the field After of a query.
func (a *AuditItem) Place() string {
	key := dynamo.Key{}
	for _, keys := range a.placeKeys() {
		for _, attr := range [...]string{keys.Partition, keys.Sort} {
			if v, ok := a.item[attr]; ok && attr != "" {
				key[attr] = v
			}
		}
	}
	return auditPlace(key)
}

func (a *AuditItem) placeKeys() []KeyNames {
	if a.index == nil {
		return []KeyNames{a.t.keys}
	}
	return []KeyNames{a.t.keys, a.index.keys}
}

// Has reports whether the item has an attribute.
func (a *AuditItem) Has(attribute string) bool {
	_, ok := a.item[attribute]
	return ok
}

// Text returns a string or number attribute as text, or "" for other types.
func (a *AuditItem) Text(attribute string) string {
	v := a.item[attribute]
	switch v.Kind() {
	case dynamo.KindS:
		return v.S()
	case dynamo.KindN:
		return v.N()
	}
	return ""
}

// Instant returns a time attribute that is stored as text, and reports whether it is one.
func (a *AuditItem) Instant(attribute string) (time.Time, bool) {
	v := a.item[attribute]
	if v.Kind() != dynamo.KindS {
		return time.Time{}, false
	}
	t, err := layout.ParseInstant(v.S())
	return t, err == nil
}

// FromAudit returns the item as a value of an entity, and reports whether the entity owns it.
func (e *Entity[T]) FromAudit(a *AuditItem) (v T, ok bool, err error) {
	if a.owner != e.c {
		return v, false, nil
	}
	err = e.c.unmarshal(a.item, unsafe.Pointer(&v))
	return v, true, err
}

// AuditDifference is an attribute that differs from the value that the item's other attributes
// imply.
type AuditDifference struct {
	Attribute string
	// Index is the index to whose key the attribute belongs. Primary reports whether it belongs to
	// the primary key.
	Index   string
	Primary bool
	// Missing reports that the attribute should exist and does not, Extra that it exists and should
	// not: an index key of an item that does not belong to the index.
	Missing, Extra bool
	// Want and Got are the values as text.
	Want, Got string
}

// Compare decodes the item, computes the attributes that would be stored for its values, and
// returns the attributes that differ, sorted by name. Attributes that the entity does not define
// are ignored. It returns an error if the item cannot be decoded or its values cannot be stored.
func (a *AuditItem) Compare() ([]AuditDifference, error) {
	if a.owner == nil {
		return nil, fmt.Errorf("%s: no entity of the table owns the item", a.Key())
	}
	p := a.owner.zero()
	if err := a.owner.unmarshal(a.item, p); err != nil {
		return nil, err
	}
	want, err := a.owner.marshal(p)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", a.owner.name, a.Key(), err)
	}
	var out []AuditDifference
	for attr, w := range want {
		got, ok := a.item[attr]
		if ok && sameStored(w, got) {
			continue
		}
		out = append(out, a.difference(AuditDifference{Attribute: attr, Missing: !ok,
			Want: auditText(w), Got: auditText(got)}))
	}
	for _, x := range a.t.indexes {
		for _, attr := range [...]string{x.keys.Partition, x.keys.Sort} {
			got, ok := a.item[attr]
			if _, wanted := want[attr]; ok && !wanted && attr != "" {
				out = append(out, a.difference(AuditDifference{Attribute: attr, Extra: true,
					Got: auditText(got)}))
			}
		}
	}
	slices.SortFunc(out, func(x, y AuditDifference) int {
		return cmp.Compare(x.Attribute, y.Attribute)
	})
	return out, nil
}

// difference adds the key to which the attribute belongs.
func (a *AuditItem) difference(d AuditDifference) AuditDifference {
	d.Primary = d.Attribute == a.t.keys.Partition || d.Attribute == a.t.keys.Sort
	for _, x := range a.t.indexes {
		if d.Attribute == x.keys.Partition || d.Attribute == x.keys.Sort {
			d.Index = x.name
		}
	}
	return d
}

// sameStored compares values as a reader of the item does: numbers by value, and texts with
// instants in different precision by the instant.
func sameStored(want, got dynamo.Value) bool {
	if want.Equal(got) {
		return true
	}
	if want.Kind() == dynamo.KindN && got.Kind() == dynamo.KindN {
		return canonical(want).Equal(canonical(got))
	}
	if want.Kind() != dynamo.KindS || got.Kind() != dynamo.KindS {
		return false
	}
	w, g := want.S(), got.S()
	return strings.Contains(w, millisZero) && strings.ReplaceAll(w, millisZero, "Z") ==
		strings.ReplaceAll(g, millisZero, "Z")
}

// millisZero is the end of an instant with whole seconds. Other programs omit the milliseconds.
const millisZero = ".000Z"

func auditText(v dynamo.Value) string {
	switch v.Kind() {
	case dynamo.KindS, dynamo.KindN:
		return keyPart(v)
	}
	if v.IsAbsent() {
		return ""
	}
	return v.String()
}

// Digest returns a hash of the primary key, the entity and some attributes of an item. The sum of
// the digests of a set of items is independent of the order in which they are read. Different sets
// have the same sum with a probability of 1 in 2^64.
func (a *AuditItem) Digest(attributes ...string) uint64 {
	h := uint64(fnvOffset)
	add := func(text string) {
		var size [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(size[:], uint64(len(text)))
		for _, b := range size[:n] {
			h = (h ^ uint64(b)) * fnvPrime
		}
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * fnvPrime
		}
	}
	add(a.Partition())
	add(a.Sort())
	for _, attr := range attributes {
		add(auditText(canonical(a.item[attr])))
	}
	// A finaliser is needed, because sums of FNV hashes of similar texts are not independent.
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

// The constants of FNV-1a with 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// auditPlace encodes a key as text for AuditPage.Next; "" for no key.
func auditPlace(key dynamo.Key) string {
	if key == nil {
		return ""
	}
	var out []byte
	for _, attr := range slices.Sorted(maps.Keys(key)) {
		out = binary.AppendUvarint(out, uint64(len(attr)))
		out = append(out, attr...)
		out = appendPositionValue(out, key[attr])
	}
	return base64.RawURLEncoding.EncodeToString(out)
}

// parsePlace decodes a text of auditPlace.
func parsePlace(text string) (dynamo.Key, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a position of a page", text)
	}
	key := dynamo.Key{}
	r := cursorReader{rest: raw}
	for len(r.rest) > 0 && !r.bad {
		attr := string(r.take(int(r.uvarint())))
		kind, value := dynamo.Kind(r.byte()), string(r.take(int(r.uvarint())))
		switch kind {
		case dynamo.KindS:
			key[attr] = dynamo.S(value)
		case dynamo.KindN:
			key[attr] = dynamo.N(value)
		case dynamo.KindB:
			key[attr] = dynamo.B([]byte(value))
		default:
			r.bad = true
		}
	}
	if r.bad {
		return nil, fmt.Errorf("%q is not a position of a page", text)
	}
	return key, nil
}
