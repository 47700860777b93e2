package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// skipLevelsMax is how deep a member that nobody knows may nest. It is far beyond what any
// operation means, and keeps the memory of skipping it fixed.
const skipLevelsMax = 512

// listKept is how many members of a request's list are kept, where the service allows 100 at most:
// enough for the store to refuse the list, while the rest is only passed over.
const listKept = 1000

// reader reads one JSON text from front to back and builds nothing on its way: a decoder asks for
// what it expects. The first thing that is wrong is kept in err; from then on every method returns
// a zero value at once and no loop goes on, so that decoders look at errors only at the end.
//
// Strings alias the text, which must therefore not change; only those with escapes are copied.
type reader struct {
	data []byte
	pos  int
	// name is the name of the member that member found; it lasts until the next one.
	name []byte
	// first says that an object or list was just opened, so that no comma comes next.
	first bool
	err   *dynamo.Error // a SerializationException
	// invalid is what is wrong with the meaning of the request, as far as the inputs of a store
	// cannot express it: the first refusal that a decoder reported.
	invalid *dynamo.Error
	nulls   []string // paths of required members that are missing

	host   string // to which the request was sent
	legacy bool   // the request has members of the forms before expressions

	values []dynamo.Value // elements of lists that are being read
	texts  []string       // elements of sets that are being read
}

func newReader(data []byte) *reader {
	r := &reader{data: data}
	if !utf8.Valid(data) {
		r.fail("Invalid UTF-8 in the request")
	}
	return r
}

// fail ends the reading with a SerializationException. A text that is no JSON at all gets no
// message, as in the service.
func (r *reader) fail(message string) {
	if r.err == nil {
		r.err = &dynamo.Error{Code: codeSerialization, Message: message}
	}
	r.pos = len(r.data)
}

// refuse notes a ValidationException and reads on: a text that is wrong further back is reported
// before it.
func (r *reader) refuse(message string) {
	if r.invalid == nil {
		r.invalid = dynamo.Invalid(message)
	}
}

// require notes a required member that is missing, by its name as the service writes it. The
// service reports all of these together, before anything else that is invalid.
func (r *reader) require(present bool, name string) {
	if !present {
		r.nulls = append(r.nulls, name)
	}
}

// within puts the path of the list element in which they are in front of the missing members from
// the given one on.
func (r *reader) within(from int, list string, index int, inside string) {
	for i := from; i < len(r.nulls); i++ {
		r.nulls[i] = list + "." + strconv.Itoa(index) + ".member." + inside + r.nulls[i]
	}
}

// end returns what was wrong with the text, the text behind its value included.
func (r *reader) end() error {
	if r.err == nil && r.peek() != 0 {
		r.fail("")
	}
	if r.err != nil {
		return r.err
	}
	if r.nulls != nil {
		return missing(r.nulls)
	}
	if r.invalid != nil {
		return r.invalid
	}
	return nil
}

// peek skips white space and returns the next byte; 0 at the end, which no JSON text contains
// outside of a string.
func (r *reader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\n', '\r', '\t':
			r.pos++
		case 0:
			r.fail("")
			return 0
		default:
			return c
		}
	}
	return 0
}

// object enters an object; its members come from member.
func (r *reader) object() {
	if r.peek() != '{' {
		r.mistyped("structure")
		return
	}
	r.pos++
	r.first = true
}

// member goes to the next member of the object and reads its name, or leaves the object and
// returns false. A member that is null counts as absent and is passed over.
func (r *reader) member() bool {
	for r.nullableMember() {
		if r.peek() != 'n' {
			return true
		}
		r.literal("null")
	}
	return false
}

// nullableMember is member for objects in which a null means something.
func (r *reader) nullableMember() bool {
	if !r.more('}') {
		return false
	}
	if r.peek() != '"' {
		r.fail("")
		return false
	}
	r.name = r.text()
	if r.peek() != ':' {
		r.fail("")
		return false
	}
	r.pos++
	return r.err == nil
}

// list enters a list; element goes through it.
func (r *reader) list() {
	if r.peek() != '[' {
		r.mistyped("list")
		return
	}
	r.pos++
	r.first = true
}

// element goes to the next element of the list, or leaves the list and returns false.
func (r *reader) element() bool {
	if !r.more(']') {
		return false
	}
	if r.peek() == ']' {
		r.fail("") // after a comma
	}
	return r.err == nil
}

// more passes the comma before the next member or element, or the end of what holds it.
func (r *reader) more(end byte) bool {
	if r.err != nil {
		return false
	}
	c := r.peek()
	if c == end {
		r.pos++
		r.first = false
		return false
	}
	if r.first {
		r.first = false
		return true
	}
	if c != ',' {
		r.fail("")
		return false
	}
	r.pos++
	return true
}

// literal passes a word that is expected here.
func (r *reader) literal(word string) bool {
	end := r.pos + len(word)
	if end > len(r.data) || string(r.data[r.pos:end]) != word {
		r.fail("")
		return false
	}
	r.pos = end
	return true
}

// bool reads true or false.
func (r *reader) bool() bool {
	switch r.peek() {
	case 't':
		return r.literal("true")
	case 'f':
		r.literal("false")
		return false
	}
	r.mistyped("Boolean")
	return false
}

// string reads a string. It aliases the text unless it has escapes.
func (r *reader) string() string {
	if r.peek() != '"' {
		r.mistyped("String")
		return ""
	}
	b := r.text()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// int reads a whole number of 64 bits.
func (r *reader) int() int {
	if c := r.peek(); c != '-' && (c < '0' || c > '9') {
		r.mistyped("Integer")
		return 0
	}
	token := r.number()
	n, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		r.fail("DECIMAL_VALUE cannot be converted to Integer")
		return 0
	}
	return int(n)
}

// strings reads a list of strings.
func (r *reader) strings() []string {
	start := len(r.texts)
	for r.list(); r.element(); {
		if len(r.texts)-start == elementsKept {
			r.skip()
			continue
		}
		r.texts = append(r.texts, r.string())
	}
	out := append(make([]string, 0, len(r.texts)-start), r.texts[start:]...)
	r.texts = r.texts[:start]
	return out
}

// skip passes a value of any type. It neither recurses nor allocates.
func (r *reader) skip() {
	var objects [skipLevelsMax / 64]uint64 // which of the open levels are objects
	level := 0
	for r.err == nil {
		switch c := r.peek(); c {
		case '{', '[':
			if level == skipLevelsMax {
				r.fail("")
				return
			}
			bit := uint64(1) << (level % 64)
			objects[level/64] &^= bit
			if c == '{' {
				objects[level/64] |= bit
			}
			level++
			r.pos++
			r.first = true
		default:
			r.scalar()
		}
		for level > 0 && r.err == nil {
			at := level - 1
			if objects[at/64]&(1<<(at%64)) != 0 {
				if r.nullableMember() {
					break
				}
			} else if r.element() {
				break
			}
			level--
		}
		if level == 0 {
			return
		}
	}
}

// scalar passes a string, a number or a word.
func (r *reader) scalar() {
	switch c := r.peek(); {
	case c == '"':
		r.passText()
	case c == 't':
		r.literal("true")
	case c == 'f':
		r.literal("false")
	case c == 'n':
		r.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		r.number()
	default:
		r.fail("")
	}
}

// number passes a number and returns its text, which follows JSON's grammar.
func (r *reader) number() []byte {
	start := r.pos
	if r.at('-') {
		r.pos++
	}
	if r.at('0') {
		r.pos++
	} else if !r.digits() {
		return nil
	}
	if r.at('.') {
		r.pos++
		if !r.digits() {
			return nil
		}
	}
	if r.at('e') || r.at('E') {
		r.pos++
		if r.at('+') || r.at('-') {
			r.pos++
		}
		if !r.digits() {
			return nil
		}
	}
	return r.data[start:r.pos]
}

func (r *reader) at(c byte) bool { return r.pos < len(r.data) && r.data[r.pos] == c }

func (r *reader) digits() bool {
	start := r.pos
	for r.pos < len(r.data) && r.data[r.pos]-'0' <= 9 {
		r.pos++
	}
	if r.pos == start {
		r.fail("")
		return false
	}
	return true
}

// mistyped reports a value of another type than the one that is expected, in the service's words.
func (r *reader) mistyped(want string) {
	token := ""
	switch c := r.peek(); {
	case c == '{':
		r.fail("Start of structure or map found where not expected.")
		return
	case c == '[':
		r.fail("Start of list found where not expected")
		return
	case c == '"':
		token = "STRING_VALUE"
	case c == 't':
		token = "TRUE_VALUE"
	case c == 'f':
		token = "FALSE_VALUE"
	case c == 'n':
		token = "NULL_VALUE"
	case c == '-' || c >= '0' && c <= '9':
		token = "NUMBER_VALUE"
	default:
		r.fail("")
		return
	}
	if r.scalar(); r.err != nil {
		return
	}
	if want == "structure" || want == "list" {
		r.fail("Unexpected token received from parser")
		return
	}
	r.fail(token + " cannot be converted to " + want)
}

// text reads a string, whose opening quote is next, and returns its bytes.
func (r *reader) text() []byte {
	start := r.pos + 1
	end := plainEnd(r.data, start)
	if end < len(r.data) && r.data[end] == '"' {
		r.pos = end + 1
		return r.data[start:end:end]
	}
	r.passText()
	if r.err != nil {
		return nil
	}
	b, ok := unescape(r.data[start:r.pos-1], end-start)
	if !ok {
		r.fail("")
	}
	return b
}

// passText passes a string without looking into its escapes.
func (r *reader) passText() {
	for at := r.pos + 1; ; {
		at = plainEnd(r.data, at)
		if at >= len(r.data) || r.data[at] < ' ' {
			r.fail("")
			return
		}
		if r.data[at] == '"' {
			r.pos = at + 1
			return
		}
		at += 2 // a backslash and what it escapes
	}
}

// plainEnd returns where, from a position on, the first byte stands that is a quote, a backslash
// or a control character. It looks at eight bytes at a time.
func plainEnd(data []byte, from int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for from+8 <= len(data) {
		w := binary.LittleEndian.Uint64(data[from:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
		if found != 0 {
			return from + bits.TrailingZeros64(found)/8
		}
		from += 8
	}
	for from < len(data) && data[from] != '"' && data[from] != '\\' && data[from] >= ' ' {
		from++
	}
	return from
}

// unescape returns the bytes that the inside of a string stands for; the first plain of them have
// no escape. Half of a surrogate pair stands for nothing and is refused.
func unescape(in []byte, plain int) ([]byte, bool) {
	out := append(make([]byte, 0, len(in)), in[:plain]...)
	for i := plain; i < len(in); {
		if in[i] != '\\' {
			end := plainEnd(in, i)
			out = append(out, in[i:end]...)
			i = end
			continue
		}
		if i+1 == len(in) {
			return nil, false
		}
		c := in[i+1]
		i += 2
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			char, width := unicodeEscape(in[i:])
			if width == 0 {
				return nil, false
			}
			out = utf8.AppendRune(out, char)
			i += width
		default:
			return nil, false
		}
	}
	return out, true
}

// unicodeEscape reads what follows "\u": four digits, or a whole surrogate pair.
func unicodeEscape(in []byte) (char rune, width int) {
	high, ok := hex4(in)
	if !ok {
		return 0, 0
	}
	if high < 0xD800 || high > 0xDFFF {
		return high, 4
	}
	if len(in) < 10 || in[4] != '\\' || in[5] != 'u' {
		return 0, 0
	}
	low, ok := hex4(in[6:])
	if !ok || high > 0xDBFF || low < 0xDC00 || low > 0xDFFF {
		return 0, 0
	}
	return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, 10
}

func hex4(in []byte) (rune, bool) {
	if len(in) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(in[:4]), 16, 32)
	return rune(n), err == nil && in[0] != '+'
}
