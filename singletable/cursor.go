package singletable

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// CursorError reports a cursor that cannot be used.
type CursorError struct {
	Pattern string
	// Reason is one of the constants.
	Reason CursorReason
}

// CursorReason is the reason why a cursor cannot be used.
type CursorReason string

// The reasons.
const (
	// CursorMalformed is text that is not a cursor, or a cursor that was changed or signed with
	// another key.
	CursorMalformed CursorReason = "it is malformed or was not issued here"
	// CursorOtherPattern is a cursor of another pattern, or of a previous definition of the
	// pattern.
	CursorOtherPattern CursorReason = "it belongs to another pattern"
	// CursorOtherInputs is a cursor of the same pattern with other inputs.
	CursorOtherInputs CursorReason = "it belongs to other inputs"
)

// Error returns the pattern and the reason.
func (e *CursorError) Error() string {
	return fmt.Sprintf("pattern %s: the cursor cannot be used: %s", e.Pattern, e.Reason)
}

// position is the position of a walk: a stage and, for each source of the stage, the key after
// which to continue. A nil key is the beginning of that source in the walk's direction.
type position struct {
	backward bool // against the pattern's order
	stage    int
	keys     []dynamo.Key
}

// The layout of a cursor of version 1, before base64: version, pattern tag, input tag, flags,
// position, MAC. Every version begins with its number and ends with the MAC of everything before
// it.
const (
	cursorVersion = 1
	patternTagLen = 4
	inputTagLen   = 8
	macLen        = 16
	flagBackward  = 1
)

// encodeCursor returns the position as an opaque, URL-safe, signed text.
func (q *query) encodeCursor(s *Store, p position) string {
	out := append(make([]byte, 0, 128), cursorVersion)
	out = append(out, q.c.tag()...)
	out = append(out, q.inputTag()...)
	var flags byte
	if p.backward {
		flags |= flagBackward
	}
	out = append(out, flags)
	out = binary.AppendUvarint(out, uint64(p.stage))
	for i, key := range p.keys {
		if key == nil {
			out = append(out, 0)
			continue
		}
		out = append(out, 1)
		for _, attr := range q.positionAttrs() {
			out = appendPositionValue(out, key[attr])
		}
		_ = i
	}
	return base64.RawURLEncoding.EncodeToString(append(out, s.mac(out)...))
}

// positionAttrs returns the attributes of a position's key that are not determined by the source.
func (q *query) positionAttrs() []string {
	t, keys := q.c.table.keys, q.c.keys
	var attrs []string
	add := func(a string) {
		if a != "" && (q.c.kind == kindScan || a != keys.Partition) {
			for _, have := range attrs {
				if have == a {
					return
				}
			}
			attrs = append(attrs, a)
		}
	}
	if q.c.kind == kindScan {
		add(keys.Partition)
	}
	add(keys.Sort)
	add(t.Partition)
	add(t.Sort)
	return attrs
}

func appendPositionValue(dst []byte, v dynamo.Value) []byte {
	text := v.S()
	switch v.Kind() {
	case dynamo.KindN:
		text = v.N()
	case dynamo.KindB:
		text = string(v.B())
	}
	dst = append(dst, byte(v.Kind()))
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// decodeCursor verifies a cursor and returns its position.
func (q *query) decodeCursor(s *Store, cursor string) (position, error) {
	fail := func(r CursorReason) (position, error) {
		return position{}, &CursorError{Pattern: q.c.name, Reason: r}
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < 1+macLen {
		return fail(CursorMalformed)
	}
	body, mac := raw[:len(raw)-macLen], raw[len(raw)-macLen:]
	if !hmac.Equal(mac, s.mac(body)) {
		return fail(CursorMalformed)
	}
	switch body[0] {
	case 1:
		return q.decodeV1(body[1:])
	default:
		return fail(CursorMalformed)
	}
}

// decodeV1 decodes a cursor of version 1 without its version byte.
func (q *query) decodeV1(body []byte) (position, error) {
	fail := func(r CursorReason) (position, error) {
		return position{}, &CursorError{Pattern: q.c.name, Reason: r}
	}
	r := cursorReader{rest: body}
	if string(r.take(patternTagLen)) != string(q.c.tag()) {
		return fail(CursorOtherPattern)
	}
	if string(r.take(inputTagLen)) != string(q.inputTag()) {
		return fail(CursorOtherInputs)
	}
	p := position{backward: r.byte()&flagBackward != 0, stage: int(r.uvarint())}
	if p.stage >= len(q.stages) {
		return fail(CursorOtherPattern)
	}
	for _, src := range q.stages[p.stage] {
		p.keys = append(p.keys, r.key(q, src))
	}
	if r.bad || len(r.rest) > 0 {
		return fail(CursorOtherPattern)
	}
	return p, nil
}

// cursorReader reads the parts of a cursor. bad is set if the cursor is too short.
type cursorReader struct {
	rest []byte
	bad  bool
}

func (r *cursorReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *cursorReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *cursorReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > 1<<20 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *cursorReader) key(q *query, src *source) dynamo.Key {
	if r.byte() == 0 || r.bad {
		return nil
	}
	key := dynamo.Key{}
	if q.c.kind != kindScan {
		key[q.c.keys.Partition] = src.hash
	}
	for _, attr := range q.positionAttrs() {
		kind := dynamo.Kind(r.byte())
		text := string(r.take(int(r.uvarint())))
		switch kind {
		case dynamo.KindS:
			key[attr] = dynamo.S(text)
		case dynamo.KindN:
			key[attr] = dynamo.N(text)
		case dynamo.KindB:
			key[attr] = dynamo.B([]byte(text))
		default:
			r.bad = true
		}
	}
	return key
}

func (s *Store) mac(body []byte) []byte {
	h := hmac.New(sha256.New, s.opts.CursorKey)
	h.Write(body)
	return h.Sum(nil)[:macLen]
}

// tag returns a hash that identifies this definition of the pattern.
func (c *patternCore) tag() []byte {
	h := sha256.New()
	index := ""
	if c.index != nil {
		index = c.index.name
	}
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00%t", c.name, c.kind, c.table.name, index, c.descending)
	for _, b := range [...]*binding{c.hash, c.sort} {
		if b == nil {
			continue
		}
		fmt.Fprintf(h, "\x00%s", b.k.Template.Text)
		for i := range b.k.Template.Parts {
			if r := b.k.Template.Parts[i].Ring; r != nil {
				fmt.Fprintf(h, "\x00%v", r.Epochs)
				if r.Ever {
					h.Write([]byte("\x00ever"))
				}
			}
		}
	}
	return h.Sum(nil)[:patternTagLen]
}

func (q *query) inputTag() []byte {
	sum := sha256.Sum256(q.inputs)
	return sum[:inputTagLen]
}
