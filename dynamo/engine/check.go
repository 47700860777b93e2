package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// Limits of the service ("Service, account, and table quotas" in the developer guide).
const (
	hashKeySizeMax       = 2048
	rangeKeySizeMax      = 1024
	attributeNameSizeMax = 65535
)

// The service's messages about items and keys. Programs compare them, so they are verbatim, with
// the service's own mistakes.
const (
	messageKeySchema   = "The provided key element does not match the schema"
	messageItemSize    = "Item size has exceeded the maximum allowed size"
	messageUpdateSize  = "Item size to update has exceeded the maximum allowed size"
	messageHashSize    = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
	messageRangeSize   = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	messageEmptyName   = "One or more parameter values were invalid: Empty attribute name"
	messageNameSize    = "One or more parameter values were invalid: Attribute name is too large, must be less than 65536 bytes"
	messageEmptyKey    = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s"
	messageEmptyIndex  = "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s"
	messageMissingKey  = "One or more parameter values were invalid: Missing the key %s in the item"
	messageKeyType     = "One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s"
	messageIndexType   = "One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s"
	messageUpdateType  = "The update expression attempted to update the secondary index key to unsupported type"
	messageUpdateLong  = "The update expression attempted to update the secondary index key beyond allowed size limits"
	messageUpdateEmpty = "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty %s value."
	messageKeyInUpdate = "One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key"
	messageNoTable     = "Requested resource not found"
)

// keyRefusal is the reason why a key is invalid. If cancels is set, a transaction is cancelled with
// this reason for the action; otherwise the whole request is refused.
type keyRefusal struct {
	err     *dynamo.Error
	cancels bool
}

func refuse(cancels bool, format string, args ...any) *keyRefusal {
	return &keyRefusal{err: dynamo.Invalid(fmt.Sprintf(format, args...)), cancels: cancels}
}

// checkNamed refuses a name that no table can have. The service reports an invalid name before all
// other validation errors, and alone.
func (db *DB) checkNamed(name string) error {
	if db.tables[name] != nil {
		return nil
	}
	return checkTableName(bareName(name), 1)
}

// bareName returns the name of a table that is given by its name or its ARN.
func bareName(name string) string {
	if i := strings.Index(name, ":table/"); i >= 0 && strings.HasPrefix(name, "arn:") {
		return name[i+len(":table/"):]
	}
	return name
}

// tableOf returns the table with a name or an ARN. A table that is still being created is reported
// as missing, as the service does.
func (db *DB) tableOf(name string) (*table, error) {
	name = bareName(name)
	if t := db.tables[name]; t != nil {
		if db.opts.TableDelay > 0 && db.phases.in(t, dynamo.StatusCreating) {
			return nil, &dynamo.Error{Code: dynamo.CodeResourceNotFound, Message: messageNoTable}
		}
		return t, nil
	}
	if err := checkTableName(name, 1); err != nil {
		return nil, err
	}
	return nil, &dynamo.Error{Code: dynamo.CodeResourceNotFound, Message: messageNoTable}
}

// checkItem validates the item of a Put. It returns the item with canonical values, and its size.
// The item is copied only if a value had to be changed, because the caller owns it.
func checkItem(item dynamo.Item) (dynamo.Item, int, error) {
	size := 0
	copied := false
	for name, v := range item {
		if err := checkName(name); err != nil {
			return nil, 0, err
		}
		if !v.Checked() {
			c, err := expr.CheckValue(v)
			if err != nil {
				return nil, 0, err
			}
			if !copied {
				item, copied = item.Clone(), true
			}
			item[name], v = c, c
		}
		size += len(name) + v.Size()
	}
	if size > dynamo.ItemSizeMax {
		return nil, 0, dynamo.Invalid(messageItemSize)
	}
	return item, size, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return dynamo.Invalid(messageEmptyName)
	case len(name) > attributeNameSizeMax:
		return dynamo.Invalid(messageNameSize)
	}
	return nil
}

// checkItemKey validates the key attributes of a whole item.
func (t *table) checkItemKey(item dynamo.Item) *keyRefusal {
	for i, k := range t.keys {
		v, ok := item[k.name]
		if !ok {
			return refuse(true, messageMissingKey, k.name)
		}
		if v.Kind() != k.kind {
			return refuse(true, messageKeyType, k.name, k.kind, v.Kind())
		}
		if r := checkKeyValue(k, v, i == 0); r != nil {
			return r
		}
	}
	return nil
}

// checkKey validates the key of a call on one item and returns it with canonical values.
func (t *table) checkKey(key dynamo.Key) (dynamo.Key, *keyRefusal) {
	if len(key) != len(t.keys) {
		return nil, refuse(true, messageKeySchema)
	}
	for i, k := range t.keys {
		v, ok := key[k.name]
		if !ok || v.Kind() != k.kind {
			return nil, refuse(true, messageKeySchema)
		}
		if !v.Checked() {
			c, err := expr.CheckValue(v)
			if err != nil {
				return nil, refusalOf(err)
			}
			key = key.Clone()
			key[k.name], v = c, c
		}
		if r := checkKeyValue(k, v, i == 0); r != nil {
			return nil, r
		}
	}
	return key, nil
}

func refusalOf(err error) *keyRefusal {
	if e, ok := err.(*dynamo.Error); ok {
		return &keyRefusal{err: e}
	}
	return refuse(false, "%s", err.Error())
}

// checkKeyValue checks the size of a value of the table's key.
func checkKeyValue(k keyAttribute, v dynamo.Value, hash bool) *keyRefusal {
	size := v.Size()
	switch {
	case size == 0:
		return refuse(false, messageEmptyKey, typeWord(k.kind), k.name)
	case hash && size > hashKeySizeMax:
		return refuse(true, messageHashSize)
	case !hash && size > rangeKeySizeMax:
		return refuse(true, messageRangeSize)
	}
	return nil
}

func typeWord(k dynamo.Kind) string {
	if k == dynamo.KindB {
		return "binary"
	}
	return "string"
}

// checkIndexKeys refuses an item with an attribute that cannot be the key of one of the table's
// indexes. A missing attribute is valid: the item is then not in the index.
func (t *table) checkIndexKeys(item dynamo.Item) *keyRefusal {
	for _, ix := range t.indexes {
		for _, k := range ix.hash {
			if r := ix.checkIndexKey(k, item, true); r != nil {
				return r
			}
		}
		for _, k := range ix.sort {
			if r := ix.checkIndexKey(k, item, false); r != nil {
				return r
			}
		}
	}
	return nil
}

// checkIndexKey checks the value of an attribute that is in the key of an index. An item without
// the attribute is valid; it is only not in the index.
func (ix *index) checkIndexKey(k keyAttribute, item dynamo.Item, hash bool) *keyRefusal {
	v, ok := item[k.name]
	if !ok {
		return nil
	}
	size := v.Size()
	switch {
	case v.Kind() != k.kind:
		return refuse(true, messageIndexType, k.name, k.kind, v.Kind(), ix.Name)
	case size == 0:
		return refuse(false, messageEmptyIndex, typeWord(k.kind), ix.Name, k.name)
	case hash && size > hashKeySizeMax:
		return refuse(true, messageHashSize)
	case !hash && size > rangeKeySizeMax:
		return refuse(true, messageRangeSize)
	}
	return nil
}

// checkUpdated refuses an update that sets an index key attribute to an invalid value. Attributes
// that the update does not change are not checked, because they may be older than the index.
func (a *action) checkUpdated(next expr.Document) *keyRefusal {
	u := a.exprs.Update
	if u == nil {
		return nil
	}
	check := func(keys []keyAttribute, sizeMax int) *keyRefusal {
		for _, k := range keys {
			if !u.Changes(k.name) {
				continue
			}
			v, ok := next.Attribute(k.name)
			if !ok {
				continue
			}
			switch size := v.Size(); {
			case v.Kind() != k.kind:
				return refuse(true, messageUpdateType)
			case size == 0:
				return refuse(false, messageUpdateEmpty, typeWord(k.kind))
			case size > sizeMax:
				return refuse(true, messageUpdateLong)
			}
		}
		return nil
	}
	for _, ix := range a.table.indexes {
		if r := check(ix.hash, hashKeySizeMax); r != nil {
			return r
		}
		if r := check(ix.sort, rangeKeySizeMax); r != nil {
			return r
		}
	}
	return nil
}

// appendKeyValue appends a key attribute in a form that sorts as the service sorts its values.
func appendKeyValue(dst []byte, v dynamo.Value) []byte {
	switch v.Kind() {
	case dynamo.KindS:
		return append(dst, v.S()...)
	case dynamo.KindB:
		return append(dst, v.B()...)
	default:
		return dynamo.AppendOrderedNumber(dst, v.N())
	}
}

// appendEndedKeyValue appends a key attribute so that another value can follow. The end sorts
// before every continuation, so that the order stays that of the attribute.
func appendEndedKeyValue(dst []byte, v dynamo.Value) []byte {
	if v.Kind() == dynamo.KindN {
		return dynamo.AppendOrderedNumber(dst, v.N()) // numbers end by themselves
	}
	start := len(dst)
	dst = appendKeyValue(dst, v)
	if bytes.IndexByte(dst[start:], 0) < 0 {
		return append(dst, 0, 1) // the end of a value without zero bytes, as nearly all are
	}
	return keyspace.AppendEnded(dst[:start], bytes.Clone(dst[start:]))
}

// cutKeyValue decodes a value that appendKeyValue wrote at the end of a row key.
func cutKeyValue(kind dynamo.Kind, b []byte) (dynamo.Value, error) {
	switch kind {
	case dynamo.KindS:
		return dynamo.S(string(b)), nil
	case dynamo.KindB:
		return dynamo.B(append([]byte(nil), b...)), nil
	}
	text, _, err := dynamo.DecodeOrderedNumber(b)
	if err != nil {
		return dynamo.Value{}, err
	}
	return dynamo.CanonicalN(text), nil
}

// itemKey returns the row key of an item from its key attributes, which are already validated.
func (db *DB) itemKey(t *table, item dynamo.Item) []byte {
	var partition, sort dynamo.Value
	partition = item[t.keys[0].name]
	if len(t.keys) > 1 {
		sort = item[t.keys[1].name]
	}
	// The encoding of a number is at most two bytes longer than its size.
	size := len(t.prefix) + keyspace.PartitionHeader + partition.Size() + sort.Size() + 4
	key := append(make([]byte, 0, size), t.prefix...)
	key = append(key, make([]byte, keyspace.PartitionHeader)...)
	key = appendKeyValue(key, partition)
	keyspace.FillPartition(key[len(t.prefix):], db.hash)
	if len(t.keys) > 1 {
		key = appendKeyValue(key, sort)
	}
	return key
}

// keyOf decodes the key attributes of an item from its row key.
func (t *table) keyOf(itemKey []byte) (dynamo.Key, error) {
	partition, sort, ok := keyspace.CutSized(keyspace.ItemPart(itemKey)[8:])
	if !ok {
		return nil, errCorruptKey
	}
	key := make(dynamo.Key, len(t.keys))
	v, err := cutKeyValue(t.keys[0].kind, partition)
	if err != nil {
		return nil, err
	}
	key[t.keys[0].name] = v
	if len(t.keys) > 1 {
		if v, err = cutKeyValue(t.keys[1].kind, sort); err != nil {
			return nil, err
		}
		key[t.keys[1].name] = v
	}
	return key, nil
}
