package singletable

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// template is the text of a key with fields as parts, bound to a struct type.
type template struct {
	text  string
	sh    *shape
	parts []part
}

// part is literal text, or a field in a format.
type part struct {
	literal string
	field   string // the name as written; "" for a literal
	idx     int    // index of the field in the shape, -1 if the shape has no field of that name
	form    string // format name and argument as written
	arg     string
	format  format
	ring    *ring
	escape  string // bytes to escape in addition to the usual ones
}

func (p *part) isField() bool { return p.field != "" }

// shown returns source, or "" for a suffix of a single shard, which makes no text.
func (p *part) shown() string {
	if p.ring != nil && p.ring.suffix && p.format.few == 1 {
		return ""
	}
	return p.source()
}

// shown returns the template as its keys look.
func (t *template) shown() string {
	var b strings.Builder
	for i := range t.parts {
		b.WriteString(t.parts[i].shown())
	}
	return b.String()
}

// source returns the part as it is written.
func (p *part) source() string {
	if !p.isField() {
		return p.literal
	}
	s := "<" + p.field
	if p.form != "" {
		s += ":" + p.form
	}
	if p.arg != "" {
		s += "(" + p.arg + ")"
	}
	return s + ">"
}

// parseTemplate splits a template into unbound parts.
func parseTemplate(text string) ([]part, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("template %q is not valid UTF-8", text)
	}
	var parts []part
	rest := text
	for rest != "" {
		literal, tail, found := strings.Cut(rest, "<")
		if literal != "" {
			parts = append(parts, part{literal: literal, idx: -1})
		}
		if !found {
			break
		}
		inside, after, closed := strings.Cut(tail, ">")
		if !closed || inside == "" {
			return nil, fmt.Errorf("template %q: a part is not closed, or empty", text)
		}
		p := part{idx: -1}
		p.field, p.form, _ = strings.Cut(inside, ":")
		if name, arg, has := strings.Cut(p.form, "("); has {
			if !strings.HasSuffix(arg, ")") {
				return nil, fmt.Errorf("template %q: %q lacks a parenthesis", text, p.form)
			}
			p.form, p.arg = name, strings.TrimSuffix(arg, ")")
		}
		if p.field == "" {
			return nil, fmt.Errorf("template %q: a part names no field", text)
		}
		parts = append(parts, p)
		rest = after
	}
	return parts, nil
}

// newTemplate parses a template and binds it to a shape, all of whose fields it may name.
func newTemplate(text string, sh *shape, rings []ring) (*template, []string) {
	parts, err := parseTemplate(text)
	if err != nil {
		return &template{text: text, sh: sh}, []string{err.Error()}
	}
	t := &template{text: text, sh: sh, parts: parts}
	var bad []string
	for i := range t.parts {
		p := &t.parts[i]
		if !p.isField() {
			continue
		}
		if err := p.bind(sh, rings); err != nil {
			bad = append(bad, fmt.Sprintf("template %q: part %s: %v", text, p.source(), err))
		}
	}
	t.setEscapes()
	if len(bad) == 0 {
		bad = t.checkJoints()
	}
	return t, bad
}

func (p *part) bind(sh *shape, rings []ring) error {
	idx, ok := sh.lookup(p.field)
	if !ok {
		return fmt.Errorf("%s has no field or attribute %s", sh.typ, p.field)
	}
	p.idx = idx
	f := &sh.fields[idx]
	if f.form == formNone {
		return fmt.Errorf("a field of type %s cannot be part of a key", f.typ)
	}
	if p.form == "shard" || p.form == "shardSuffix" {
		r, err := newRing(p.arg, rings, sh, p.form == "shardSuffix")
		p.ring = r
		p.format = format{name: p.form}
		for _, e := range r.epochs {
			p.format.few = max(p.format.few, e.Count)
		}
		return err
	}
	var err error
	p.format, err = newFormat(p.form, p.arg, f.form)
	return err
}

// setEscapes makes each text part escape the first byte of the literal after it, so that keys can
// be parsed with any separator.
func (t *template) setEscapes() {
	for i := range t.parts {
		if i+1 < len(t.parts) && !t.parts[i+1].isField() {
			if c := t.parts[i+1].literal[0]; c < utf8.RuneSelf && c != '%' && c != '#' {
				t.parts[i].escape = string(c)
			}
		}
	}
}

// checkJoints finds adjacent parts without a separator: <A><B> could be parsed in two ways, and two
// different items could have the same key.
func (t *template) checkJoints() []string {
	var bad []string
	for i := 1; i < len(t.parts); i++ {
		a, b := &t.parts[i-1], &t.parts[i]
		if a.isField() && !b.isField() && a.format.width == 0 && !separates(a, b.literal[0]) {
			bad = append(bad, fmt.Sprintf("template %q: %q after %s could be part of the value",
				t.text, b.literal[:1], a.source()))
		}
		suffix := b.ring != nil && b.ring.suffix
		if a.isField() && b.isField() && a.format.width == 0 && !suffix {
			bad = append(bad, fmt.Sprintf("template %q: nothing separates %s from %s",
				t.text, a.source(), b.source()))
		}
	}
	return bad
}

// separates reports whether a byte can end a part of variable length. It must not occur in the
// part's text: escaped letters would be unreadable, and signs and digits cannot be escaped.
func separates(p *part, c byte) bool {
	switch {
	case c >= utf8.RuneSelf || c == '%':
		return false
	case p.format.lossless && p.format.name != "text" && p.format.name != "plain":
		return !strings.ContainsRune("-.0123456789abcdef", rune(c))
	}
	return true
}

// append formats the template for the struct at p. missing is the part whose field is empty, or -1.
func (t *template) append(dst []byte, p unsafe.Pointer) (out []byte, missing int, err error) {
	for i := range t.parts {
		var absent bool
		if dst, absent, err = t.appendPart(dst, &t.parts[i], p); err != nil {
			return dst, -1, err
		}
		if absent {
			return dst, i, nil
		}
	}
	return dst, -1, nil
}

func (t *template) appendPart(
	dst []byte, part *part, p unsafe.Pointer,
) (out []byte, missing bool, err error) {
	if !part.isField() {
		return append(dst, part.literal...), false, nil
	}
	f := &t.sh.fields[part.idx]
	v, err := f.scalar(p)
	if err != nil || v.missing {
		return dst, v.missing, err
	}
	if part.ring != nil {
		at, absent, err := part.ring.timeOf(t.sh, p)
		if err != nil || absent {
			return dst, absent, err
		}
		var buf [64]byte
		return part.ring.append(dst, appendScalar(buf[:0], v), at), false, nil
	}
	dst, err = part.format.append(dst, v, part.escape)
	if err != nil {
		err = fmt.Errorf("%s: %w", part.source(), err)
	}
	return dst, false, err
}

// parse splits a key and passes each part's text to use. It reports whether the template could have
// built the key.
func (t *template) parse(key string, use func(p *part, text string) error) (bool, error) {
	rest := key
	for i := range t.parts {
		p := &t.parts[i]
		if !p.isField() {
			tail, ok := strings.CutPrefix(rest, p.literal)
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
func (t *template) extent(i int, rest string) (int, bool) {
	p := &t.parts[i]
	if p.format.loose && (i+1 == len(t.parts) || strings.HasPrefix(t.parts[i+1].literal, "#")) {
		n := strings.IndexByte(rest, '#')
		if n < 0 {
			n = len(rest)
		}
		return n, n > 0
	}
	if p.format.width > 0 {
		return p.format.width, len(rest) >= p.format.width
	}
	if p.ring != nil && p.ring.suffix {
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
	if i+1 < len(t.parts) {
		end := "#"
		if next := &t.parts[i+1]; !next.isField() {
			end = next.literal
		}
		if at := strings.Index(rest, end[:1]); at >= 0 {
			n = at
		} else if !t.parts[i+1].isField() {
			return 0, false
		}
	}
	// A value of variable length has no raw separator.
	return n, n > 0 && strings.IndexByte(rest[:n], '#') < 0
}

// matches reports whether the template could have built a key.
func (t *template) matches(key string) bool {
	ok, err := t.parse(key, func(p *part, text string) error {
		if p.ring != nil || p.format.parse == nil {
			return nil
		}
		_, err := p.format.parse(text)
		return err
	})
	return ok && err == nil
}

// literalPrefix returns the literal text with which every key begins.
func (t *template) literalPrefix() string {
	if len(t.parts) > 0 && !t.parts[0].isField() {
		return t.parts[0].literal
	}
	return ""
}

// maxLen returns the maximum length of a key, or 0 if there is no limit.
func (t *template) maxLen() int {
	n := 0
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case !p.isField():
			n += len(p.literal)
		case p.ring != nil:
			n += 1 + len(fmt.Sprint(ShardsMax))
		case p.format.max == 0:
			return 0
		default:
			n += p.format.max
		}
	}
	return n
}
