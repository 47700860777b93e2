package singletable

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// sortCond is the condition on a sort key.
type sortCond struct {
	op    condOp // opTrue for none; or opEqual, opBeginsWith, opWithin, opAtLeast, opAtMost, opLess
	a, b  dynamo.Value
	empty bool // no row matches
}

// sortCondition returns the condition on the sort key for the inputs at p.
func (c *patternCore) sortCondition(p unsafe.Pointer, e rangeEnds) (sortCond, error) {
	switch {
	case c.kind == kindCollection:
		return prefixCond([]byte(c.prefix)), nil
	case c.sort == nil:
		return sortCond{}, nil
	case c.sort.k.Native >= 0:
		return c.nativeCondition(p, e)
	}
	return c.textCondition(p, e)
}

func prefixCond(prefix []byte) sortCond {
	if len(prefix) == 0 {
		return sortCond{}
	}
	return sortCond{op: opBeginsWith, a: dynamo.S(string(prefix))}
}

// textCondition returns the condition on a sort key that is built by a template. The condition
// never matches keys outside the literal prefix of the entity's sort keys.
func (c *patternCore) textCondition(p unsafe.Pointer, e rangeEnds) (sortCond, error) {
	t := c.sort.k.Template
	var prefix []byte
	for i := range t.Parts {
		part := &t.Parts[i]
		if !part.IsField() {
			prefix = append(prefix, part.Literal...)
			continue
		}
		f := &t.Shape.Fields[part.Index]
		v := layout.Scalar{Missing: true}
		if c.sort.in[i] >= 0 {
			var err error
			if v, err = c.input(c.sort.in[i], p, f); err != nil {
				return sortCond{}, err
			}
		}
		if v.Missing {
			if err := c.laterInput(i, p); err != nil {
				return sortCond{}, err
			}
			if c.rng != nil && c.rng.inSort && part.Index == c.rng.field {
				return c.partRange(prefix, part, i == len(t.Parts)-1, p, e)
			}
			if c.rangeGiven(p, e) {
				return sortCond{}, &MissingInputError{Pattern: c.name, Input: part.Name}
			}
			return prefixCond(prefix), nil
		}
		var err error
		if prefix, err = part.AppendValue(prefix, v); err != nil {
			return sortCond{}, fmt.Errorf("pattern %s: %w", c.name, err)
		}
	}
	return sortCond{op: opEqual, a: dynamo.S(string(prefix))}, nil
}

// rangeGiven reports whether the inputs set a range of the sort key. A range is meaningless if a
// part before it is open.
func (c *patternCore) rangeGiven(p unsafe.Pointer, e rangeEnds) bool {
	if c.rng == nil || !c.rng.inSort {
		return false
	}
	if c.rng.prefixIn >= 0 {
		v, err := c.in.Fields[c.rng.prefixIn].Scalar(p)
		return err == nil && !v.Missing
	}
	return !e.from.Missing || !e.to.Missing
}

// laterInput refuses inputs that fix a part of the sort key after an open one.
func (c *patternCore) laterInput(open int, p unsafe.Pointer) error {
	for i := open + 1; i < len(c.sort.in); i++ {
		if c.sort.in[i] < 0 {
			continue
		}
		v, err := c.in.Fields[c.sort.in[i]].Scalar(p)
		if err != nil || v.Missing {
			continue
		}
		name := c.sort.k.Template.Parts[open].Name
		return &MissingInputError{Pattern: c.name, Input: name}
	}
	return nil
}

// partRange returns a range over one part of a sort key, from the smallest key of from to the
// largest key below to. The rest of the key after the part does not matter.
func (c *patternCore) partRange(
	prefix []byte, part *layout.Piece, last bool, p unsafe.Pointer, e rangeEnds,
) (sortCond, error) {
	if c.rng.prefix != "" {
		return c.partPrefix(prefix, part, p)
	}
	if e.from.Missing && e.to.Missing {
		return prefixCond(prefix), nil
	}
	low, high := e.from, e.to
	closed := c.rng.closed
	var err error
	if !low.Missing {
		low = part.AtLeast(low)
	}
	if !high.Missing && !closed && part.Format.Below != nil {
		high, closed = layout.MustBelow(part, high)
	}
	if part.Format.Order < 0 { // larger values have smaller texts
		low, high, closed = high, low, true
	}
	lowText, highText := string(prefix), string(prefix)+layout.MaxRune
	if !low.Missing {
		if lowText, err = part.Text(prefix, low); err != nil {
			return sortCond{}, fmt.Errorf("pattern %s: %w", c.name, err)
		}
		lowText = part.Loosely(prefix, lowText, low, layout.LayoutBare)
	}
	if !high.Missing {
		if highText, err = part.Text(prefix, high); err != nil {
			return sortCond{}, fmt.Errorf("pattern %s: %w", c.name, err)
		}
		if !c.rng.closed {
			highText = part.Loosely(prefix, highText, e.to, layout.LayoutSeconds)
		}
		switch {
		case !closed:
			highText = textBelow(highText)
		case !last:
			highText += layout.MaxRune
		}
	}
	if lowText == "" { // no key is empty, and the store refuses empty values even in comparisons
		return sortCond{op: opAtMost, a: dynamo.S(highText)}, nil
	}
	return sortCond{op: opWithin, a: dynamo.S(lowText), b: dynamo.S(highText),
		empty: lowText > highText}, nil
}

func (c *patternCore) partPrefix(
	prefix []byte, part *layout.Piece, p unsafe.Pointer,
) (sortCond, error) {
	v, err := c.in.Fields[c.rng.prefixIn].Scalar(p)
	if err != nil || v.Missing {
		return prefixCond(prefix), err
	}
	text := string(layout.AppendText(nil, v))
	if part.Format.Grain == 0 {
		out, err := part.AppendValue(prefix, layout.Scalar{Form: layout.FormText, Text: text})
		return prefixCond(out), err
	}
	return prefixCond(layout.AppendEscaped(prefix, text, "")), nil
}

// textBelow returns the largest upper end for keys below text. It is exact, because no part of a
// key begins with the largest rune.
func textBelow(text string) string {
	r, n := utf8.DecodeLastRuneInString(text)
	if n == 0 {
		return ""
	}
	head := text[:len(text)-n]
	switch {
	case r == 0:
		return head
	case r == 0xE000: // the previous runes are surrogates, which do not occur in text
		r = 0xD7FF
	default:
		r--
	}
	return head + string(r) + layout.MaxRune
}

// nativeCondition returns the condition on a sort key that is a field's own value.
func (c *patternCore) nativeCondition(p unsafe.Pointer, e rangeEnds) (sortCond, error) {
	k := c.sort.k
	f := &k.Template.Shape.Fields[k.Native]
	scratch := c.members[0].zero()
	if in := c.sort.in[0]; in >= 0 {
		v, err := c.input(in, p, f)
		if err != nil {
			return sortCond{}, err
		}
		if !v.Missing {
			val, err := f.FromScalar(v, scratch)
			return sortCond{op: opEqual, a: val}, err
		}
	}
	if c.rng == nil || !c.rng.inSort {
		return sortCond{}, nil
	}
	if c.rng.prefix != "" {
		v, err := c.in.Fields[c.rng.prefixIn].Scalar(p)
		if err != nil || v.Missing {
			return sortCond{}, err
		}
		return prefixCond(layout.AppendText(nil, v)), nil
	}
	out := sortCond{op: opWithin}
	var err error
	if !e.from.Missing {
		if out.a, err = f.FromScalar(f.RoundUp(e.from), scratch); err != nil {
			return out, err
		}
	}
	if !e.to.Missing {
		if out.b, err = c.nativeUpper(f, e.to, scratch); err != nil {
			return out, err
		}
	}
	switch {
	case e.from.Missing && e.to.Missing:
		return sortCond{}, nil
	case e.to.Missing:
		out.op = opAtLeast
	case e.from.Missing:
		out.op, out.a = opAtMost, out.b
	default:
		n, ok := canonical(out.a).Compare(canonical(out.b))
		out.empty = ok && n > 0
	}
	return out, nil
}

// nativeUpper returns the largest value below to, or to itself if the range includes it.
func (c *patternCore) nativeUpper(
	f *layout.Field, to layout.Scalar, scratch unsafe.Pointer,
) (dynamo.Value, error) {
	if !c.rng.closed && f.Form == layout.FormTime {
		to.Time = to.Time.Add(-1)
	}
	v, err := f.FromScalar(to, scratch)
	if err != nil || c.rng.closed || f.Form == layout.FormTime {
		return v, err
	}
	switch v.Kind() {
	case dynamo.KindN:
		text, err := numberBelow(v.N())
		return dynamo.CanonicalN(text), err
	case dynamo.KindS:
		return dynamo.S(textBelow(v.S())), nil
	}
	return v, fmt.Errorf("pattern %s: a half-open range of type %s", c.name, v.Kind())
}

// A Number has up to 38 significant digits, the last of which is at 1E-130 or higher.
const (
	digitsMax   = 38
	exponentMin = -130
)

// numberBelow returns the largest Number below a canonical one. Numbers have 38 digits, so the
// difference depends on the position of the first digit.
func numberBelow(text string) (string, error) {
	if text == "0" {
		return dynamo.CanonicalNumber(fmt.Sprintf("-1e%d", exponentMin))
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	first := len(whole) - 1 // exponent of the first significant digit
	if whole == "0" {
		first = -1 - (len(fraction) - len(strings.TrimLeft(fraction, "0")))
	}
	power := strings.Trim(strings.TrimPrefix(text, "-"), "0.") == "1"
	if power && !strings.HasPrefix(text, "-") {
		first-- // just below a power of ten there is one more digit
	}
	step, err := dynamo.CanonicalNumber(fmt.Sprintf("1e%d", max(first-(digitsMax-1), exponentMin)))
	if err != nil {
		return "", err
	}
	return dynamo.SubtractNumbers(text, step)
}
