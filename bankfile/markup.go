package bankfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a token of markup.
type tokenKind uint8

const (
	tokenText  tokenKind = iota
	tokenStart           // <NAME> or <NAME attr="…">
	tokenEnd             // </NAME>
	tokenEmpty           // <NAME/>
)

// token is a piece of SGML or XML. Its bytes are good until the next one is read.
type token struct {
	kind tokenKind
	name []byte // Without a prefix; as written.
	attr []byte // All that follows the name within the tag.
	text []byte // Of tokenText, with entities decoded.
	line int    // Where it begins.
	cut  bool   // It was longer than FieldMax, and only its beginning is here.
}

// markup cuts SGML and XML into tokens. It is tolerant: an ampersand or a less-than sign that
// begins nothing is text, and whether tags match is for others to say. It fetches nothing and
// expands no entity that a file declares.
type markup struct {
	r    *bufio.Reader
	line int
	buf  []byte
	text []byte
}

func newMarkup(r io.Reader) *markup {
	return &markup{r: bufio.NewReaderSize(r, 32<<10), line: 1}
}

// next returns the next token, or io.EOF.
func (m *markup) next() (token, error) {
	for {
		c, err := m.r.Peek(1)
		if err != nil {
			return token{}, err
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

// tagFollows tells whether the less-than sign ahead begins a tag, a comment or the like.
func (m *markup) tagFollows() bool {
	ahead, _ := m.r.Peek(2)
	if len(ahead) < 2 {
		return false
	}
	c := ahead[1]
	return c == '/' || c == '?' || c == '!' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// readText reads up to the next tag.
func (m *markup) readText() (token, error) {
	t := token{kind: tokenText, line: m.line}
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
	t.text = m.text
	if bytes.IndexByte(t.text, '&') >= 0 {
		t.text = decodeEntities(t.text)
	}
	return t, nil
}

// take moves n bytes to the text, as far as there is room, and counts lines.
func (m *markup) take(n int, t *token) {
	piece, _ := m.r.Peek(n)
	m.count(piece)
	if room := FieldMax - len(m.text); len(piece) > room {
		piece, t.cut = piece[:max(room, 0)], true
	}
	m.text = append(m.text, piece...)
	_, _ = m.r.Discard(n) // What was peeked can be discarded.
}

func (m *markup) count(piece []byte) {
	lf := bytes.Count(piece, []byte{'\n'})
	if lf == 0 {
		lf = bytes.Count(piece, []byte{'\r'})
	}
	m.line += lf
}

const (
	cdataOpen  = "<![CDATA["
	cdataClose = "]]>"
)

// cdata reads a section of literal text, if one is ahead. Its ampersands are text, so they are
// escaped for the decoding that follows.
func (m *markup) cdata(t *token) (bool, error) {
	ahead, _ := m.r.Peek(len(cdataOpen))
	if string(ahead) != cdataOpen {
		return false, nil
	}
	_, _ = m.r.Discard(len(cdataOpen))
	raw, cut, err := m.until(cdataClose)
	if err != nil && !errors.Is(err, io.EOF) {
		return true, err
	}
	t.cut = t.cut || cut
	raw = bytes.ReplaceAll(raw, []byte("&"), []byte("&amp;"))
	if room := FieldMax - len(m.text); len(raw) > room {
		raw, t.cut = raw[:max(room, 0)], true
	}
	m.text = append(m.text, raw...)
	return true, nil
}

// until reads to the end mark and past it, and returns what stands before it.
func (m *markup) until(end string) (raw []byte, cut bool, err error) {
	m.buf = m.buf[:0]
	last := end[len(end)-1]
	for {
		piece, err := m.r.ReadSlice(last)
		m.count(piece)
		if room := FieldMax - len(m.buf); len(piece) > room {
			// The end of the piece is kept, for the end mark may be in it.
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

// readTag reads a tag. It returns false for what tells nothing: comments, declarations,
// processing instructions.
func (m *markup) readTag() (token, bool, error) {
	t := token{line: m.line}
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
	t.cut = cut
	t.kind = tokenStart
	if raw[0] == '/' {
		t.kind, raw = tokenEnd, raw[1:]
	} else if raw[len(raw)-1] == '/' {
		t.kind, raw = tokenEmpty, raw[:len(raw)-1]
	}
	t.name = raw
	if at := bytes.IndexAny(raw, " \t\r\n"); at >= 0 {
		t.name, t.attr = raw[:at], raw[at+1:]
	}
	if at := bytes.IndexByte(t.name, ':'); at >= 0 {
		t.name = t.name[at+1:]
	}
	return t, true, nil
}

// names keeps the names of elements, so that each is copied once for a file and not once for
// each time that it stands there.
type names map[string]string

// namesMax bounds the names that are kept. camt and OFX have some hundreds.
const namesMax = 1000

func (n *names) of(name []byte) string {
	if known, ok := (*n)[string(name)]; ok {
		return known
	}
	if *n == nil {
		*n = make(names)
	}
	text := string(name)
	if len(*n) < namesMax && len(text) <= NameMax {
		(*n)[text] = text
	}
	return text
}

// attribute returns the value of an attribute of the tag.
func (t token) attribute(name string) string {
	rest := string(t.attr)
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

// entityMax is the greatest length of an entity's name; beyond it an ampersand is text.
const entityMax = 10

// decodeEntities replaces the entities of XML and character references, once. What it does not
// know stays as it is written: banks write AT&T.
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
