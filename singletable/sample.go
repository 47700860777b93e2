package singletable

import (
	"slices"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
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
	for i := range c.shape.fields {
		c.fillSample(&c.shape.fields[i], p)
	}
	item, err := c.marshal(p)
	if err != nil {
		return nil
	}
	return item
}

// fillSample sets a field that can be part of a key. A field that refuses every sample value stays
// empty.
func (c *core) fillSample(f *field, p unsafe.Pointer) {
	if f.write == nil {
		return
	}
	var tries []scalar
	switch f.form {
	case formInt:
		tries = []scalar{{form: formInt, i: 1}}
	case formNumber:
		tries = []scalar{{form: formNumber, text: "12.5"}, {form: formNumber, text: "12"}}
	case formTime:
		tries = []scalar{{form: formTime, t: sampleTime}}
	case formBool:
		tries = []scalar{{form: formBool, b: true}}
	default:
		usual := []string{f.attr + "-1", "USD", "2026-01-02", "1"}
		for _, text := range slices.Concat(c.enums[f.attr], c.enums[f.goName], usual) {
			tries = append(tries, scalar{form: f.form, text: text})
		}
	}
	for _, s := range tries {
		if f.write(f.at(p), s) == nil {
			return
		}
	}
}
