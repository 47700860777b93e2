package layout

import (
	"fmt"
	"time"
)

// AppendValue formats a scalar for a part. Shards have no value of their own.
func (p *Piece) AppendValue(dst []byte, v Scalar) ([]byte, error) {
	if p.Ring != nil {
		return dst, fmt.Errorf("%s cannot be fixed by an input", p.Source())
	}
	dst, err := p.Format.Append(dst, v, p.Escape)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.Source(), err)
	}
	return dst, err
}

// Loosely widens an end of a range with whole seconds so that it includes the forms that other
// programs write of its instants, and nothing else: 10:00:00 without a zone sorts before
// 10:00:00.000Z, and 09:59:59Z, in the second before the end, sorts after 09:59:59.999Z.
func (p *Piece) Loosely(prefix []byte, text string, end Scalar, layout string) string {
	t, err := end.Instant()
	if !p.Format.loose || err != nil || t.Nanosecond() != 0 {
		return text
	}
	if layout == LayoutSeconds {
		t = t.Add(-time.Second)
		if checkYear(t) != nil {
			return text
		}
	}
	return string(t.UTC().AppendFormat(append([]byte(nil), prefix...), layout))
}

// MustBelow returns the largest value below v. If there is none, it returns v, which with an open
// End makes the range empty.
func MustBelow(p *Piece, v Scalar) (Scalar, bool) {
	if w, ok := p.Format.Below(v); ok {
		return w, true
	}
	return v, false
}

// Text returns the text of a value after a prefix.
func (p *Piece) Text(prefix []byte, v Scalar) (string, error) {
	out, err := p.AppendValue(append([]byte(nil), prefix...), v)
	return string(out), err
}

// AtLeast rounds a lower end up to the precision of the part's format, unless rows are also
// filtered by the attribute because the format is less precise than it.
func (p *Piece) AtLeast(v Scalar) Scalar {
	g := p.Format.Grain
	if g == 0 || g > GrainMilli {
		return v
	}
	t, err := v.Instant()
	if err != nil || t.Equal(g.Truncate(t)) {
		return v
	}
	return Scalar{Form: FormTime, Time: g.Next(t)}
}

// StoredGrain returns the unit of a stored time field.
func (f *Field) StoredGrain() Grain {
	switch {
	case f.Form != FormTime:
		return GrainNone
	case f.Options.day:
		return GrainDay
	case f.Options.seconds, f.Options.UnixTime:
		return grainSecond
	}
	return GrainMilli
}

// RoundUp returns the next time that the field can store, for a time between two of them.
func (f *Field) RoundUp(v Scalar) Scalar {
	g := f.StoredGrain()
	if g == GrainNone || v.Time.Equal(g.Truncate(v.Time)) {
		return v
	}
	return Scalar{Form: FormTime, Time: g.Next(v.Time)}
}
