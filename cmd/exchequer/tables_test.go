package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
)

// The comparison of tables ends with one status for each result, and says it in words of its own.
func TestTheResultOfATableCheckIsTheStatus(t *testing.T) {
	sound := client.TableCheck{Name: "Sound", OK: true, Verdict: client.VerdictSound}
	open := client.TableCheck{Name: "Open", Verdict: client.VerdictUndecided,
		Undecided: []string{"index GSI1 is CREATING"}}
	wrong := client.TableCheck{Name: "Wrong", Verdict: client.VerdictFaulty,
		Differences: []string{"the table is missing"}}
	for name, test := range map[string]struct {
		checks []client.TableCheck
		exit   int
		says   []string
	}{
		"all fit": {[]client.TableCheck{sound, sound}, exitOK, []string{"as it should be"}},
		"one is not decided": {[]client.TableCheck{sound, open}, exitUndecided,
			[]string{"not decided", "index GSI1 is CREATING",
				"It is not decided whether the tables are as needed: 1 table could not be"}},
		"one differs": {[]client.TableCheck{open, wrong, sound}, exitDiffers,
			[]string{"differs", "the table is missing", "not decided", "1 table not as needed"}},
		"an unknown result": {[]client.TableCheck{{Name: "T"}}, exitDiffers, []string{"differs"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{out: &out, err: &out, flags: flags{output: outputTable}}
			err := a.checks(test.checks)
			if err != nil {
				a.explain(err)
			}
			if got := exitOf(err); got != test.exit {
				t.Errorf("status %d, want %d", got, test.exit)
			}
			for _, text := range test.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is missing in:\n%s", text, out.String())
				}
			}
		})
	}
}
