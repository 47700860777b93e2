package singletable

import (
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// expressions assigns the placeholders of one call. Calls of the same shape have the same text, so
// that a store can cache the parsed expressions.
type expressions struct {
	known  map[string]string // an entity's placeholders, created once
	names  map[string]string
	values map[string]dynamo.Value
	order  []string // the value placeholders in the order of their creation
}

// placeholder returns the name placeholder of an attribute: its name, if the name is valid in one.
// All names are replaced by placeholders, because any of them may become a reserved word.
func placeholder(attr string) string { return "#" + safeName(attr) }

// safeName keeps letters and digits of a name and encodes other bytes as hexadecimal.
func safeName(attr string) string {
	safe := true
	for i := range len(attr) {
		safe = safe && isWordByte(attr[i])
	}
	if safe {
		return attr
	}
	var b strings.Builder
	for i := range len(attr) {
		if c := attr[i]; isWordByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("_" + strconv.FormatInt(int64(c), 16))
		}
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// name returns the placeholder of an attribute.
func (x *expressions) name(attr string) string {
	ph, ok := x.known[attr]
	if !ok {
		ph = placeholder(attr)
	}
	if x.names == nil {
		x.names = make(map[string]string, 4)
	}
	for {
		have, taken := x.names[ph]
		if !taken {
			x.names[ph] = attr
			return ph
		}
		if have == attr {
			return ph
		}
		ph += "_" // names that differ only in characters that placeholders do not allow
	}
}

// value returns a placeholder for a value of an attribute.
func (x *expressions) value(attr string, v dynamo.Value) string {
	if x.values == nil {
		x.values = make(map[string]dynamo.Value, 4)
	}
	var ph string
	if known, ok := x.known[attr]; ok {
		ph = ":" + known[1:]
	} else {
		ph = ":" + safeName(attr)
	}
	base := ph
	for n := 2; ; n++ {
		if _, taken := x.values[ph]; !taken {
			x.values[ph] = v
			x.order = append(x.order, ph)
			return ph
		}
		ph = base + "_" + strconv.Itoa(n)
	}
}

// condition renders a condition; nil means no condition.
func (x *expressions) condition(c *cond) string {
	if c == nil || c.op == opTrue {
		return ""
	}
	var b strings.Builder
	c.render(&b, x)
	return b.String()
}

// placeholders returns the names and values of the call.
func (x *expressions) placeholders() dynamo.Expressions {
	return dynamo.Expressions{
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}
}
