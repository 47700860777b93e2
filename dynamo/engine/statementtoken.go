package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

const (
	messageBadToken   = "Invalid NextToken"
	messageOtherToken = "NextToken does not match request"
)

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
	p := requestHasher{sha256.New()}
	p.text(in.Statement)
	for _, v := range in.Parameters {
		p.value(v)
	}
	return p.h.Sum(nil)[:tokenRequestSize]
}

// encodeToken returns the token of the next page: a hash of the request, the place, and a check
// sum. The hash binds the token to its statement.
func encodeToken(in *dynamo.ExecuteStatementInput, at resume) string {
	token := requestHash(in)
	token = binary.AppendUvarint(token, uint64(at.span))
	if at.after != nil {
		token = row.Append(token, at.after, at.after.Size())
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
	if rest = rest[n:]; len(rest) == 0 {
		return at, nil
	}
	v, err := row.NewView(rest)
	if err == nil {
		at.after, err = v.Item()
	}
	if err != nil {
		return resume{}, dynamo.Invalid(messageBadToken)
	}
	return at, nil
}
