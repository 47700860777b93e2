// Package frozen compares what a format looks like today with what it looked like in every earlier
// release. A frozen file has one sample a line, a name and a value separated by a tab, and only
// grows: a sample that changed or disappeared is an error, because data that users have stored, or
// programs that they have written, depend on it.
//
// EXCHEQUER_FREEZE=1 appends the samples that a file does not have yet. No setting changes a line.
package frozen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// freezeEnv is the variable that lets new samples be appended.
const freezeEnv = "EXCHEQUER_FREEZE"

// Sample is one value of a format. Its name describes it, version included.
type Sample struct{ Name, Value string }

// Check compares samples with the frozen file of a name, testdata/NAME.frozen. Every line of the
// file must be among the samples, with the same value, and every sample must be in the file.
func Check(t testing.TB, name string, samples ...Sample) {
	t.Helper()
	path := filepath.Join("testdata", name+".frozen")
	have := map[string]string{}
	for _, s := range samples {
		if _, double := have[s.Name]; double {
			t.Errorf("the sample %q is given twice", s.Name)
		}
		have[s.Name] = s.Value
	}
	kept := Read(t, name)
	stored := map[string]bool{}
	for _, k := range kept {
		stored[k.Name] = true
		switch value, ok := have[k.Name]; {
		case !ok:
			t.Errorf("%s: the sample %q is gone: what was stored in this form must stay readable",
				path, k.Name)
		case value != k.Value:
			t.Errorf("%s: %q has changed:\n now %s\n was %s\nKeep the old form, and give the new "+
				"one a version of its own", path, k.Name, value, k.Value)
		}
	}
	var fresh strings.Builder
	for _, s := range samples {
		if !stored[s.Name] {
			fmt.Fprintf(&fresh, "%s\t%s\n", s.Name, strconv.Quote(s.Value))
		}
	}
	switch {
	case fresh.Len() == 0:
	case os.Getenv(freezeEnv) == "":
		t.Errorf("%s does not have these samples; run the test with %s=1 to append them:\n%s",
			path, freezeEnv, fresh.String())
	default:
		add(t, path, fresh.String())
	}
}

// Read returns the samples of a frozen file, in its order. A file that is not there has none.
func Read(t testing.TB, name string) []Sample {
	t.Helper()
	path := filepath.Join("testdata", name+".frozen")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []Sample
	for line := range strings.Lines(string(text)) {
		name, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		value, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("%s: the line %q is not a name, a tab and a quoted value", path, line)
		}
		out = append(out, Sample{Name: name, Value: value})
	}
	return out
}

func add(t testing.TB, path, lines string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(lines); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("appended to %s:\n%s", path, lines)
}
