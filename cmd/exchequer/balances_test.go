package main

import (
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// Balances fit only if they were compared; otherwise the text says that they were not checked.
func TestBalancesThatWereNotComparedDoNotFit(t *testing.T) {
	some := func(text string) *money.Decimal {
		d, err := money.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	opening, closing := some("100"), some("94")
	for name, c := range map[string]struct {
		u    client.Upload
		want string
	}{
		"both, and they fit": {client.Upload{Opening: opening, Closing: closing, Checked: true,
			Agrees: true}, "the balances fit"},
		"both, and they do not": {client.Upload{Opening: opening, Closing: closing, Checked: true},
			"the balances do not fit"},
		"both, not compared":  {client.Upload{Opening: opening, Closing: closing}, "not checked"},
		"no opening":          {client.Upload{Closing: closing}, "not checked"},
		"no closing":          {client.Upload{Opening: opening}, "not checked"},
		"none":                {client.Upload{}, "not checked"},
		"agrees but unlooked": {client.Upload{Agrees: true}, "not checked"},
		"beside the rows":     {client.Upload{Checked: true, Agrees: true}, "the balances fit"},
		"beside the rows, not": {client.Upload{Checked: true},
			"the balances beside its rows do not fit"},
		"one currency of two": {client.Upload{Continuity: "gap"}, "not checked"},
	} {
		t.Run(name, func(t *testing.T) {
			got := balancesText(c.u)
			if !strings.Contains(got, c.want) ||
				c.want == "not checked" && strings.Contains(got, "the balances fit") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
