package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	Text  Kind = iota
	Start      // <NAME> or <NAME attr="…">
	End        // </NAME>
	Empty      // <NAME/>
)

// Token is a piece of SGML or XML. Its bytes are good until the next one is read.
type Token struct {
	Kind       Kind
	Name       []byte // Without a prefix; as written.
	Attributes []byte // All that follows the name within the tag.
	Text       []byte // Of Text, with entities decoded.
	Line       int    // Where it begins.
	Cut        bool   // It was longer than FieldMax, and only its beginning is here.
}

// Markup cuts SGML and XML into tokens. It is tolerant: an ampersand or a less-than sign that
// begins nothing is text, and it does not check that tags match. It fetches nothing and expands no
// entity that a file declares.
type Markup struct {
	r    *bufio.Reader
	Line int
	buf  []byte
	text []byte
}

// NewMarkup returns a reader of the tokens of a text.
func NewMarkup(r io.Reader) *Markup {
	return &Markup{r: bufio.NewReaderSize(r, 32<<10), Line: 1}
}

// Next returns the next token, or io.EOF.
func (m *Markup) Next() (Token, error) {
	for {
		c, err := m.r.Peek(1)
		if err != nil {
			return Token{}, err
		}
		if c[0] != '<' || !m.tagFollows() {
			return m.readText()
		}
		t, ok, err := m.readTag()
		if err != nil || ok {
			return t, err
		}
	}
}

// tagFollows reports whether the less-than sign ahead begins a tag, a comment or a declaration.
func (m *Markup) tagFollows() bool {
	ahead, _ := m.r.Peek(2)
	if len(ahead) < 2 {
		return false
	}
	c := ahead[1]
	return c == '/' || c == '?' || c == '!' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// readText reads up to the next tag.
func (m *Markup) readText() (Token, error) {
	t := Token{Kind: Text, Line: m.Line}
	m.text = m.text[:0]
	for first := true; ; first = false {
		c, err := m.r.Peek(1)
		if errors.Is(err, io.EOF) && !first {
			break
		}
		if err != nil {
			return t, err
		}
		if c[0] == '<' {
			if m.tagFollows() {
				if section, err := m.cdata(&t); err != nil {
					return t, err
				} else if section {
					continue
				}
				break
			}
			m.take(1, &t)
			continue
		}
		piece, _ := m.r.Peek(max(1, m.r.Buffered()))
		if at := bytes.IndexByte(piece, '<'); at >= 0 {
			piece = piece[:at]
		}
		m.take(len(piece), &t)
	}
	t.Text = m.text
	if bytes.IndexByte(t.Text, '&') >= 0 {
		t.Text = decodeEntities(t.Text)
	}
	return t, nil
}

// take appends n bytes to the text, up to FieldMax, and counts their lines.
func (m *Markup) take(n int, t *Token) {
	piece, _ := m.r.Peek(n)
	m.count(piece)
	if room := FieldMax - len(m.text); len(piece) > room {
		piece, t.Cut = piece[:max(room, 0)], true
	}
	m.text = append(m.text, piece...)
	_, _ = m.r.Discard(n) // Never fails for peeked bytes.
}

func (m *Markup) count(piece []byte) {
	lf := bytes.Count(piece, []byte{'\n'})
	if lf == 0 {
		lf = bytes.Count(piece, []byte{'\r'})
	}
	m.Line += lf
}

const (
	cdataOpen  = "<![CDATA["
	cdataClose = "]]>"
)

// cdata reads a section of literal text, if one is ahead. Its ampersands are text, so they are
// escaped for the decoding that follows.
func (m *Markup) cdata(t *Token) (bool, error) {
	ahead, _ := m.r.Peek(len(cdataOpen))
	if string(ahead) != cdataOpen {
		return false, nil
	}
	_, _ = m.r.Discard(len(cdataOpen))
	raw, cut, err := m.until(cdataClose)
	if err != nil && !errors.Is(err, io.EOF) {
		return true, err
	}
	t.Cut = t.Cut || cut
	raw = bytes.ReplaceAll(raw, []byte("&"), []byte("&amp;"))
	if room := FieldMax - len(m.text); len(raw) > room {
		raw, t.Cut = raw[:max(room, 0)], true
	}
	m.text = append(m.text, raw...)
	return true, nil
}

// until reads up to the end mark and past it, and returns the text before the mark.
func (m *Markup) until(end string) (raw []byte, cut bool, err error) {
	m.buf = m.buf[:0]
	last := end[len(end)-1]
	for {
		piece, err := m.r.ReadSlice(last)
		m.count(piece)
		if room := FieldMax - len(m.buf); len(piece) > room {
			// Keep the end of the piece, because the end mark may be in it.
			cut = true
			keep := min(len(m.buf), FieldMax-len(end))
			m.buf = append(m.buf[:keep], piece[max(0, len(piece)-len(end)):]...)
		} else {
			m.buf = append(m.buf, piece...)
		}
		if bytes.HasSuffix(m.buf, []byte(end)) {
			return m.buf[:len(m.buf)-len(end)], cut, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return m.buf, cut, err
		}
	}
}

// readTag reads a tag. It returns false for comments, declarations and processing instructions.
func (m *Markup) readTag() (Token, bool, error) {
	t := Token{Line: m.Line}
	ahead, _ := m.r.Peek(len(cdataOpen))
	switch {
	case string(ahead) == cdataOpen:
		t, err := m.readText()
		return t, true, err
	case bytes.HasPrefix(ahead, []byte("<!--")):
		_, _ = m.r.Discard(4)
		_, _, err := m.until("-->")
		return t, false, err
	}
	_, _ = m.r.Discard(1)
	raw, cut, err := m.until(">")
	if err != nil {
		return t, false, err
	}
	if len(raw) == 0 || raw[0] == '?' || raw[0] == '!' {
		return t, false, nil
	}
	t.Cut = cut
	t.Kind = Start
	if raw[0] == '/' {
		t.Kind, raw = End, raw[1:]
	} else if raw[len(raw)-1] == '/' {
		t.Kind, raw = Empty, raw[:len(raw)-1]
	}
	t.Name = raw
	if at := bytes.IndexAny(raw, " \t\r\n"); at >= 0 {
		t.Name, t.Attributes = raw[:at], raw[at+1:]
	}
	if at := bytes.IndexByte(t.Name, ':'); at >= 0 {
		t.Name = t.Name[at+1:]
	}
	return t, true, nil
}

// Names keeps the names of elements, so that each name is copied once per file and not at every
// element.
type Names map[string]string

// namesMax is the maximum number of names that are kept. camt and OFX have a few hundred.
const namesMax = 1000

// Of returns a name as a string that may be kept.
func (n *Names) Of(name []byte) string {
	if known, ok := (*n)[string(name)]; ok {
		return known
	}
	if *n == nil {
		*n = make(Names)
	}
	text := string(name)
	if len(*n) < namesMax && len(text) <= nameLengthMax {
		(*n)[text] = text
	}
	return text
}

// Upper returns the name of a tag in upper case.
func (n *Names) Upper(name []byte) string {
	for _, c := range name {
		if c >= 'a' && c <= 'z' {
			return strings.ToUpper(string(name))
		}
	}
	return n.Of(name)
}

// Attribute returns the value of an attribute of the tag.
func (t Token) Attribute(name string) string {
	rest := string(t.Attributes)
	for {
		eq := strings.IndexByte(rest, '=')
		if eq < 0 {
			return ""
		}
		key := strings.TrimSpace(rest[:eq])
		rest = strings.TrimLeft(rest[eq+1:], " \t\r\n")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return ""
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return ""
		}
		if key == name {
			return rest[1 : 1+end]
		}
		rest = rest[end+2:]
	}
}

// entityMax is the maximum length of an entity's name; with a longer one the ampersand is text.
const entityMax = 10

// decodeEntities replaces the entities of XML and character references, once. Unknown ones stay as
// they are written, because banks write AT&T.
func decodeEntities(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			break
		}
		out = append(out, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), entityMax+1)], ';')
		if end > 0 {
			if r, ok := entity(string(text[1:end])); ok {
				out = utf8.AppendRune(out, r)
				text = text[end+1:]
				continue
			}
		}
		out = append(out, '&')
		text = text[1:]
	}
	return append(out, text...)
}

func entity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	case "nbsp":
		return ' ', true
	}
	if !strings.HasPrefix(name, "#") {
		return 0, false
	}
	base, digits := 10, name[1:]
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}
