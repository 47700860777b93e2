package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// PaymentRun is a request to settle all due payments.
type PaymentRun struct {
	// Callers is the number of payments that are settled concurrently; 0 means the server's
	// default.
	Callers int
	// Units is the maximum number of write units per second that the run consumes; 0 means no
	// maximum.
	Units int
	// Progress, if it is set, is called from time to time, on the caller's goroutine.
	Progress func(PaymentReport)
}

// PaymentReport is the result of a run.
type PaymentReport struct {
	// Processed, Failed and Postponed are numbers of payments with these results. Elsewhere counts
	// those that another worker or caller claimed, changed or cancelled first, and Waiting those
	// whose wait for the next attempt lasts.
	Processed int `json:"processed"`
	Failed    int `json:"failed"`
	Postponed int `json:"postponed"`
	Elsewhere int `json:"elsewhere"`
	Waiting   int `json:"waiting"`
	// Claimed counts due payments that another worker has claimed, the last of them until
	// ClaimedUntil. If that worker lives, it settles them; otherwise the first run after that does.
	Claimed      int       `json:"claimed"`
	ClaimedUntil time.Time `json:"claimedUntil,omitzero"`
	// Shards counts the parts of the work that another worker has and that the run waits for, the
	// last of them until ShardsUntil.
	Shards      int       `json:"shards"`
	ShardsUntil time.Time `json:"shardsUntil,omitzero"`
	// Oldest is the due time of the most overdue payment among the last ones.
	Oldest time.Time `json:"oldest,omitzero"`
	// Lag is the age of Oldest in seconds, by the server's clock.
	Lag float64 `json:"lag"`
	// Units are the consumed write units, if the run was limited.
	Units float64 `json:"units"`
	// Unreadable are the first due payments that cannot be read, or that only the program that
	// scheduled them can execute. UnreadableCount is the number of all.
	Unreadable      []UnreadableItem `json:"unreadable,omitempty"`
	UnreadableCount int              `json:"unreadableCount,omitempty"`
}

// Settled returns the number of payments that the run processed in any way.
func (r PaymentReport) Settled() int { return r.Processed + r.Failed + r.Postponed }

// RunPayments settles due payments until there are none. If ctx ends, the server finishes the
// payments in progress and starts no others.
func (c *Client) RunPayments(ctx context.Context, run PaymentRun) (PaymentReport, error) {
	r := c.post("/v1/payments/run", struct {
		Callers int `json:"concurrency,omitempty"`
		Units   int `json:"units,omitempty"`
	}{run.Callers, run.Units})
	r.safe = true // a second run shares the shards with the first and pays nothing twice
	return streamed[PaymentReport](ctx, r, run.Progress)
}

// PaymentTotal is the number and the sum of the payments with a status in a currency.
type PaymentTotal struct {
	Status PaymentStatus
	Count  int
	Sum    money.Amount
}

// MovedDay is the progress of the move of a day to the history.
type MovedDay struct {
	Day Date `json:"day"`
	// Begun reports whether a move was begun, and Moved whether the whole day is in the history
	// with matching counts and sums.
	Begun bool `json:"begun"`
	Moved bool `json:"moved"`
	// Waiting is the number of payments of the day that are scheduled or pending. A move counts it,
	// and so does the status of a moved day.
	Waiting int `json:"waiting"`
	// Copied and Removed are the numbers of payments that a move copied and removed.
	Copied  int `json:"copied"`
	Removed int `json:"removed"`
	// Totals are the totals of the day in the history.
	Totals []PaymentTotal `json:"totals"`
	// Unreadable are the first items that block the day, because they cannot be read or only the
	// program that wrote them can execute them. UnreadableCount is the number of all.
	Unreadable      []UnreadableItem `json:"unreadable,omitempty"`
	UnreadableCount int              `json:"unreadableCount,omitempty"`
}

// MoveProgress is the progress of a move.
type MoveProgress struct {
	Copied  int `json:"copied"`
	Removed int `json:"removed"`
}

// MovePaymentDay moves the final payments of a day to the history. The day begins at midnight in a
// zone, which is UTC if it is empty. progress may be nil.
func (c *Client) MovePaymentDay(
	ctx context.Context, day Date, zone string, progress func(MoveProgress),
) (MovedDay, error) {
	r := c.post("/v1/payments/days/"+segment(day)+"/move", struct {
		Zone string `json:"zone,omitempty"`
	}{zone})
	r.safe = true // every step checks whether it was already made
	return streamed[MovedDay](ctx, r, progress)
}

// PaymentDay returns the last recorded progress of the move of a day. If payments were added to a
// moved day, it is not moved until it is moved again. The day begins at midnight in a zone, which
// is UTC if it is empty; the same date in another zone is another day.
func (c *Client) PaymentDay(ctx context.Context, day Date, zone string) (MovedDay, error) {
	q := url.Values{}
	if zone != "" {
		q.Set("zone", zone)
	}
	return answer[MovedDay](ctx, c.get("/v1/payments/days/"+segment(day), q))
}

// PaymentShards is a number of shards of the payments and its start.
type PaymentShards struct {
	Count int `json:"count"`
	// From is zero for the first.
	From time.Time `json:"from,omitzero"`
}

// PaymentShards returns the numbers of shards of the payments, the earliest first.
func (c *Client) PaymentShards(ctx context.Context) ([]PaymentShards, error) {
	page, err := answer[Page[PaymentShards]](ctx, c.get("/v1/payments/shards", nil))
	return page.Rows(err)
}

// GrowPaymentShards increases the number of shards for payments that are due from a day on.
func (c *Client) GrowPaymentShards(
	ctx context.Context, count int, from Date,
) ([]PaymentShards, error) {
	r := c.post("/v1/payments/shards", struct {
		Count int  `json:"count"`
		From  Date `json:"from"`
	}{count, from})
	r.safe = true // growing again to the same number from the same day changes nothing
	page, err := answer[Page[PaymentShards]](ctx, r)
	return page.Rows(err)
}

// streamed reads the lines of a response: progress, and finally a report or a problem.
func streamed[R, P any](ctx context.Context, r *request, progress func(P)) (R, error) {
	var none R
	r.accept = lines
	response, err := r.send(ctx)
	if err != nil {
		return none, err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for {
		var line struct {
			Progress *P              `json:"progress"`
			Report   *R              `json:"report"`
			Problem  json.RawMessage `json:"problem"`
		}
		switch err := decoder.Decode(&line); {
		case errors.Is(err, io.EOF):
			return none, r.broken(io.ErrUnexpectedEOF)
		case err != nil:
			return none, r.broken(err)
		case line.Report != nil:
			return *line.Report, nil
		case line.Problem != nil:
			if e := decodeProblem(line.Problem); e != nil {
				return none, e
			}
			return none, fmt.Errorf("%s %s: the problem %s cannot be read", r.method, r.path,
				line.Problem)
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
	}
}

type paymentTotalJSON struct {
	Status   PaymentStatus  `json:"status"`
	Count    int            `json:"count"`
	Sum      string         `json:"sum"`
	Currency money.Currency `json:"currency"`
}

// MarshalJSON returns the API's form of a total.
func (t PaymentTotal) MarshalJSON() ([]byte, error) {
	return json.Marshal(paymentTotalJSON{t.Status, t.Count, t.Sum.Text(), t.Sum.Currency()})
}

// UnmarshalJSON parses the API's form of a total.
func (t *PaymentTotal) UnmarshalJSON(data []byte) error {
	var j paymentTotalJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*t = PaymentTotal{j.Status, j.Count, r.read(j.Sum)}
	return r.err
}
