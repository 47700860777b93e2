package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestEachSizeIsALine(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, "100,2500", 20, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[2], "2500") {
		t.Errorf("printed\n%s", out.String())
	}
}

func TestANumberThatDoesNotFitIsRefused(t *testing.T) {
	for _, sizes := range []string{"", "x", "50", "150"} {
		if err := run(&bytes.Buffer{}, sizes, 1, t.TempDir()); err == nil {
			t.Errorf("%q is taken", sizes)
		}
	}
}
