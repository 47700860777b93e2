package singletable

import (
	"crypto/hmac"
	"encoding/base64"
)

// Seal signs a text for a purpose with the key of cursors, so that Unseal knows it again: for a
// cursor that a caller makes of more than one pattern. The answer is opaque and URL-safe; it does
// not hide the text.
func (s *Store) Seal(purpose, text string) string {
	mac := s.mac(sealBody(purpose, text))
	return base64.RawURLEncoding.EncodeToString(append([]byte(text), mac...))
}

// Unseal returns the text that Seal signed for the same purpose. It is not ok for anything else.
func (s *Store) Unseal(purpose, sealed string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < macLen {
		return "", false
	}
	text = string(raw[:len(raw)-macLen])
	return text, hmac.Equal(raw[len(raw)-macLen:], s.mac(sealBody(purpose, text)))
}

// sealBody is what is signed. A cursor of a pattern begins with its version, so that none can be
// taken for the other.
func sealBody(purpose, text string) []byte {
	body := append([]byte{0}, purpose...)
	return append(append(body, 0), text...)
}
