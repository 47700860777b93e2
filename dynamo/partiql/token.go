package partiql

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/digest"
)

const (
	messageBadToken   = "Invalid NextToken"
	messageOtherToken = "NextToken does not match request"
)

// spansMax is larger than the number of ranges that the limits of a statement allow.
const spansMax = 1 << 20

// resume is the position at which the next page of a SELECT begins: the index of the range, and the
// key after which it begins within that range.
type resume struct {
	span  int
	after dynamo.Key
}

// A NextToken is a hash of its statement with the parameters, followed by the position and by a
// check hash of both. It is not secret and not signed, because a forged token gives no more access
// than a statement does.
const (
	tokenRequestSize = 16
	tokenCheckSize   = 8
)

// requestHash returns a hash of a statement with its parameters.
func requestHash(in *dynamo.ExecuteStatementInput) []byte {
	h := digest.New()
	h.Text(in.Statement)
	for _, v := range in.Parameters {
		h.Value(v)
	}
	return h.Sum()[:tokenRequestSize]
}

// encodeToken returns the token of the next page: a hash of the request, the place, and a check
// sum. The hash binds the token to its statement.
func encodeToken(in *dynamo.ExecuteStatementInput, at resume) string {
	token := requestHash(in)
	token = binary.AppendUvarint(token, uint64(at.span))
	for _, name := range slices.Sorted(maps.Keys(at.after)) {
		token = appendText(token, name)
		token = appendValue(token, at.after[name])
	}
	check := sha256.Sum256(token)
	return base64.StdEncoding.EncodeToString(append(token, check[:tokenCheckSize]...))
}

// decodeToken returns the place of a token, after a check that the token is complete and belongs to
// the same request.
func decodeToken(in *dynamo.ExecuteStatementInput) (resume, error) {
	token, err := base64.StdEncoding.DecodeString(in.NextToken)
	if err != nil || len(token) < tokenRequestSize+tokenCheckSize {
		return resume{}, dynamo.Invalid(messageBadToken)
	}
	token, tail := token[:len(token)-tokenCheckSize], token[len(token)-tokenCheckSize:]
	if check := sha256.Sum256(token); !bytes.Equal(check[:tokenCheckSize], tail) {
		return resume{}, dynamo.Invalid(messageBadToken)
	}
	request, rest := token[:tokenRequestSize], token[tokenRequestSize:]
	if !bytes.Equal(request, requestHash(in)) {
		return resume{}, dynamo.Invalid(messageOtherToken)
	}
	span, n := binary.Uvarint(rest)
	if n <= 0 || span > spansMax {
		return resume{}, dynamo.Invalid(messageBadToken)
	}
	at := resume{span: int(span)}
	for rest = rest[n:]; len(rest) > 0; {
		var name string
		var v dynamo.Value
		var ok bool
		if name, rest, ok = cutText(rest); ok {
			v, rest, ok = cutValue(rest)
		}
		if !ok {
			return resume{}, dynamo.Invalid(messageBadToken)
		}
		if at.after == nil {
			at.after = dynamo.Key{}
		}
		at.after[name] = v
	}
	return at, nil
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendValue appends the value of a key attribute: its kind and its text.
func appendValue(b []byte, v dynamo.Value) []byte {
	b = append(b, byte(v.Kind()))
	switch v.Kind() {
	case dynamo.KindN:
		return appendText(b, v.N())
	case dynamo.KindB:
		return appendText(b, string(v.B()))
	}
	return appendText(b, v.S())
}

func cutText(b []byte) (text string, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, false
	}
	b = b[size:]
	return string(b[:n]), b[n:], true
}

func cutValue(b []byte) (v dynamo.Value, rest []byte, ok bool) {
	if len(b) == 0 {
		return v, nil, false
	}
	text, rest, ok := cutText(b[1:])
	switch dynamo.Kind(b[0]) {
	case dynamo.KindS:
		v = dynamo.S(text)
	case dynamo.KindN:
		v = dynamo.N(text)
	case dynamo.KindB:
		v = dynamo.B([]byte(text))
	default:
		ok = false
	}
	return v, rest, ok
}
