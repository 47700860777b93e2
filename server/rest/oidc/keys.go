package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keysMax bounds the keys of an issuer, each of which may be tried on a token that names none.
	// Issuers have one to four.
	keysMax = 64
	// rsaBitsMin is the least size of RSA keys: RFC 7518, section 3.3, asks for it.
	rsaBitsMin = 2048
)

// published are the keys that the issuer has at a time.
type published []jose.JSONWebKey

// readKeys reads a JWK set. Keys that no signature can be verified with here are left out, as RFC
// 7517, section 5, asks: an issuer may have others for other uses.
func readKeys(text []byte) (published, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("the keys are no JWK set: %w", err)
	}
	if len(set.Keys) > keysMax {
		return nil, fmt.Errorf("there are %d keys, more than %d", len(set.Keys), keysMax)
	}
	var keys published
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(text, &key); err != nil || key.Use != "" && key.Use != "sig" {
			continue
		}
		if len(fitting(key)) > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key that signatures can be verified with")
	}
	return keys, nil
}

// fitting returns the algorithms that a key may verify: what its kind allows, and of these only the
// one that it says it is for, if it says so. Private and symmetric keys fit none.
func fitting(key jose.JSONWebKey) []jose.SignatureAlgorithm {
	var fit []jose.SignatureAlgorithm
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() >= rsaBitsMin {
			fit = []jose.SignatureAlgorithm{
				jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
			}
		}
	case *ecdsa.PublicKey:
		switch public.Curve {
		case elliptic.P256():
			fit = []jose.SignatureAlgorithm{jose.ES256}
		case elliptic.P384():
			fit = []jose.SignatureAlgorithm{jose.ES384}
		case elliptic.P521():
			fit = []jose.SignatureAlgorithm{jose.ES512}
		}
	case ed25519.PublicKey:
		fit = []jose.SignatureAlgorithm{jose.EdDSA}
	}
	if key.Algorithm == "" {
		return fit
	}
	for _, a := range fit {
		if string(a) == key.Algorithm {
			return []jose.SignatureAlgorithm{a}
		}
	}
	return nil
}

// named returns the keys of a name. A token without a name may be of any key.
func (p published) named(id string) published {
	if id == "" {
		return p
	}
	var found published
	for _, key := range p {
		if key.KeyID == id {
			found = append(found, key)
		}
	}
	return found
}

// verify returns what a token's signature covers, if it is by one of the keys.
func (p published) verify(token *jose.JSONWebSignature) (payload []byte, ok bool) {
	algorithm := token.Signatures[0].Protected.Algorithm
	for _, key := range p {
		for _, a := range fitting(key) {
			if string(a) != algorithm {
				continue
			}
			if payload, err := token.Verify(key.Key); err == nil {
				return payload, true
			}
		}
	}
	return nil, false
}

// keySet verifies one token with the issuer's keys.
type keySet struct {
	issuer *issuer
	token  *jose.JSONWebSignature
	err    error // The problem that was found: the caller wraps it so that it cannot be asked.
}

// VerifySignature returns what the token's signature covers. The text is that of the token that was
// parsed already.
func (k *keySet) VerifySignature(ctx context.Context, _ string) ([]byte, error) {
	payload, err := k.issuer.verify(ctx, k.token)
	k.err = err
	return payload, err
}
