package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// DateRepair is the result of a search for dates that are ahead of the clock.
type DateRepair struct {
	// Verdict is VerdictSound, VerdictFaulty or VerdictUndecided.
	Verdict string `json:"verdict"`
	// Mended reports whether the verdict is VerdictSound.
	Mended bool `json:"mended"`
	// Now is the server's clock, by which dates were judged.
	Now time.Time `json:"now,omitzero"`
	// Transactions, Accounts and Openings count what was ahead of the clock: transactions, the last
	// postings of accounts, and the creation of accounts, merchants and records of requests.
	Transactions int `json:"transactions"`
	Accounts     int `json:"accounts"`
	Openings     int `json:"openings"`
	// Faults are the first of all of these, and Left is the number of those that are not mended.
	Faults []DateFault `json:"faults"`
	Left   int         `json:"left"`
	// Undecided are the first of those that could not be mended now; Open is the number of all.
	Undecided []DateFault `json:"undecided"`
	Open      int         `json:"open"`
}

// DateFault is a date that is ahead of the clock: transaction_ahead, account_ahead or
// opening_ahead.
type DateFault struct {
	Kind          string        `json:"kind"`
	TransactionID TransactionID `json:"transactionId,omitempty"`
	AccountID     AccountID     `json:"accountId,omitempty"`
	// Entry is the key of the item, of an opening.
	Entry string `json:"entry,omitempty"`
	// Was is the stored date, and Is the new one if it was mended.
	Was    time.Time `json:"was,omitzero"`
	Is     time.Time `json:"is,omitzero"`
	Mended bool      `json:"mended"`
	// Why is the reason why it was not mended although that was asked for.
	Why string `json:"why,omitempty"`
}

// RepairDates finds the dates of the ledger that are ahead of the server's clock and, with mend,
// changes them to now. A repeat mends what is left.
func (c *Client) RepairDates(ctx context.Context, mend bool) (DateRepair, error) {
	r := c.post("/v1/transactions/repair-dates", nil)
	r.values = url.Values{"repair": {strconv.FormatBool(mend)}}
	return answer[DateRepair](ctx, r)
}
