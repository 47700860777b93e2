package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

func TestTheBooksThatAreMadeBalance(t *testing.T) {
	dir := t.TempDir()
	if err := fill(t.Context(), dir, 60); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := checkBooks(t.Context(), &out, dir); err != nil ||
		!strings.Contains(out.String(), "balanced: 60 transactions, 120 legs, ") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

func TestANumberThatIsNoneIsRefused(t *testing.T) {
	for _, counts := range []string{"", "0", "x", "-1,10"} {
		if err := run(context.Background(), io.Discard, counts, t.TempDir(), false); err == nil {
			t.Errorf("%q is taken", counts)
		}
	}
}
