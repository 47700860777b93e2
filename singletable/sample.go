package singletable

import (
	"slices"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// sampleTime stands in every sample, so that a model exports the same bytes each time.
var sampleTime = time.Date(2026, 1, 2, 10, 30, 0, 123e6, time.UTC)

// sample makes up an item of the entity, with values that show what an attribute is. It is nil
// where one cannot be made up: a type of the program may accept only what the program knows.
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

// fillSample sets a field that may stand in a key. A field that refuses every sample stays empty.
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
