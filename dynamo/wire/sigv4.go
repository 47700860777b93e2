package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Authentication is the kind of signature that a request needs.
type Authentication int

// AuthOff accepts every request, for a handler that only the local machine can reach. AuthForm
// requires a well-formed signature, as the service does, but does not verify it, to find clients
// that do not sign. AuthFull verifies the signature with the keys in the options.
const (
	AuthOff Authentication = iota
	AuthForm
	AuthFull
)

// AccessKey is the id of a key, which a client sends, and its secret, with which the client signs.
type AccessKey struct {
	ID     string
	Secret string
}

// signatureSkewMax is the maximum difference between a request's time and the handler's. It is
// therefore also the time for which a recorded request can be replayed. It is the service's limit
// for requests with their time in a header ("Signature Version 4" in the IAM guide).
const signatureSkewMax = 5 * time.Minute

// presignedTimeMax is the maximum validity of a request with its signature in the URL.
const presignedTimeMax = 7 * 24 * time.Hour

// Constants of the signing protocol.
const (
	signingAlgorithm = "AWS4-HMAC-SHA256"
	signingEnd       = "aws4_request"
	signingService   = "dynamodb"
	signingTime      = "20060102T150405Z"
	unsignedPayload  = "UNSIGNED-PAYLOAD"
	payloadHeader    = "X-Amz-Content-Sha256"
)

// The service's messages about signatures.
const (
	messageNoToken      = "Request is missing Authentication Token"
	messageUnknownKey   = "The security token included in the request is invalid."
	messageBadSignature = "The request signature we calculated does not match the signature you " +
		"provided. Check your AWS Secret Access Key and signing method. Consult the service " +
		"documentation for details."
)

// verifier verifies request signatures by version 4 of AWS's protocol, in a header or in the URL.
// The region is ignored, because the handler is not tied to one.
type verifier struct {
	mode    Authentication
	secrets map[string]string // by id
	now     func() time.Time
}

// newVerifier returns the verifier of the options, with the secrets by access key.
func newVerifier(opts *Options) *verifier {
	v := &verifier{mode: opts.Auth, secrets: map[string]string{}, now: opts.Now}
	for _, key := range opts.AccessKeys {
		v.secrets[key.ID] = key.Secret
	}
	return v
}

// signature holds the signing parameters of a request.
type signature struct {
	id, date, region string // of the credential
	headers          []string
	value            string
	time             string // in the form that was signed
	expires          time.Duration
	presigned        bool
}

// verify returns an error unless the request may be executed.
func (v *verifier) verify(req *http.Request, body []byte) error {
	if v.mode == AuthOff {
		return nil
	}
	s, err := signatureOf(req)
	if err != nil || v.mode == AuthForm {
		return err
	}
	if err := s.checkTime(v.now()); err != nil {
		return err
	}
	secret, known := v.secrets[s.id]
	token := req.Header.Get("X-Amz-Security-Token") != "" ||
		strings.Contains(req.URL.RawQuery, "X-Amz-Security-Token=")
	if !known || token { // session tokens belong to temporary keys, which the handler does not have
		return &dynamo.Error{Code: codeUnrecognizedClient, Message: messageUnknownKey}
	}
	if err := s.checkHeaders(req); err != nil {
		return err
	}
	payload, err := payloadHash(req, body)
	if err != nil {
		return err
	}
	want := s.sign(secret, s.canonical(req, payload))
	if subtle.ConstantTimeCompare([]byte(want), []byte(s.value)) != 1 {
		return invalidSignature(messageBadSignature)
	}
	return nil
}

func invalidSignature(message string) error {
	return &dynamo.Error{Code: codeInvalidSignature, Message: message}
}

func incompleteSignature(message string) error {
	return &dynamo.Error{Code: codeIncompleteSignature, Message: message}
}

// signatureOf returns the signature of a request, from its header or its URL.
func signatureOf(req *http.Request) (*signature, error) {
	header := req.Header.Get("Authorization")
	inAddress := strings.Contains(req.URL.RawQuery, "X-Amz-Algorithm=")
	switch {
	case header == "" && !inAddress:
		return nil, &dynamo.Error{Code: codeMissingToken, Message: messageNoToken}
	case header != "" && inAddress:
		return nil, invalidSignature("Found both 'X-Amz-Algorithm' as a query-string param and " +
			"'Authorization' as HTTP header.")
	case inAddress:
		return presignedOf(req)
	}
	rest, ok := strings.CutPrefix(header, signingAlgorithm)
	if !ok {
		return nil, &dynamo.Error{Code: codeMissingToken, Message: messageNoToken}
	}
	s := &signature{time: req.Header.Get("X-Amz-Date")}
	credential, headers := "", ""
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			headers = value
		case "Signature":
			s.value = value
		}
	}
	if s.time == "" {
		s.time = dateHeader(req)
	}
	var lacks strings.Builder
	for _, part := range []struct{ name, value string }{
		{"Credential", credential}, {"Signature", s.value}, {"SignedHeaders", headers},
	} {
		if part.value == "" {
			lacks.WriteString("Authorization header requires '" + part.name + "' parameter. ")
		}
	}
	if s.time == "" {
		lacks.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or " +
			"a 'Date' header. ")
	}
	if lacks.Len() > 0 {
		return nil, incompleteSignature(lacks.String() + "Authorization=" + signingAlgorithm)
	}
	s.headers = strings.Split(headers, ";")
	return s, s.readCredential(credential)
}

// dateHeader returns the time of a request that has only the common Date header.
func dateHeader(req *http.Request) string {
	date := req.Header.Get("Date")
	if t, err := http.ParseTime(date); err == nil {
		return t.UTC().Format(signingTime)
	}
	if _, err := time.Parse(signingTime, date); err == nil {
		return date
	}
	return ""
}

// presignedOf returns a signature in the URL.
func presignedOf(req *http.Request) (*signature, error) {
	query := req.URL.Query()
	var lacks strings.Builder
	for _, name := range []string{
		"X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date",
	} {
		if query.Get(name) == "" {
			lacks.WriteString("AWS query-string parameters must include '" + name + "'. ")
		}
	}
	if query.Get("X-Amz-Algorithm") != signingAlgorithm {
		lacks.WriteString("AWS query-string parameters must include 'X-Amz-Algorithm=" +
			signingAlgorithm + "'. ")
	}
	if lacks.Len() > 0 {
		return nil, incompleteSignature(lacks.String() + "Re-examine the query-string parameters.")
	}
	s := &signature{
		time: query.Get("X-Amz-Date"), value: query.Get("X-Amz-Signature"), presigned: true,
		headers: strings.Split(query.Get("X-Amz-SignedHeaders"), ";"),
		expires: signatureSkewMax,
	}
	if text := query.Get("X-Amz-Expires"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 || seconds > int(presignedTimeMax/time.Second) {
			return nil, incompleteSignature("X-Amz-Expires must be between 1 and 604800 seconds")
		}
		s.expires = time.Duration(seconds) * time.Second
	}
	return s, s.readCredential(query.Get("X-Amz-Credential"))
}

// readCredential splits a credential into an id, which may contain slashes, and the scope of its
// derived key.
func (s *signature) readCredential(credential string) error {
	parts := strings.Split(credential, "/")
	if len(parts) < 5 {
		return incompleteSignature("Credential must have exactly 5 slash-delimited elements, e.g. " +
			"keyid/date/region/service/term, got '" + credential + "'")
	}
	scope := parts[len(parts)-4:]
	s.id = strings.Join(parts[:len(parts)-4], "/")
	s.date, s.region = scope[0], scope[1]
	switch {
	case scope[2] != signingService:
		return invalidSignature("Credential should be scoped to correct service: '" +
			signingService + "'. ")
	case scope[3] != signingEnd:
		return invalidSignature("Credential should be scoped with a valid terminator: '" +
			signingEnd + "', not '" + scope[3] + "'. ")
	case !strings.HasPrefix(s.time, s.date):
		return invalidSignature("Date in Credential scope does not match YYYYMMDD from ISO-8601 " +
			"version of date from HTTP: '" + s.date + "' != '" + s.time + "'. ")
	}
	return nil
}

// checkTime refuses a signature that has expired or is from the future.
func (s *signature) checkTime(now time.Time) error {
	signed, err := time.Parse(signingTime, s.time)
	if err != nil {
		return incompleteSignature("Date must be in ISO-8601 'basic format'. Got '" + s.time + "'.")
	}
	allowed := signatureSkewMax
	if s.presigned {
		allowed = s.expires
	}
	now = now.UTC()
	switch {
	case now.Sub(signed) > allowed:
		return invalidSignature("Signature expired: " + s.time + " is now earlier than " +
			now.Add(-allowed).Format(signingTime) + " (" + now.Format(signingTime) + " - " +
			strconv.Itoa(int(allowed/time.Minute)) + " min.)")
	case signed.Sub(now) > signatureSkewMax:
		return invalidSignature("Signature not yet current: " + s.time + " is still later than " +
			now.Add(signatureSkewMax).Format(signingTime) + " (" + now.Format(signingTime) +
			" + 5 min.)")
	}
	return nil
}

// checkHeaders refuses a signature that does not include the headers that define the request: the
// host and every header of AWS, one of which is the operation.
func (s *signature) checkHeaders(req *http.Request) error {
	missing := func(name string) error {
		return invalidSignature("'" + name + "' must be a 'SignedHeader' in the AWS Authorization.")
	}
	if !slices.Contains(s.headers, "host") {
		return missing("Host")
	}
	for name := range req.Header {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "x-amz-") && !slices.Contains(s.headers, lower) {
			return missing(name)
		}
	}
	return nil
}

// payloadHash returns the hash of the body that was signed. A client may declare that it did not
// sign the body.
func payloadHash(req *http.Request, body []byte) (string, error) {
	told := req.Header.Get(payloadHeader)
	if told == unsignedPayload {
		return told, nil
	}
	sum := sha256.Sum256(body)
	got := hex.EncodeToString(sum[:])
	if told != "" && told != got {
		return "", invalidSignature("The value of 'X-Amz-Content-Sha256' does not match what was " +
			"computed from the body.")
	}
	return got, nil
}

// canonical returns the text whose hash is signed.
func (s *signature) canonical(req *http.Request, payload string) string {
	var b strings.Builder
	b.WriteString(req.Method + "\n/\n")
	b.WriteString(canonicalQuery(req.URL.RawQuery))
	b.WriteByte('\n')
	for _, name := range s.headers {
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(headerValue(req, name))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	b.WriteString(strings.Join(s.headers, ";"))
	b.WriteByte('\n')
	b.WriteString(payload)
	return b.String()
}

// headerValue returns a header as it is signed: all its values joined, and runs of blanks as one
// blank.
func headerValue(req *http.Request, name string) string {
	switch name {
	case "host":
		return req.Host
	case "content-length":
		return strconv.FormatInt(req.ContentLength, 10)
	}
	values := slices.Clone(req.Header.Values(name))
	for i, v := range values {
		values[i] = strings.Join(strings.Fields(v), " ")
	}
	return strings.Join(values, ",")
}

// canonicalQuery returns the sorted parameters of the URL in canonical escaping, without the
// signature.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	var pairs []string
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, value = reescape(name), reescape(value)
		if part != "" && name != "X-Amz-Signature" {
			pairs = append(pairs, name+"="+value)
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// reescape escapes a part of a URL as the signing protocol requires, independent of the client's
// escaping.
func reescape(part string) string {
	plain, err := url.QueryUnescape(part)
	if err != nil {
		plain = part
	}
	return strings.ReplaceAll(url.QueryEscape(plain), "+", "%20")
}

// sign returns the signature of a canonical text with a secret.
func (s *signature) sign(secret, canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	text := signingAlgorithm + "\n" + s.time + "\n" +
		s.date + "/" + s.region + "/" + signingService + "/" + signingEnd + "\n" +
		hex.EncodeToString(sum[:])
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.date, s.region, signingService, signingEnd, text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}
