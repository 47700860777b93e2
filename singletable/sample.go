package singletable

import (
	"slices"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// sampleTime is the time in every sample, so that the export of a model is always the same.
var sampleTime = time.Date(2026, 1, 2, 10, 30, 0, 123e6, time.UTC)

// sample returns a sample item of the entity, with values that illustrate its attributes. It is nil
// if none can be created, because a type of the program may accept only values that the program
// knows.
func (c *core) sample() dynamo.Item {
	if c.lookup || c.err() != nil {
		return nil
	}
	p := c.zero()
	for i := range c.shape.Fields {
		c.fillSample(&c.shape.Fields[i], p)
	}
	item, err := c.marshal(p)
	if err != nil {
		return nil
	}
	return item
}

// fillSample sets a field that can be part of a key. A field that refuses every sample value stays
// empty.
func (c *core) fillSample(f *layout.Field, p unsafe.Pointer) {
	if f.Write == nil {
		return
	}
	var tries []layout.Scalar
	switch f.Form {
	case layout.FormInt:
		tries = []layout.Scalar{{Form: layout.FormInt, Int: 1}}
	case layout.FormNumber:
		tries = []layout.Scalar{
			{Form: layout.FormNumber, Text: "12.5"},
			{Form: layout.FormNumber, Text: "12"},
		}
	case layout.FormTime:
		tries = []layout.Scalar{{Form: layout.FormTime, Time: sampleTime}}
	case layout.FormBool:
		tries = []layout.Scalar{{Form: layout.FormBool, Bool: true}}
	default:
		usual := []string{f.Attr + "-1", "USD", "2026-01-02", "1"}
		for _, text := range slices.Concat(c.enums[f.Attr], c.enums[f.GoName], usual) {
			tries = append(tries, layout.Scalar{Form: f.Form, Text: text})
		}
	}
	for _, s := range tries {
		if f.Write(f.At(p), s) == nil {
			return
		}
	}
}
