package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// What is given is never taken for left out: an empty key would make a retry a second request.
func TestFlagsWithoutAValueAreRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--key", ""}, "The flag --key is empty"},
		{[]string{"--limit", "0"}, "The flag --limit must be more than 0"},
		{[]string{"--notes", ""}, ""}, // It empties the notes.
		{[]string{"--order", "0"}, ""},
		{[]string{"--key", "k", "--limit", "1"}, ""},
		{nil, ""},
	} {
		command := &cobra.Command{Use: "x", RunE: func(c *cobra.Command, _ []string) error {
			return checkGiven(c)
		}, SilenceErrors: true, SilenceUsage: true}
		command.Flags().String("key", "", "")
		command.Flags().String("notes", "", "")
		command.Flags().Int("limit", 0, "")
		command.Flags().Int("order", 0, "")
		command.SetArgs(append([]string{}, c.args...))
		err := command.Execute()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

// Texts of instants sort by time only if all have the same width.
func TestInstantsInJSONHaveTheWidthOfTheAPI(t *testing.T) {
	type row struct {
		At     time.Time  `json:"at"`
		Until  *time.Time `json:"until,omitempty"`
		Never  time.Time  `json:"never,omitzero"`
		Rows   []row      `json:"rows,omitempty"`
		Text   string     `json:"text"`
		hidden time.Time
	}
	whole := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	tenth := whole.Add(740 * time.Millisecond)
	var b bytes.Buffer
	err := encode(&b, row{
		At: whole, Until: &tenth, Rows: []row{{At: tenth}}, hidden: whole,
		Text: `at "2026-01-02T09:00:00Z" <&>`,
	}, "")
	want := `{"at":"2026-01-02T09:00:00.000Z","until":"2026-01-02T09:00:00.740Z",` +
		`"rows":[{"at":"2026-01-02T09:00:00.740Z","text":""}],` +
		`"text":"at \"2026-01-02T09:00:00Z\" <&>"}`
	if got := strings.TrimSpace(b.String()); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}
