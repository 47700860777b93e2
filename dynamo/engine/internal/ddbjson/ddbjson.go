// Package ddbjson encodes and decodes items as DynamoDB JSON, in which each value is an object that
// names its type. It is used for files; package wire has faster codecs for the protocol.
package ddbjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// depthMax is the maximum nesting. It is larger than that of an item, so that an item that is too
// deep is refused by the rule for items, with the error that clients expect.
const depthMax = 64

var errDepth = fmt.Errorf("nested more than %d deep", depthMax)

// AppendItem appends an item with its attributes sorted by name.
func AppendItem(dst []byte, item dynamo.Item) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(item)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, name)
		dst = append(dst, ':')
		dst = appendValue(dst, item[name])
	}
	return append(dst, '}')
}

func appendValue(dst []byte, v dynamo.Value) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, v.Kind().String())
	dst = append(dst, ':')
	switch v.Kind() {
	case dynamo.KindS:
		dst = appendText(dst, v.S())
	case dynamo.KindN:
		dst = appendText(dst, v.N())
	case dynamo.KindB:
		dst = appendBinary(dst, v.B())
	case dynamo.KindBOOL:
		dst = strconv.AppendBool(dst, v.Bool())
	case dynamo.KindL:
		dst = appendList(dst, v.L(), appendValue)
	case dynamo.KindM:
		dst = AppendItem(dst, v.M())
	case dynamo.KindSS:
		dst = appendList(dst, v.SS(), appendText)
	case dynamo.KindNS:
		dst = appendList(dst, v.NS(), appendText)
	case dynamo.KindBS:
		dst = appendList(dst, v.BS(), appendBinary)
	default:
		dst = append(dst, "true"...)
	}
	return append(dst, '}')
}

func appendList[E any](dst []byte, elems []E, one func([]byte, E) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, e)
	}
	return append(dst, ']')
}

func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // encoding a string cannot fail
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func appendBinary(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// Item decodes an item. The values are not validated; that is left to the code that stores them.
func Item(text []byte) (dynamo.Item, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	item, err := attributes(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return item, nil
}

// members calls f for each member of an object, after its name has been read.
func members(d *json.Decoder, f func(name string) error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%v is not an object", t)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, ok := name.(string)
		if !ok {
			return fmt.Errorf("%v is not a name", name)
		}
		if err := f(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	_, err = d.Token()
	return err
}

func attributes(d *json.Decoder, depth int) (dynamo.Item, error) {
	if depth > depthMax {
		return nil, errDepth
	}
	item := dynamo.Item{}
	err := members(d, func(name string) error {
		if _, twice := item[name]; twice {
			return errors.New("the attribute occurs twice")
		}
		v, err := value(d, depth)
		item[name] = v
		return err
	})
	return item, err
}

func value(d *json.Decoder, depth int) (v dynamo.Value, err error) {
	if depth > depthMax {
		return v, errDepth
	}
	err = members(d, func(name string) error {
		if !v.IsAbsent() {
			return errors.New("a value must have only one type")
		}
		v, err = typed(d, dynamo.KindOf(name), depth)
		return err
	})
	if err == nil && v.IsAbsent() {
		err = errors.New("a value must have a type")
	}
	return v, err
}

func typed(d *json.Decoder, kind dynamo.Kind, depth int) (v dynamo.Value, err error) {
	switch kind {
	case dynamo.KindS, dynamo.KindN:
		var s string
		if err = d.Decode(&s); kind == dynamo.KindS {
			return dynamo.S(s), err
		}
		return dynamo.N(s), err
	case dynamo.KindB:
		var b []byte
		err = d.Decode(&b)
		return dynamo.B(b), err
	case dynamo.KindBOOL, dynamo.KindNULL:
		var b bool
		if err = d.Decode(&b); kind == dynamo.KindBOOL {
			return dynamo.Bool(b), err
		}
		if err == nil && !b {
			err = errors.New("NULL is true")
		}
		return dynamo.Null(), err
	case dynamo.KindSS, dynamo.KindNS:
		var elems []string
		if err = d.Decode(&elems); kind == dynamo.KindSS {
			return dynamo.SS(elems...), err
		}
		return dynamo.NS(elems...), err
	case dynamo.KindBS:
		var elems [][]byte
		err = d.Decode(&elems)
		return dynamo.BS(elems...), err
	case dynamo.KindM:
		m, err := attributes(d, depth+1)
		return dynamo.M(m), err
	case dynamo.KindL:
		return list(d, depth+1)
	}
	return v, errors.New("unknown type")
}

func list(d *json.Decoder, depth int) (v dynamo.Value, err error) {
	t, err := d.Token()
	if err != nil {
		return v, err
	}
	if t != json.Delim('[') {
		return v, fmt.Errorf("%v is not a list", t)
	}
	var elems []dynamo.Value
	for d.More() {
		e, err := value(d, depth)
		if err != nil {
			return v, err
		}
		elems = append(elems, e)
	}
	_, err = d.Token()
	return dynamo.L(elems...), err
}
