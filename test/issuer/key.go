package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // crypto.SHA384 and crypto.SHA512
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
)

// rsaBits is the usual size of keys of issuers.
const rsaBits = 2048

// Key is a key that signs tokens.
type Key struct {
	ID, Algorithm string
	// Use and Says are the use and the algorithm of the published key; either may be empty.
	Use, Says string

	t      testing.TB
	signer crypto.Signer
}

// NewKey makes a key for an algorithm of RFC 7518, or EdDSA. Its id is random.
func NewKey(t testing.TB, algorithm string) *Key {
	t.Helper()
	k := &Key{ID: rand.Text(), Algorithm: algorithm, Use: "sig", Says: algorithm, t: t}
	var err error
	switch {
	case algorithm == "EdDSA":
		_, k.signer, err = ed25519.GenerateKey(rand.Reader)
	case strings.HasPrefix(algorithm, "ES"):
		k.signer, err = ecdsa.GenerateKey(curves[algorithm], rand.Reader)
	default:
		k.signer, err = rsa.GenerateKey(rand.Reader, rsaBits)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// NewRSAKey makes an RSA key of a size in bits, for RS256.
func NewRSAKey(t testing.TB, bits int) *Key {
	t.Helper()
	signer, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{ID: rand.Text(), Algorithm: "RS256", Use: "sig", Says: "RS256", t: t,
		signer: signer}
}

// As returns the same key for another algorithm of its type, with a different id.
func (k *Key) As(algorithm string) *Key {
	other := *k
	other.ID, other.Algorithm, other.Says = rand.Text(), algorithm, algorithm
	return &other
}

var curves = map[string]elliptic.Curve{
	"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521(),
}

// hashes are those of the algorithms, by the digits in their names.
var hashes = map[string]crypto.Hash{
	"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512,
}

// Public returns the key as an entry of a JWK set (RFC 7517).
func (k *Key) Public() map[string]string {
	entry := map[string]string{"kid": k.ID}
	if k.Use != "" {
		entry["use"] = k.Use
	}
	if k.Says != "" {
		entry["alg"] = k.Says
	}
	switch public := k.signer.Public().(type) {
	case *rsa.PublicKey:
		var e [8]byte
		binary.BigEndian.PutUint64(e[:], uint64(public.E))
		entry["kty"], entry["n"] = "RSA", encode(public.N.Bytes())
		entry["e"] = encode([]byte(strings.TrimLeft(string(e[:]), "\x00")))
	case *ecdsa.PublicKey:
		point, err := public.Bytes() // 4, x, y
		if err != nil {
			k.t.Fatal(err)
		}
		size := len(point) / 2
		entry["kty"], entry["crv"] = "EC", public.Params().Name
		entry["x"], entry["y"] = encode(point[1:1+size]), encode(point[1+size:])
	case ed25519.PublicKey:
		entry["kty"], entry["crv"], entry["x"] = "OKP", "Ed25519", encode(public)
	}
	return entry
}

// PEM returns the public key in the form in which it lies about in files: what a verifier that
// confuses algorithms takes for a secret.
func (k *Key) PEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.signer.Public())
	if err != nil {
		k.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// sign returns the signature of a text.
func (k *Key) sign(text []byte) []byte {
	if k.Algorithm == "EdDSA" {
		return k.must(k.signer.Sign(rand.Reader, text, crypto.Hash(0)))
	}
	hash := hashes[k.Algorithm[2:]]
	h := hash.New()
	h.Write(text)
	sum := h.Sum(nil)
	switch private := k.signer.(type) {
	case *rsa.PrivateKey:
		if strings.HasPrefix(k.Algorithm, "PS") {
			return k.must(rsa.SignPSS(rand.Reader, private, hash, sum,
				&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}))
		}
		return k.must(rsa.SignPKCS1v15(rand.Reader, private, hash, sum))
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, sum)
		if err != nil {
			k.t.Fatal(err)
		}
		size := (private.Params().BitSize + 7) / 8
		signature := make([]byte, 2*size) // RFC 7518, section 3.4
		r.FillBytes(signature[:size])
		s.FillBytes(signature[size:])
		return signature
	}
	k.t.Fatalf("a key for %s cannot sign", k.Algorithm)
	return nil
}

func (k *Key) must(signature []byte, err error) []byte {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
	return signature
}

// Values are the members of a header or of the claims of a token.
type Values = map[string]any

// Sign returns a token with these members, as they are, signed by the key.
func (k *Key) Sign(header, claims Values) string {
	text := k.encoded(header, claims)
	return text + "." + encode(k.sign([]byte(text)))
}

// SignHMAC returns a token that is signed with HS256 and a secret, as only a forger would here.
func (k *Key) SignHMAC(header, claims Values, secret []byte) string {
	text := k.encoded(header, claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

// Unsigned returns a token without a signature.
func (k *Key) Unsigned(header, claims Values) string { return k.encoded(header, claims) + "." }

func (k *Key) encoded(header, claims Values) string {
	return k.part(header) + "." + k.part(claims)
}

func (k *Key) part(members Values) string {
	text, err := json.Marshal(members)
	if err != nil {
		k.t.Fatal(err)
	}
	return encode(text)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
