package partiql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// The service's messages about tables, indexes and keys.
const (
	messageNoTable      = "Requested resource not found"
	messageBackfilling  = "Cannot read from backfilling global secondary index: %s"
	messageConditionFor = "One or more parameter values were invalid: Condition parameter type does not match schema type"
	messageEmptyValue   = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s"
)

// keyAttribute is an attribute of a key.
type keyAttribute struct {
	name string
	kind dynamo.Kind
}

// check refuses a value that the attribute cannot have.
func (k keyAttribute) check(v dynamo.Value) error {
	if v.Kind() != k.kind {
		return dynamo.Invalid(messageConditionFor)
	}
	if v.Size() == 0 {
		word := "string"
		if k.kind == dynamo.KindB {
			word = "binary"
		}
		return dynamo.Invalid(fmt.Sprintf(messageEmptyValue, word, k.name))
	}
	return nil
}

// table is the part of a table's description that statements need.
type table struct {
	keys    []keyAttribute // the partition key first
	indexes []*index
}

// index is the part of an index's description that statements need.
type index struct {
	name       string
	hash, sort []keyAttribute
	local      bool
	ready      bool
	projected  map[string]bool // nil if it projects all attributes
}

// index returns the index with a name, or nil.
func (t *table) index(name string) *index {
	for _, ix := range t.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// holds reports whether an index projects an attribute. A nil index is the table, which has all.
func (ix *index) holds(name string) bool {
	return ix == nil || ix.projected == nil || ix.projected[name]
}

// size returns the size of the entry of an item.
func (ix *index) size(item dynamo.Item) int {
	if ix == nil || ix.projected == nil {
		return item.Size()
	}
	size := 0
	for name, v := range item {
		if ix.projected[name] {
			size += len(name) + v.Size()
		}
	}
	return size
}

// tables holds the descriptions that one call has read, so that a call with many statements on a
// table describes it once.
type tables struct {
	db    Store
	known []described
}

type described struct {
	name  string
	table *table
	err   error
}

// of returns the table with a name or an ARN. A table that is being created or deleted is reported
// as missing, as operations on items report it.
func (ts *tables) of(ctx context.Context, name string) (*table, error) {
	for i := range ts.known {
		if d := &ts.known[i]; d.name == name {
			return d.table, d.err
		}
	}
	d := described{name: name}
	description, err := ts.db.DescribeTable(ctx, name)
	var e *dynamo.Error
	switch {
	case err == nil && usable(description.TableStatus):
		d.table = tableOf(description)
	case err == nil, errors.As(err, &e) && e.Code == dynamo.CodeResourceNotFound:
		d.err = &dynamo.Error{Code: dynamo.CodeResourceNotFound, Message: messageNoTable}
	default:
		d.err = err
	}
	ts.known = append(ts.known, d)
	return d.table, d.err
}

func usable(s dynamo.TableStatus) bool {
	return s != dynamo.StatusCreating && s != dynamo.StatusDeleting
}

// tableOf returns the table of a description.
func tableOf(d *dynamo.TableDescription) *table {
	kinds := d.AttributeDefinitions
	hash, sort := keysOf(d.KeySchema, kinds)
	t := &table{keys: append(hash, sort...)}
	for _, x := range d.LocalSecondaryIndexes {
		ix := t.newIndex(x.IndexName, x.KeySchema, x.Projection, kinds)
		ix.local, ix.ready = true, true
		t.indexes = append(t.indexes, ix)
	}
	for _, x := range d.GlobalSecondaryIndexes {
		if x.IndexStatus == dynamo.StatusDeleting {
			continue // operations on items report it as missing
		}
		ix := t.newIndex(x.IndexName, x.KeySchema, x.Projection, kinds)
		ix.ready = x.IndexStatus != dynamo.StatusCreating
		t.indexes = append(t.indexes, ix)
	}
	return t
}

func (t *table) newIndex(name string, schema []dynamo.KeySchemaElement, p dynamo.Projection,
	kinds []dynamo.AttributeDefinition,
) *index {
	ix := &index{name: name}
	ix.hash, ix.sort = keysOf(schema, kinds)
	if p.ProjectionType == dynamo.ProjectAll {
		return ix
	}
	ix.projected = map[string]bool{}
	for _, k := range slices.Concat(t.keys, ix.hash, ix.sort) {
		ix.projected[k.name] = true
	}
	for _, name := range p.NonKeyAttributes {
		ix.projected[name] = true
	}
	return ix
}

func keysOf(schema []dynamo.KeySchemaElement, kinds []dynamo.AttributeDefinition) (
	hash, sort []keyAttribute,
) {
	for _, e := range schema {
		k := keyAttribute{name: e.AttributeName}
		for _, d := range kinds {
			if d.AttributeName == k.name {
				k.kind = d.AttributeType
			}
		}
		if e.KeyType == dynamo.KeyTypeHash {
			hash = append(hash, k)
		} else {
			sort = append(sort, k)
		}
	}
	return hash, sort
}

// bareName returns the name of a table that is given by its name or its ARN.
func bareName(name string) string {
	if i := strings.Index(name, ":table/"); i >= 0 && strings.HasPrefix(name, "arn:") {
		return name[i+len(":table/"):]
	}
	return name
}

// identity returns a text that only this key of the table has, or false if the key is invalid.
func (t *table) identity(key dynamo.Key) (string, bool) {
	var id []byte
	for _, k := range t.keys {
		v, err := expr.CheckValue(key[k.name])
		if err != nil || k.check(v) != nil {
			return "", false
		}
		id = appendValue(id, v)
	}
	return string(id), true
}
