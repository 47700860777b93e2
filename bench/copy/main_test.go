package main

import (
	"strings"
	"testing"
)

func TestWhatComesBackIsWhatWasThere(t *testing.T) {
	for _, via := range []string{viaEndpoint, viaEngine} {
		t.Run("by way of the "+via, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), &out, options{
				items: 20_000, segments: 2, via: via, dir: t.TempDir(),
			})
			if err != nil || !strings.Contains(out.String(), "there, resumed, check") ||
				strings.Count(out.String(), "of 20000 items\n") != 2 {
				t.Errorf("%v:\n%s", err, out.String())
			}
			t.Log("\n" + out.String())
		})
	}
}
