package engine

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

// descriptor is the stored description of a table. Fields may only be added.
type descriptor struct {
	ID                 uint32
	Name               string
	UUID               string
	Created            time.Time
	Attributes         []dynamo.AttributeDefinition
	Key                []dynamo.KeySchemaElement
	Indexes            []indexDescriptor
	NextIndex          uint32
	Billing            dynamo.BillingMode
	Throughput         dynamo.ProvisionedThroughput
	DeletionProtection bool
	TTL                string    `json:",omitempty"`
	TTLChanged         time.Time `json:",omitzero"`
	// TTLReady is false until every item that is older than the expiry setting has its expiry row.
	TTLReady bool
	Tags     []dynamo.Tag               `json:",omitempty"`
	OnDemand *dynamo.OnDemandThroughput `json:",omitempty"`
	Class    dynamo.TableClass          `json:",omitempty"`
	// Stream is the enabled stream of the table, LatestStream the newest one, enabled or not; 0 if
	// there is none.
	Stream       uint32 `json:",omitempty"`
	LatestStream uint32 `json:",omitempty"`
	// Counts holds the counters as of a clean Close. It is nil while the table can change.
	Counts *counts `json:",omitempty"`
}

// indexDescriptor is the stored description of an index.
type indexDescriptor struct {
	ID         uint32
	Name       string
	Local      bool
	Key        []dynamo.KeySchemaElement
	Projection dynamo.Projection
	Throughput dynamo.ProvisionedThroughput
	OnDemand   *dynamo.OnDemandThroughput `json:",omitempty"`
	Status     dynamo.TableStatus
}

// counts are the size of a table as DescribeTable reports it.
type counts struct{ Items, Bytes int64 }

// table is a table in use: its descriptor and data derived from it. Except for the counters it
// changes only under the exclusive schema lock.
type table struct {
	descriptor
	keys    []keyAttribute // partition key, then the sort key if the table has one
	indexes []*index       // the indexes that writes maintain
	prefix  []byte         // prefix of its items
	stream  *stream        // nil if it is disabled
	phase   phase

	items, bytes atomic.Int64
	counted      atomic.Bool
}

// keyAttribute is the name and type of a key attribute.
type keyAttribute struct {
	name string
	kind dynamo.Kind
}

// index is an index in use. Its rows refer to their items, or hold the projected attributes if only
// some are projected: see the decision on index rows in docs/decisions.
type index struct {
	indexDescriptor
	hash, sort []keyAttribute
	prefix     []byte
	include    map[string]bool // projected attributes, including keys; nil for all
}

// newTable returns the table of a stored descriptor.
func newTable(d descriptor) *table {
	t := &table{descriptor: d, prefix: keyspace.Items(d.ID)}
	t.keys = t.keyAttributes(d.Key)
	for _, id := range d.Indexes {
		t.indexes = append(t.indexes, t.newIndex(id))
	}
	if d.Counts != nil {
		t.items.Store(d.Counts.Items)
		t.bytes.Store(d.Counts.Bytes)
		t.counted.Store(true)
	}
	return t
}

func (t *table) keyAttributes(schema []dynamo.KeySchemaElement) []keyAttribute {
	keys := make([]keyAttribute, len(schema))
	for i, e := range schema {
		keys[i] = keyAttribute{name: e.AttributeName, kind: t.attributeType(e.AttributeName)}
	}
	return keys
}

func (t *table) attributeType(name string) dynamo.Kind {
	for _, a := range t.Attributes {
		if a.AttributeName == name {
			return a.AttributeType
		}
	}
	return dynamo.Absent
}

// newIndex returns an index with its key attributes and, unless it projects all, the set of its
// attributes. The keys of the table are always projected.
func (t *table) newIndex(d indexDescriptor) *index {
	ix := &index{indexDescriptor: d, prefix: keyspace.Index(t.ID, d.ID, d.Local)}
	for i, k := range t.keyAttributes(d.Key) {
		if d.Key[i].KeyType == dynamo.KeyTypeHash {
			ix.hash = append(ix.hash, k)
		} else {
			ix.sort = append(ix.sort, k)
		}
	}
	if d.Projection.ProjectionType != dynamo.ProjectAll {
		ix.include = map[string]bool{}
		for _, k := range t.keys {
			ix.include[k.name] = true
		}
		for _, e := range d.Key {
			ix.include[e.AttributeName] = true
		}
		for _, name := range d.Projection.NonKeyAttributes {
			ix.include[name] = true
		}
	}
	return ix
}

func (t *table) partitionKey() keyAttribute { return t.keys[0] }

func (t *table) index(name string) *index {
	for _, ix := range t.indexes {
		if ix.Name == name {
			return ix
		}
	}
	return nil
}

func (t *table) hasLocal() bool {
	for _, ix := range t.indexes {
		if ix.Local {
			return true
		}
	}
	return false
}

// ready reports whether the index can be read.
func (ix *index) ready() bool { return ix.Status == dynamo.StatusActive }

func (ix *index) keyAttributes() []keyAttribute {
	return append(append([]keyAttribute(nil), ix.hash...), ix.sort...)
}

// count adds the changes of a write to the table's counters.
func (t *table) count(items, bytes int64) {
	if items != 0 {
		t.items.Add(items)
	}
	if bytes != 0 {
		t.bytes.Add(bytes)
	}
}

const tablePrefix = "table/"

func (c *catalog) saveTable(d descriptor) (key, value []byte, err error) {
	value, err = json.Marshal(d)
	if err != nil {
		return nil, nil, fmt.Errorf("describe table %s: %w", d.Name, err)
	}
	return keyspace.Meta(tablePrefix + d.Name), value, nil
}

// loadTables reads the descriptors of all tables when the database opens.
func (c *catalog) loadTables() error {
	prefix := keyspace.Meta(tablePrefix)
	return c.db.eachRow(c.db.store, prefix, keyspace.After(prefix), func(it *pebble.Iterator) (
		bool, error,
	) {
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		var d descriptor
		if err := json.Unmarshal(raw, &d); err != nil {
			return false, fmt.Errorf("read the description of a table: %w", err)
		}
		c.db.tables[d.Name] = newTable(d)
		c.db.nextID = max(c.db.nextID, d.ID+1)
		return true, nil
	})
}
