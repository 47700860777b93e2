package oidc_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/test/issuer"
)

// forgery is a token that somebody made up.
type forgery struct {
	name, token string
	want        *problem.Definition
}

func algorithmForgeries(d *desk) []forgery {
	key, claims := d.Newest(), d.Claims("alice", app)
	header := func(algorithm string) issuer.Values {
		return issuer.Values{"alg": algorithm, "kid": key.ID, "typ": "JWT"}
	}
	modulus, _ := base64.RawURLEncoding.DecodeString(key.Public()["n"])
	return []forgery{
		{"none", key.Unsigned(header("none"), claims), oidc.ErrAlgorithm},
		{"None", key.Unsigned(header("None"), claims), oidc.ErrAlgorithm},
		{"no algorithm", key.Unsigned(issuer.Values{"kid": key.ID}, claims), oidc.ErrAlgorithm},
		{"RS256 without a signature", key.Unsigned(header("RS256"), claims), oidc.ErrSignature},
		{"HS256 with the public key as the secret",
			key.SignHMAC(header("HS256"), claims, key.PEM()), oidc.ErrAlgorithm},
		{"HS256 with the modulus as the secret",
			key.SignHMAC(header("HS256"), claims, modulus), oidc.ErrAlgorithm},
		{"HS256 with nothing as the secret",
			key.SignHMAC(header("HS256"), claims, nil), oidc.ErrAlgorithm},
		{"RS256 whose signature is of HS256",
			key.SignHMAC(header("RS256"), claims, key.PEM()), oidc.ErrSignature},
		{"a hash that the key is not for", key.As("RS512").Sign(header("RS512"), claims),
			oidc.ErrSignature},
		{"a padding that the key is not for", key.As("PS256").Sign(header("PS256"), claims),
			oidc.ErrSignature},
		{"the curve of another kind of key", key.Sign(header("ES256"), claims),
			oidc.ErrSignature},
		{"an algorithm nobody knows", key.Sign(header("XS256"), claims), oidc.ErrAlgorithm},
	}
}

func keyForgeries(t *testing.T, d *desk) []forgery {
	own, mine, claims := d.Newest(), issuer.NewKey(t, "RS256"), d.Claims("alice", app)
	mine.ID = own.ID
	other := issuer.NewKey(t, "ES256")
	with := func(name string, value any) issuer.Values {
		return issuer.Values{"alg": "RS256", "kid": own.ID, "typ": "JWT", name: value}
	}
	address := d.Name() + "/my-keys"
	return []forgery{
		{"a key of the forger's under the issuer's id", mine.Sign(d.Header(), claims),
			oidc.ErrSignature},
		{"a key that the token brings along", mine.Sign(with("jwk", mine.Public()), claims),
			oidc.ErrSignature},
		{"a key that the token points to", mine.Sign(with("jku", address), claims),
			oidc.ErrSignature},
		{"a certificate that the token points to", mine.Sign(with("x5u", address), claims),
			oidc.ErrSignature},
		{"a key that is not published", other.Sign(
			issuer.Values{"alg": "ES256", "kid": other.ID}, claims), oidc.ErrKeyUnknown},
		{"a key that is not published, without an id", other.Sign(
			issuer.Values{"alg": "ES256"}, claims), oidc.ErrSignature},
		{"an id that is a path", mine.Sign(with("kid", "../../dev/null"), claims),
			oidc.ErrKeyUnknown},
		{"an extension that must be understood", own.Sign(
			with("crit", []string{"exp"}), claims), oidc.ErrSignature},
	}
}

func formForgeries(d *desk) []forgery {
	good := d.Token("alice", app)
	parts := strings.Split(good, ".")
	claims := d.Claims("mallory", app)
	swapped := strings.Split(d.Newest().Sign(d.Header(), claims), ".")[1]
	payload := func(text string) string {
		return parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(text)) + "." + parts[2]
	}
	json := fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`,
		parts[1], parts[0], parts[2])
	return []forgery{
		{"the claims of another token", parts[0] + "." + swapped + "." + parts[2],
			oidc.ErrSignature},
		{"a signature that is cut short", good[:len(good)-8], oidc.ErrSignature},
		{"nothing", "", oidc.ErrMalformed},
		{"a word", "secret", oidc.ErrMalformed},
		{"two parts", parts[0] + "." + parts[1], oidc.ErrMalformed},
		{"four parts", good + ".x", oidc.ErrMalformed},
		{"dots", "..", oidc.ErrAlgorithm},
		{"the form for several signatures", json, oidc.ErrMalformed},
		{"a blank inside", good[:10] + " " + good[10:], oidc.ErrMalformed},
		{"no base64", parts[0] + ".§." + parts[2], oidc.ErrMalformed},
		{"claims that are no JSON", payload("sub=alice"), oidc.ErrMalformed},
		{"claims that are a list", payload("[]"), oidc.ErrMalformed},
		{"claims that are null", payload("null"), oidc.ErrMalformed},
		{"a subject that is a number", d.Token("a", app, issuer.Values{"sub": 1}),
			oidc.ErrMalformed},
		{"an audience that is an object", d.Token("a", issuer.Values{app: app}),
			oidc.ErrMalformed},
		{"an audience of numbers", d.Token("a", []int{1}), oidc.ErrMalformed},
		{"an endless audience", d.Token("a", append(make([]string, 100), app)),
			oidc.ErrMalformed},
		{"a huge token", d.Token("a", app, issuer.Values{
			"groups": strings.Repeat("x", oidc.TokenMax)}), oidc.ErrMalformed},
		{"a megabyte of dots", strings.Repeat(".", 1<<20), oidc.ErrMalformed},
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	d := open(t, "RS256")
	token := d.Token("alice", app)
	for _, group := range [][]forgery{
		algorithmForgeries(d), keyForgeries(t, d), formForgeries(d),
	} {
		for _, f := range group {
			t.Run(f.name, func(t *testing.T) {
				d.t = t
				d.refused(f.token, f.want)
			})
		}
	}
	d.t = t
	d.taken(token, "alice")
}

// A change of any character of a token makes it worthless.
func TestATokenWithAnotherCharacterIsRefused(t *testing.T) {
	d := open(t, "ES256")
	token := d.Token("alice", app)
	d.taken(token, "alice")
	for i := range token {
		changed := []byte(token)
		if changed[i]++; changed[i] == 'Z'+1 || changed[i] == 'z'+1 || changed[i] == '9'+1 {
			changed[i] -= 2
		}
		who, err := d.Verify(t.Context(), string(changed))
		// Two bits of the last character of a part stand for nothing.
		last := i+1 == len(token) || token[i+1] == '.'
		if err == nil && !last {
			t.Errorf("with another character at %d it is taken for %s", i, who)
		}
		if who != "" && who != "alice" {
			t.Errorf("with another character at %d it is taken for %s", i, who)
		}
	}
}

// Keys that are published for other uses, or are too weak, verify nothing.
func TestKeysForOtherUsesVerifyNothing(t *testing.T) {
	d := open(t, "ES256")
	encryption := issuer.NewKey(t, "ES256")
	encryption.Use = "enc"
	d.PublishRaw(encryption.Public())
	secret := base64.RawURLEncoding.EncodeToString([]byte("a secret that was published by mistake"))
	d.PublishRaw(map[string]string{"kty": "oct", "kid": "oct", "k": secret})
	d.PublishRaw(map[string]string{"kty": "OKP", "crv": "Ed448", "kid": "448", "x": "AAAA"})
	d.PublishRaw(map[string]string{
		"kty": "EC", "crv": "P-256", "kid": "off", "x": "AAAA", "y": "AAAA",
	})
	d.PublishRaw(map[string]string{
		"kty": "RSA", "kid": "weak", "n": strings.Repeat("w", 128), "e": "AQAB",
	})
	d.PublishRaw("no key at all")
	d.taken(d.Token("alice", app), "alice")
	d.refused(encryption.Sign(issuer.Values{"alg": "ES256", "kid": encryption.ID},
		d.Claims("alice", app)), oidc.ErrKeyUnknown)
	for _, id := range []string{"oct", "448", "off", "weak"} {
		d.refused(d.Newest().Sign(issuer.Values{"alg": "ES256", "kid": id},
			d.Claims("alice", app)), oidc.ErrKeyUnknown)
	}
}

// An RSA key of fewer bits than RFC 7518 asks for verifies nothing, though its signature is right.
func TestAWeakKeyVerifiesNothing(t *testing.T) {
	d := open(t, "ES256")
	keys := map[int]*issuer.Key{}
	for _, bits := range []int{1024, 2040, 2048} {
		keys[bits] = issuer.NewRSAKey(t, bits)
		d.PublishRaw(keys[bits].Public())
	}
	token := func(bits int) string {
		return keys[bits].Sign(issuer.Values{"alg": "RS256", "kid": keys[bits].ID},
			d.Claims("alice", app))
	}
	d.taken(token(2048), "alice")
	d.refused(token(2040), oidc.ErrKeyUnknown)
	d.refused(token(1024), oidc.ErrKeyUnknown)
}

// A key that does not say what it is for is for what its kind allows.
func TestAKeyWithoutAWordOnItsUseIsTaken(t *testing.T) {
	d := open(t, "ES384")
	d.Newest().Use, d.Newest().Says = "", ""
	d.taken(d.Token("alice", app), "alice")
}
