package singletable_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/singletable"
)

func TestASealedTextIsKnownAgainForItsPurposeAlone(t *testing.T) {
	s := singletable.NewStore(nil, singletable.Options{CursorKey: []byte("one key")})
	other := singletable.NewStore(nil, singletable.Options{CursorKey: []byte("another key")})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		sealed := s.Seal("search", text)
		if got, ok := s.Unseal("search", sealed); !ok || got != text {
			t.Fatalf("got %q %t", got, ok)
		}
		if _, ok := s.Unseal("list", sealed); ok {
			t.Fatal("another purpose")
		}
		if _, ok := other.Unseal("search", sealed); ok {
			t.Fatal("another key")
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		changed := []byte(sealed)
		changed[at] = rapid.SampledFrom([]byte("abcXYZ-_ %")).Draw(t, "byte")
		if _, ok := s.Unseal("search", string(changed)); ok && string(changed) != sealed {
			t.Fatalf("%s was changed", changed)
		}
	})
	for _, text := range []string{"", "x", "%%%"} {
		if _, ok := s.Unseal("search", text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}
