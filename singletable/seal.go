package singletable

import (
	"crypto/hmac"
	"encoding/base64"
)

// Seal signs a text for a purpose with the key of cursors, so that Unseal can verify it. It is for
// cursors that a caller builds from more than one pattern. The result is URL-safe. It does not hide
// the text.
func (s *Store) Seal(purpose, text string) string {
	mac := s.mac(sealBody(purpose, text))
	return base64.RawURLEncoding.EncodeToString(append([]byte(text), mac...))
}

// Unseal returns the text that Seal signed for the same purpose. ok is false for any other text.
func (s *Store) Unseal(purpose, sealed string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < macLen {
		return "", false
	}
	text = string(raw[:len(raw)-macLen])
	return text, hmac.Equal(raw[len(raw)-macLen:], s.mac(sealBody(purpose, text)))
}

// sealBody returns the signed bytes. They begin with zero and a cursor of a pattern begins with its
// version, so that neither can be used as the other.
func sealBody(purpose, text string) []byte {
	body := append([]byte{0}, purpose...)
	return append(append(body, 0), text...)
}
