package singletable

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
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
	case c.sort.k.native >= 0:
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
	t := c.sort.k.t
	var prefix []byte
	for i := range t.parts {
		part := &t.parts[i]
		if !part.isField() {
			prefix = append(prefix, part.literal...)
			continue
		}
		f := &t.sh.fields[part.idx]
		v := scalar{missing: true}
		if c.sort.in[i] >= 0 {
			var err error
			if v, err = c.input(c.sort.in[i], p, f); err != nil {
				return sortCond{}, err
			}
		}
		if v.missing {
			if err := c.laterInput(i, p); err != nil {
				return sortCond{}, err
			}
			if c.rng != nil && c.rng.inSort && part.idx == c.rng.field {
				return c.partRange(prefix, part, i == len(t.parts)-1, p, e)
			}
			if c.rangeGiven(p, e) {
				return sortCond{}, &MissingInputError{Pattern: c.name, Input: part.field}
			}
			return prefixCond(prefix), nil
		}
		var err error
		if prefix, err = part.appendValue(prefix, v); err != nil {
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
		v, err := c.in.fields[c.rng.prefixIn].scalar(p)
		return err == nil && !v.missing
	}
	return !e.from.missing || !e.to.missing
}

// laterInput refuses inputs that fix a part of the sort key after an open one.
func (c *patternCore) laterInput(open int, p unsafe.Pointer) error {
	for i := open + 1; i < len(c.sort.in); i++ {
		if c.sort.in[i] < 0 {
			continue
		}
		v, err := c.in.fields[c.sort.in[i]].scalar(p)
		if err != nil || v.missing {
			continue
		}
		name := c.sort.k.t.parts[open].field
		return &MissingInputError{Pattern: c.name, Input: name}
	}
	return nil
}

// appendValue formats a scalar for a part. Shards have no value of their own.
func (p *part) appendValue(dst []byte, v scalar) ([]byte, error) {
	if p.ring != nil {
		return dst, fmt.Errorf("%s cannot be fixed by an input", p.source())
	}
	dst, err := p.format.append(dst, v, p.escape)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.source(), err)
	}
	return dst, err
}

// partRange returns a range over one part of a sort key, from the smallest key of from to the
// largest key below to. The rest of the key after the part does not matter.
func (c *patternCore) partRange(
	prefix []byte, part *part, last bool, p unsafe.Pointer, e rangeEnds,
) (sortCond, error) {
	if c.rng.prefix != "" {
		return c.partPrefix(prefix, part, p)
	}
	if e.from.missing && e.to.missing {
		return prefixCond(prefix), nil
	}
	low, high := e.from, e.to
	closed := c.rng.closed
	var err error
	if !low.missing {
		low = part.atLeast(low)
	}
	if !high.missing && !closed && part.format.below != nil {
		high, closed = mustBelow(part, high)
	}
	if part.format.order < 0 { // larger values have smaller texts
		low, high, closed = high, low, true
	}
	lowText, highText := string(prefix), string(prefix)+maxRune
	if !low.missing {
		if lowText, err = part.text(prefix, low); err != nil {
			return sortCond{}, fmt.Errorf("pattern %s: %w", c.name, err)
		}
		lowText = part.loosely(prefix, lowText, low, layoutBare)
	}
	if !high.missing {
		if highText, err = part.text(prefix, high); err != nil {
			return sortCond{}, fmt.Errorf("pattern %s: %w", c.name, err)
		}
		if !c.rng.closed {
			highText = part.loosely(prefix, highText, e.to, layoutSeconds)
		}
		switch {
		case !closed:
			highText = textBelow(highText)
		case !last:
			highText += maxRune
		}
	}
	if lowText == "" { // no key is empty, and the store refuses empty values even in comparisons
		return sortCond{op: opAtMost, a: dynamo.S(highText)}, nil
	}
	return sortCond{op: opWithin, a: dynamo.S(lowText), b: dynamo.S(highText),
		empty: lowText > highText}, nil
}

// loosely widens an end of a range with whole seconds so that it includes the forms that other
// programs write of its instants, and nothing else: 10:00:00 without a zone sorts before
// 10:00:00.000Z, and 09:59:59Z, in the second before the end, sorts after 09:59:59.999Z.
func (p *part) loosely(prefix []byte, text string, end scalar, layout string) string {
	t, err := end.instant()
	if !p.format.loose || err != nil || t.Nanosecond() != 0 {
		return text
	}
	if layout == layoutSeconds {
		t = t.Add(-time.Second)
		if checkYear(t) != nil {
			return text
		}
	}
	return string(t.UTC().AppendFormat(append([]byte(nil), prefix...), layout))
}

// mustBelow returns the largest value below v. If there is none, it returns v, which with an open
// end makes the range empty.
func mustBelow(p *part, v scalar) (scalar, bool) {
	if w, ok := p.format.below(v); ok {
		return w, true
	}
	return v, false
}

func (p *part) text(prefix []byte, v scalar) (string, error) {
	out, err := p.appendValue(append([]byte(nil), prefix...), v)
	return string(out), err
}

// atLeast rounds a lower end up to the precision of the part's format, unless rows are also
// filtered by the attribute because the format is less precise than it.
func (p *part) atLeast(v scalar) scalar {
	g := p.format.grain
	if g == 0 || g > grainMilli {
		return v
	}
	t, err := v.instant()
	if err != nil || t.Equal(g.truncate(t)) {
		return v
	}
	return scalar{form: formTime, t: g.next(t)}
}

func (c *patternCore) partPrefix(
	prefix []byte, part *part, p unsafe.Pointer,
) (sortCond, error) {
	v, err := c.in.fields[c.rng.prefixIn].scalar(p)
	if err != nil || v.missing {
		return prefixCond(prefix), err
	}
	text := string(appendScalar(nil, v))
	if part.format.grain == 0 {
		out, err := part.appendValue(prefix, scalar{form: formText, text: text})
		return prefixCond(out), err
	}
	return prefixCond(appendEscaped(prefix, text, "")), nil
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
	return head + string(r) + maxRune
}

// nativeCondition returns the condition on a sort key that is a field's own value.
func (c *patternCore) nativeCondition(p unsafe.Pointer, e rangeEnds) (sortCond, error) {
	k := c.sort.k
	f := &k.t.sh.fields[k.native]
	scratch := c.members[0].zero()
	if in := c.sort.in[0]; in >= 0 {
		v, err := c.input(in, p, f)
		if err != nil {
			return sortCond{}, err
		}
		if !v.missing {
			val, err := f.fromScalar(v, scratch)
			return sortCond{op: opEqual, a: val}, err
		}
	}
	if c.rng == nil || !c.rng.inSort {
		return sortCond{}, nil
	}
	if c.rng.prefix != "" {
		v, err := c.in.fields[c.rng.prefixIn].scalar(p)
		if err != nil || v.missing {
			return sortCond{}, err
		}
		return prefixCond(appendScalar(nil, v)), nil
	}
	out := sortCond{op: opWithin}
	var err error
	if !e.from.missing {
		if out.a, err = f.fromScalar(f.roundUp(e.from), scratch); err != nil {
			return out, err
		}
	}
	if !e.to.missing {
		if out.b, err = c.nativeUpper(f, e.to, scratch); err != nil {
			return out, err
		}
	}
	switch {
	case e.from.missing && e.to.missing:
		return sortCond{}, nil
	case e.to.missing:
		out.op = opAtLeast
	case e.from.missing:
		out.op, out.a = opAtMost, out.b
	default:
		n, ok := canonical(out.a).Compare(canonical(out.b))
		out.empty = ok && n > 0
	}
	return out, nil
}

// storedGrain returns the unit of a stored time field.
func (f *field) storedGrain() grain {
	switch {
	case f.form != formTime:
		return grainNone
	case f.opts.day:
		return grainDay
	case f.opts.seconds, f.opts.unixTime:
		return grainSecond
	}
	return grainMilli
}

func (f *field) roundUp(v scalar) scalar {
	g := f.storedGrain()
	if g == grainNone || v.t.Equal(g.truncate(v.t)) {
		return v
	}
	return scalar{form: formTime, t: g.next(v.t)}
}

// nativeUpper returns the largest value below to, or to itself if the range includes it.
func (c *patternCore) nativeUpper(
	f *field, to scalar, scratch unsafe.Pointer,
) (dynamo.Value, error) {
	if !c.rng.closed && f.form == formTime {
		to.t = to.t.Add(-1)
	}
	v, err := f.fromScalar(to, scratch)
	if err != nil || c.rng.closed || f.form == formTime {
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
