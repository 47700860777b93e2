package oidc

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// Skew is how far the clocks of the issuer and of this server may be apart: a token is taken so
// much before it begins and after it ends. A minute is more than clocks that are set by the network
// differ, and little beside the hour for which tokens usually live.
const Skew = time.Minute

// The uses that Cognito names.
const (
	useID     = "id"
	useAccess = "access"
)

// claims are the claims of a token that matter here.
type claims struct {
	issuer, subject string
	audience        []string
	use, clientID   string
	// expires is never zero; begins and issued are zero where the token does not say.
	expires, begins, issued time.Time
	// event reports that the token reports something that happened, such as a logout (RFC 8417):
	// the same issuer signs it for the same audience.
	event bool
}

// readClaims reads a payload. Names are compared exactly, which a Go struct would not do: issuers
// let others choose names of claims, and "SUB" must not pass for "sub".
func readClaims(payload []byte) (claims, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(payload, &all); err != nil || all == nil {
		return claims{}, ErrMalformed.With("reason", "has no claims")
	}
	var (
		c claims
		r = reader{claims: all}
	)
	r.text("iss", &c.issuer)
	r.text("sub", &c.subject)
	r.text("token_use", &c.use)
	r.text("client_id", &c.clientID)
	r.texts("aud", &c.audience)
	r.instant("exp", &c.expires)
	r.instant("nbf", &c.begins)
	r.instant("iat", &c.issued)
	_, c.event = all["events"]
	if r.wrong == "" && c.expires.IsZero() {
		r.wrong = "has no end (exp)"
	}
	if r.wrong != "" {
		return claims{}, ErrMalformed.With("reason", r.wrong)
	}
	return c, nil
}

// check returns the first problem of the claims at an instant.
func (c claims) check(opts Options, now time.Time) error {
	switch {
	case c.issuer != opts.Issuer:
		return ErrWrongIssuer.With("issuer", opts.Issuer)
	case c.event, c.use != "" && c.use != useID && c.use != useAccess:
		return ErrWrongUse
	case !c.isFor(opts.ClientIDs):
		return ErrWrongAudience
	}
	if err := person.Subject(c.subject).Check(); err != nil {
		return ErrInvalidSubject.With("reason", err)
	}
	latest := now.Add(Skew)
	switch {
	case !now.Before(c.expires.Add(Skew)):
		return ErrExpired
	case c.begins.After(latest), c.issued.After(latest):
		return ErrNotYetValid
	}
	return nil
}

// isFor reports whether the token was made for one of some apps. An access token of Cognito says so
// in client_id; if it has an audience besides, it was made for that one API alone.
func (c claims) isFor(clientIDs []string) bool {
	named := slices.ContainsFunc(c.audience, func(a string) bool {
		return slices.Contains(clientIDs, a)
	})
	if c.use == useAccess {
		return slices.Contains(clientIDs, c.clientID) && (named || len(c.audience) == 0)
	}
	return named
}

// audienceMax bounds the list of who a token is for.
const audienceMax = 100

// secondsMax is the last second of the year 9999. What is later is a mistake of units, such as
// milliseconds, and would make a token that never ends.
const secondsMax = 253_402_300_799

// reader reads claims. The first that is of the wrong kind stays.
type reader struct {
	claims map[string]json.RawMessage
	wrong  string
}

// read reports whether a claim is there, and was read.
func (r *reader) read(name string, into any) bool {
	text, found := r.claims[name]
	if !found || string(text) == "null" {
		return false
	}
	if err := json.Unmarshal(text, into); err != nil {
		r.fault(name)
		return false
	}
	return true
}

func (r *reader) fault(name string) {
	if r.wrong == "" {
		r.wrong = fmt.Sprintf("has a claim %s of the wrong kind", name)
	}
}

func (r *reader) text(name string, into *string) { r.read(name, into) }

// texts reads a list, or one text that represents a list of one.
func (r *reader) texts(name string, into *[]string) {
	if text := r.claims[name]; len(text) > 0 && text[0] == '"' {
		var one string
		if r.read(name, &one) {
			*into = []string{one}
		}
		return
	}
	if r.read(name, into) && len(*into) > audienceMax {
		r.fault(name)
	}
}

// instant reads a number of seconds since 1970, which may have a fraction (RFC 7519, section 2).
func (r *reader) instant(name string, into *time.Time) {
	var seconds float64
	if !r.read(name, &seconds) {
		return
	}
	if seconds < 0 || seconds > secondsMax {
		r.fault(name)
		return
	}
	*into = time.UnixMilli(int64(seconds * 1000))
}
