package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// Scope is something that a key allows.
type Scope = api.Scope

const (
	prefix = "exq_"
	// idBytes make ids that a person can tell apart and that do not collide among the keys of one
	// server.
	idBytes = 8
	// secretBytes are more than anyone can try out; see the package's description.
	secretBytes = 32
	// nameMax is the maximum length of a key's name in bytes.
	nameMax = 100
)

// Key is an API key, without its secret.
type Key struct {
	ID string `dynamodbav:"ID"`
	// Name is what the key is for.
	Name   string  `dynamodbav:"Name"`
	Scopes []Scope `dynamodbav:"Scopes"`
	// Subject is the person whose data the key reaches; empty for a key that reaches nobody's. It
	// is set when the key is made and never afterwards.
	Subject person.Subject `dynamodbav:"Subject,omitempty"`
	// Hash is the SHA-256 of the secret in hexadecimal digits.
	Hash      string    `dynamodbav:"Hash"`
	CreatedAt time.Time `dynamodbav:"CreatedAt"`
	// ExpiresAt and RevokedAt are zero where they do not apply.
	ExpiresAt time.Time `dynamodbav:"ExpiresAt,omitempty"`
	RevokedAt time.Time `dynamodbav:"RevokedAt,omitempty"`
}

// Allows reports whether the key has a scope.
func (k Key) Allows(s Scope) bool { return slices.Contains(k.Scopes, s) }

// valid reports whether the key may be used at an instant.
func (k Key) valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// fits reports in constant time whether a secret is the key's.
func (k Key) fits(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(hash(secret)), []byte(k.Hash)) == 1
}

// New asks for a key.
type New struct {
	Name   string
	Scopes []Scope
	// Subject binds the key to a person; it may be empty.
	Subject person.Subject
	// ExpiresAt ends the key; zero means never.
	ExpiresAt time.Time
}

func (n New) check(now time.Time) error {
	var wrong problem.Fields
	switch {
	case n.Name == "":
		wrong.Add("name", "is missing")
	case len(n.Name) > nameMax:
		wrong.Addf("name", "must have at most %d bytes", nameMax)
	}
	if len(n.Scopes) == 0 {
		wrong.Add("scopes", "must name what the key allows: "+scopeList())
	}
	for i, s := range n.Scopes {
		if !slices.Contains(api.Scopes(), s) {
			wrong.Add(fmt.Sprintf("scopes[%d]", i), "must be one of "+scopeList())
		}
	}
	if n.Subject != "" {
		if err := n.Subject.Check(); err != nil {
			wrong.Add("subject", err.Error())
		}
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
		wrong.Add("expiresAt", "must be in the future")
	}
	return wrong.Err(problem.ErrRequestInvalid)
}

func scopeList() string {
	var names []string
	for _, s := range api.Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// hash returns what is stored of a secret.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// random returns n random bytes in hexadecimal digits.
func random(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data) // Never fails, by its documentation.
	return hex.EncodeToString(data)
}

// tokenOf joins a key's id and its secret.
func tokenOf(id, secret string) string { return prefix + id + "_" + secret }

// Is reports whether a bearer token has the form of a key rather than that of a user's token.
func Is(token string) bool { return strings.HasPrefix(token, prefix) }

// parse takes a token apart.
func parse(token string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(token, prefix)
	if !ok {
		return "", "", false
	}
	id, secret, ok = strings.Cut(rest, "_")
	return id, secret, ok && len(id) == 2*idBytes && len(secret) == 2*secretBytes
}
