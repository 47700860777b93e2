package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// TokenMax is the maximum length of a token in bytes. Those of Cognito have one to two thousand;
// the limit leaves room for long lists of groups, and for the other headers of a request.
const TokenMax = 8 << 10

// algorithms are those of signatures that anybody can check and only the issuer can make. "none"
// proves nothing. HS256 and its like prove that the signer knows what verifies, and what verifies
// here is public.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Algorithms returns the names of the algorithms that tokens may be signed by.
func Algorithms() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	return names
}

// Verifier verifies the tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	opts   Options
	issuer *issuer
}

// New returns a verifier. It does no I/O: the issuer is asked when the first token comes, or by
// Connect.
func New(opts Options) (*Verifier, error) {
	if err := opts.Check(); err != nil {
		return nil, fmt.Errorf("tokens of users: %w", err)
	}
	opts = opts.withDefaults()
	return &Verifier{opts: opts, issuer: newIssuer(opts)}, nil
}

// Connect asks the issuer for its description and keys. An error of [*NameError] means that the
// issuer has another name than the verifier was given, so that no token will ever do. Any other
// error may pass: each token that comes later makes the verifier try again.
func (v *Verifier) Connect(ctx context.Context) error {
	_, err := v.issuer.refreshed(ctx)
	return err
}

// Close ends requests to the issuer that are under way.
func (v *Verifier) Close() { v.issuer.close() }

// Verify returns the person that a token identifies, or one of the Problems.
func (v *Verifier) Verify(ctx context.Context, token string) (person.Subject, error) {
	parsed, err := parse(token)
	if err != nil {
		return "", err
	}
	// What refuses a token whoever signed it is looked at first, so that only tokens that might be
	// good make the issuer be asked for a key.
	if _, err := v.read(parsed.UnsafePayloadWithoutVerification()); err != nil {
		return "", err
	}
	keys := &keySet{issuer: v.issuer, token: parsed}
	verified, err := oidc.NewVerifier(v.opts.Issuer, keys, &oidc.Config{
		SupportedSigningAlgs: Algorithms(), SkipClientIDCheck: true, SkipExpiryCheck: true,
	}).Verify(ctx, token)
	switch {
	case keys.err != nil:
		return "", keys.err
	case err != nil:
		return "", ErrMalformed.With("reason", "has claims of the wrong kind").Wrap(err)
	}
	// Read again, now from what the signature covers, because only this can be trusted.
	var payload json.RawMessage
	if err := verified.Claims(&payload); err != nil {
		return "", ErrMalformed.With("reason", "has claims of the wrong kind").Wrap(err)
	}
	return v.read(payload)
}

// read reads the claims of a token and returns its subject, if they let it be used here and now.
func (v *Verifier) read(payload []byte) (person.Subject, error) {
	c, err := readClaims(payload)
	if err != nil {
		return "", err
	}
	if err := c.check(v.opts, v.opts.Now()); err != nil {
		return "", err
	}
	return person.Subject(c.subject), nil
}

// types are what the header of a token may say that the token is, if it says so: those of RFC 7519,
// section 5.1, and of RFC 9068, section 2.1. Logout tokens and proofs of possession have others.
var types = []string{"JWT", "at+jwt", "application/at+jwt"}

// parse reads a token in the compact form, the only one that is sent as a bearer token. It does not
// verify it.
func parse(token string) (*jose.JSONWebSignature, error) {
	if len(token) > TokenMax {
		return nil, ErrMalformed.With("reason", fmt.Sprintf("has more than %d bytes", TokenMax))
	}
	parsed, err := jose.ParseSignedCompact(token, algorithms)
	var algorithm *jose.ErrUnexpectedSignatureAlgorithm
	switch {
	case errors.As(err, &algorithm):
		return nil, ErrAlgorithm
	case err != nil || len(parsed.Signatures) != 1:
		return nil, ErrMalformed.With("reason", "is no signed JWT")
	}
	kind, found := parsed.Signatures[0].Protected.ExtraHeaders["typ"]
	for _, t := range types {
		if text, _ := kind.(string); !found || strings.EqualFold(text, t) {
			return parsed, nil
		}
	}
	return nil, ErrWrongUse
}
