package layout

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Template is the text of a key with fields as parts, bound to a struct type.
type Template struct {
	Text  string
	Shape *Shape
	Parts []Piece
}

// Piece is literal text, or a field in a format.
type Piece struct {
	Literal string
	Name    string // the name as written; "" for a literal
	Index   int    // index of the field in the shape, -1 if the shape has no field of that name
	form    string // format name and argument as written
	Arg     string
	Format  format
	Ring    *Ring
	Escape  string // bytes to escape in addition to the usual ones
}

// IsField reports whether the piece is a field, and not literal text.
func (p *Piece) IsField() bool { return p.Name != "" }

// Shown returns source, or "" for a suffix of a single shard, which makes no text.
func (p *Piece) Shown() string {
	if p.Ring != nil && p.Ring.suffix && p.Format.Few == 1 {
		return ""
	}
	return p.Source()
}

// Shown returns the template as its keys look.
func (t *Template) Shown() string {
	var b strings.Builder
	for i := range t.Parts {
		b.WriteString(t.Parts[i].Shown())
	}
	return b.String()
}

// Source returns the part as it is written.
func (p *Piece) Source() string {
	if !p.IsField() {
		return p.Literal
	}
	s := "<" + p.Name
	if p.form != "" {
		s += ":" + p.form
	}
	if p.Arg != "" {
		s += "(" + p.Arg + ")"
	}
	return s + ">"
}

// parseTemplate splits a template into unbound parts.
func parseTemplate(text string) ([]Piece, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("template %q is not valid UTF-8", text)
	}
	var parts []Piece
	rest := text
	for rest != "" {
		literal, tail, found := strings.Cut(rest, "<")
		if literal != "" {
			parts = append(parts, Piece{Literal: literal, Index: -1})
		}
		if !found {
			break
		}
		inside, after, closed := strings.Cut(tail, ">")
		if !closed || inside == "" {
			return nil, fmt.Errorf("template %q: a part is not closed, or empty", text)
		}
		p := Piece{Index: -1}
		p.Name, p.form, _ = strings.Cut(inside, ":")
		if name, arg, has := strings.Cut(p.form, "("); has {
			if !strings.HasSuffix(arg, ")") {
				return nil, fmt.Errorf("template %q: %q lacks a parenthesis", text, p.form)
			}
			p.form, p.Arg = name, strings.TrimSuffix(arg, ")")
		}
		if p.Name == "" {
			return nil, fmt.Errorf("template %q: a part names no field", text)
		}
		parts = append(parts, p)
		rest = after
	}
	return parts, nil
}

// newTemplate parses a template and binds it to a shape, all of whose fields it may name.
func newTemplate(text string, sh *Shape, rings []Ring) (*Template, []string) {
	parts, err := parseTemplate(text)
	if err != nil {
		return &Template{Text: text, Shape: sh}, []string{err.Error()}
	}
	t := &Template{Text: text, Shape: sh, Parts: parts}
	var bad []string
	for i := range t.Parts {
		p := &t.Parts[i]
		if !p.IsField() {
			continue
		}
		if err := p.bind(sh, rings); err != nil {
			bad = append(bad, fmt.Sprintf("template %q: part %s: %v", text, p.Source(), err))
		}
	}
	t.setEscapes()
	if len(bad) == 0 {
		bad = t.checkJoints()
	}
	return t, bad
}

func (p *Piece) bind(sh *Shape, rings []Ring) error {
	idx, ok := sh.Lookup(p.Name)
	if !ok {
		return fmt.Errorf("%s has no field or attribute %s", sh.Type, p.Name)
	}
	p.Index = idx
	f := &sh.Fields[idx]
	if f.Form == FormNone {
		return fmt.Errorf("a field of type %s cannot be part of a key", f.Type)
	}
	if p.form == "shard" || p.form == "shardSuffix" {
		r, err := newRing(p.Arg, rings, sh, p.form == "shardSuffix")
		p.Ring = r
		p.Format = format{Name: p.form}
		for _, e := range r.Epochs {
			p.Format.Few = max(p.Format.Few, e.Count)
		}
		return err
	}
	var err error
	p.Format, err = newFormat(p.form, p.Arg, f.Form)
	return err
}

// setEscapes makes each text part escape the first byte of the literal after it, so that keys can
// be parsed with any separator.
func (t *Template) setEscapes() {
	for i := range t.Parts {
		if i+1 < len(t.Parts) && !t.Parts[i+1].IsField() {
			if c := t.Parts[i+1].Literal[0]; c < utf8.RuneSelf && c != '%' && c != '#' {
				t.Parts[i].Escape = string(c)
			}
		}
	}
}

// checkJoints finds adjacent parts without a separator: <A><B> could be parsed in two ways, and two
// different items could have the same key.
func (t *Template) checkJoints() []string {
	var bad []string
	for i := 1; i < len(t.Parts); i++ {
		a, b := &t.Parts[i-1], &t.Parts[i]
		if a.IsField() && !b.IsField() && a.Format.width == 0 && !separates(a, b.Literal[0]) {
			bad = append(bad, fmt.Sprintf("template %q: %q after %s could be part of the value",
				t.Text, b.Literal[:1], a.Source()))
		}
		suffix := b.Ring != nil && b.Ring.suffix
		if a.IsField() && b.IsField() && a.Format.width == 0 && !suffix {
			bad = append(bad, fmt.Sprintf("template %q: nothing separates %s from %s",
				t.Text, a.Source(), b.Source()))
		}
	}
	return bad
}

// separates reports whether a byte can end a part of variable length. It must not occur in the
// Part's text: escaped letters would be unreadable, and signs and digits cannot be escaped.
func separates(p *Piece, c byte) bool {
	switch {
	case c >= utf8.RuneSelf || c == '%':
		return false
	case p.Format.Lossless && p.Format.Name != "text" && p.Format.Name != "plain":
		return !strings.ContainsRune("-.0123456789abcdef", rune(c))
	}
	return true
}

// Append formats the template for the struct at p. missing is the part whose field is empty, or -1.
func (t *Template) append(dst []byte, p unsafe.Pointer) (out []byte, missing int, err error) {
	for i := range t.Parts {
		var absent bool
		if dst, absent, err = t.appendPart(dst, &t.Parts[i], p); err != nil {
			return dst, -1, err
		}
		if absent {
			return dst, i, nil
		}
	}
	return dst, -1, nil
}

func (t *Template) appendPart(
	dst []byte, part *Piece, p unsafe.Pointer,
) (out []byte, missing bool, err error) {
	if !part.IsField() {
		return append(dst, part.Literal...), false, nil
	}
	f := &t.Shape.Fields[part.Index]
	v, err := f.Scalar(p)
	if err != nil || v.Missing {
		return dst, v.Missing, err
	}
	if part.Ring != nil {
		at, absent, err := part.Ring.timeOf(t.Shape, p)
		if err != nil || absent {
			return dst, absent, err
		}
		var buf [64]byte
		return part.Ring.append(dst, AppendText(buf[:0], v), at), false, nil
	}
	dst, err = part.Format.Append(dst, v, part.Escape)
	if err != nil {
		err = fmt.Errorf("%s: %w", part.Source(), err)
	}
	return dst, false, err
}

// parse splits a key and passes each part's text to use. It reports whether the template could have
// built the key.
func (t *Template) parse(key string, use func(p *Piece, text string) error) (bool, error) {
	rest := key
	for i := range t.Parts {
		p := &t.Parts[i]
		if !p.IsField() {
			tail, ok := strings.CutPrefix(rest, p.Literal)
			if !ok {
				return false, nil
			}
			rest = tail
			continue
		}
		n, ok := t.extent(i, rest)
		if !ok {
			return false, nil
		}
		if err := use(p, rest[:n]); err != nil {
			return false, err
		}
		rest = rest[n:]
	}
	return rest == "", nil
}

// extent returns the number of bytes of rest that belong to the i-th part.
func (t *Template) extent(i int, rest string) (int, bool) {
	p := &t.Parts[i]
	if p.Format.loose && (i+1 == len(t.Parts) || strings.HasPrefix(t.Parts[i+1].Literal, "#")) {
		n := strings.IndexByte(rest, '#')
		if n < 0 {
			n = len(rest)
		}
		return n, n > 0
	}
	if p.Format.width > 0 {
		return p.Format.width, len(rest) >= p.Format.width
	}
	if p.Ring != nil && p.Ring.suffix {
		if !strings.HasPrefix(rest, "#") {
			return 0, true
		}
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		return n, n > 1
	}
	n := len(rest)
	if i+1 < len(t.Parts) {
		end := "#"
		if next := &t.Parts[i+1]; !next.IsField() {
			end = next.Literal
		}
		if at := strings.Index(rest, end[:1]); at >= 0 {
			n = at
		} else if !t.Parts[i+1].IsField() {
			return 0, false
		}
	}
	// A value of variable length has no raw separator.
	return n, n > 0 && strings.IndexByte(rest[:n], '#') < 0
}

// Matches reports whether the template could have built a key.
func (t *Template) matches(key string) bool {
	ok, err := t.parse(key, func(p *Piece, text string) error {
		if p.Ring != nil || p.Format.parse == nil {
			return nil
		}
		_, err := p.Format.parse(text)
		return err
	})
	return ok && err == nil
}

// LiteralPrefix returns the literal text with which every key begins.
func (t *Template) LiteralPrefix() string {
	if len(t.Parts) > 0 && !t.Parts[0].IsField() {
		return t.Parts[0].Literal
	}
	return ""
}

// MaxLen returns the maximum length of a key, or 0 if there is no limit.
func (t *Template) MaxLen() int {
	n := 0
	for i := range t.Parts {
		p := &t.Parts[i]
		switch {
		case !p.IsField():
			n += len(p.Literal)
		case p.Ring != nil:
			n += 1 + len(fmt.Sprint(ShardsMax))
		case p.Format.max == 0:
			return 0
		default:
			n += p.Format.max
		}
	}
	return n
}
