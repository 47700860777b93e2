package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// skipLevelsMax is the maximum nesting depth of an unknown member. No operation needs that depth,
// and it limits the memory for skipping.
const skipLevelsMax = 512

// listKept is the number of elements of a request's list that are kept. The service allows at most
// 100, so the store refuses such a list, and the rest need not be kept.
const listKept = 1000

// reader parses one JSON text from front to back without building a tree: a decoder calls the
// method for the value that it expects. The first error is kept in err. From then on every method
// returns a zero value and every loop ends, so that decoders need not check errors.
//
// Strings alias the text, which must therefore not change. Only strings with escapes are copied.
type reader struct {
	data []byte
	pos  int
	// name is the name of the current member, valid until the next one.
	name []byte
	// first reports that an object or list was just opened, so that no comma follows.
	first bool
	err   *dynamo.Error // a SerializationException
	// invalid is the first error in the meaning of the request that a decoder reported, because the
	// inputs of a store cannot represent it.
	invalid *dynamo.Error
	nulls   []string // paths of missing required members

	host   string // the host to which the request was sent
	legacy bool   // the request has legacy parameters

	values []dynamo.Value // elements of lists that are being read
	texts  []string       // elements of sets that are being read
}

// newReader returns a reader of a request. UTF-8 is checked once for the whole request, so that
// strings need no check of their own.
func newReader(data []byte) *reader {
	r := &reader{data: data}
	if !utf8.Valid(data) {
		r.fail("Invalid UTF-8 in the request")
	}
	return r
}

// fail ends parsing with a SerializationException. For invalid JSON the message is empty, as on the
// service.
func (r *reader) fail(message string) {
	if r.err == nil {
		r.err = &dynamo.Error{Code: codeSerialization, Message: message}
	}
	r.pos = len(r.data)
}

// refuse notes a ValidationException and continues, because a later syntax or type error is
// reported before it.
func (r *reader) refuse(message string) {
	if r.invalid == nil {
		r.invalid = dynamo.Invalid(message)
	}
}

// require notes a missing required member by the service's name for it. The service reports all
// missing members together, before other validation errors.
func (r *reader) require(present bool, name string) {
	if !present {
		r.nulls = append(r.nulls, name)
	}
}

// within adds the path of a list element to the names of missing members, beginning with the given
// one.
func (r *reader) within(from int, list string, index int, inside string) {
	for i := from; i < len(r.nulls); i++ {
		r.nulls[i] = list + "." + strconv.Itoa(index) + ".member." + inside + r.nulls[i]
	}
}

// end returns the error of the text. Data after its value is an error, too.
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

// peek skips white space and returns the next byte, or 0 at the end. A zero byte cannot occur in
// JSON outside of strings.
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

// object enters an object; member iterates over its members.
func (r *reader) object() {
	if r.peek() != '{' {
		r.mistyped("structure")
		return
	}
	r.pos++
	r.first = true
}

// member moves to the next member of the object and reads its name, or leaves the object and
// reports false. Null members are skipped, because null means absent.
func (r *reader) member() bool {
	for r.nullableMember() {
		if r.peek() != 'n' {
			return true
		}
		r.literal("null")
	}
	return false
}

// nullableMember is member for objects in which null has a meaning.
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

// list enters a list; element iterates over its elements.
func (r *reader) list() {
	if r.peek() != '[' {
		r.mistyped("list")
		return
	}
	r.pos++
	r.first = true
}

// element moves to the next element of the list, or leaves the list and reports false.
func (r *reader) element() bool {
	if !r.more(']') {
		return false
	}
	if r.peek() == ']' {
		r.fail("") // after a comma
	}
	return r.err == nil
}

// more skips the comma before the next member or element, or the end of the object or list.
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

// literal skips a word that is expected here.
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

// int reads an integer of 64 bits.
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

// skip skips a value of any type. It neither recurses nor allocates.
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

// scalar skips a string, a number or a literal.
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

// number skips a number and returns its text, which is valid JSON.
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

// mistyped reports a value of an unexpected type with the service's message.
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

// passText skips a string without decoding its escapes.
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
		at += 2 // a backslash and the escaped character
	}
}

// plainEnd returns the position of the first quote, backslash or control character from a position
// on. It checks eight bytes at a time.
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

// unescape decodes the inside of a string, of which the first plain bytes have no escape. It
// refuses half of a surrogate pair, because it does not represent a character.
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

// unicodeEscape decodes the part after "\u": four digits, or a whole surrogate pair.
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

// hex4 parses the four hexadecimal digits of a \u escape.
func hex4(in []byte) (rune, bool) {
	if len(in) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(in[:4]), 16, 32)
	return rune(n), err == nil && in[0] != '+'
}
