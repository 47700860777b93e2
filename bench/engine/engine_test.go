package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// The program runs every case on the stores that need nothing installed, and names what it left
// out.
func TestTheTableIsPrinted(t *testing.T) {
	var out, progress bytes.Buffer
	code := run(context.Background(), []string{
		"-rounds", "1", "-duration", "30ms", "-warmup", "0s", "-callers", "2",
		"-stores", "in process", "-dir", t.TempDir(),
	}, &out, &progress)
	if code != 0 {
		t.Fatalf("status %d: %s", code, &progress)
	}
	for _, want := range []string{
		"GetItem 1 KB, 2 callers", "payment (6 actions), 2 callers", "exchequer, in process, disk",
		"not measured: dynoxide",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-callers", "0"}, {"-rounds", "0"}, {"x"}, {"-dynoxide", "/nothing/there"},
	} {
		var out, progress bytes.Buffer
		if code := run(context.Background(), args, &out, &progress); code != exitUsage {
			t.Errorf("%v: status %d, %s", args, code, &progress)
		}
	}
}
