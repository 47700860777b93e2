package main

import (
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/test/frozen"
)

// Scripts branch on exit statuses: a number never changes its meaning. The sample is the word with
// which the help text explains the number.
func TestExitStatusesAreFrozen(t *testing.T) {
	var samples []frozen.Sample
	for line := range strings.Lines(exitStatuses) {
		number, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, _, _ := strings.Cut(strings.TrimSpace(meaning), ":")
		word, _, _ = strings.Cut(word, ";")
		samples = append(samples, frozen.Sample{Name: number, Value: word})
	}
	frozen.Check(t, "exit-statuses", samples...)
}
