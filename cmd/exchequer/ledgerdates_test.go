package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// The verdict of a repair of dates is the exit status.
func TestTheResultOfARepairOfDatesIsTheStatus(t *testing.T) {
	at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	was := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		r      client.DateRepair
		status int
		want   string
	}{
		"none": {client.DateRepair{Verdict: client.VerdictSound, Now: at}, 0,
			"no date is ahead of the clock"},
		"mended": {client.DateRepair{Verdict: client.VerdictSound, Now: at, Transactions: 1,
			Faults: []client.DateFault{{Kind: "transaction_ahead", TransactionID: "t",
				Was: was, Is: at, Mended: true}}}, 0, "2099-01-01"},
		"left": {client.DateRepair{Verdict: client.VerdictFaulty, Now: at, Accounts: 3, Left: 3,
			Faults: []client.DateFault{{Kind: "account_ahead", AccountID: "a", Was: was}}},
			exitDiffers, "and 2 more"},
		"undecided": {client.DateRepair{Verdict: client.VerdictUndecided, Now: at, Open: 1,
			Undecided: []client.DateFault{{TransactionID: "t", Why: "busy"}}}, exitUndecided,
			"not mended now: t: busy"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, remarks bytes.Buffer
			a := &app{out: &out, err: &remarks}
			status := 0
			if err := a.datesRepaired(c.r); err != nil {
				status = exitOf(err)
			}
			if said := out.String() + remarks.String(); status != c.status ||
				!strings.Contains(said, c.want) {
				t.Errorf("status %d, want %d with %q: %s", status, c.status, c.want, said)
			}
		})
	}
}
