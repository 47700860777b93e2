package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// A run that leaves due payments does not end with success: those that cannot be executed come
// first, then those that another worker has claimed. Payments that wait for their next attempt are
// not left.
func TestARunThatLeavesDuePaymentsDoesNotEndWithSuccess(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		report client.PaymentReport
		want   int
		said   string
	}{
		"all paid":     {client.PaymentReport{Processed: 3}, exitOK, ""},
		"some wait":    {client.PaymentReport{Processed: 3, Waiting: 2}, exitOK, ""},
		"some failed":  {client.PaymentReport{Failed: 2}, exitOK, ""},
		"some claimed": {client.PaymentReport{Claimed: 2, ClaimedUntil: until}, exitHeld, "2 due payments left, claimed by another worker until 2026-01-02T03:04:05.000Z"},
		"some unreadable": {client.PaymentReport{UnreadableCount: 1, Claimed: 1}, exitDiffers,
			"cannot be executed"},
	} {
		for _, output := range outputs {
			var out, remarks bytes.Buffer
			a := &app{out: &out, err: &remarks}
			a.flags.output = output
			err := a.paymentReport(test.report)
			if got := exitOf(err); got != test.want {
				t.Errorf("%s as %s: status %d, want %d", name, output, got, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.said) {
				t.Errorf("%s as %s: %v", name, output, err)
			}
		}
	}
}
