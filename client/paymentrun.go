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

// PaymentRun asks for a run that settles all payments that are due.
type PaymentRun struct {
	// Callers is how many payments are settled side by side; 0 means the server's default.
	Callers int
	// Units bounds what the run takes from the store, in write units a second; 0 means no bound.
	Units int
	// Progress, if set, is called now and then, by the goroutine of the caller.
	Progress func(PaymentReport)
}

// PaymentReport says what a run has done.
type PaymentReport struct {
	// Processed, Failed and Postponed count what became of payments, Elsewhere those that somebody
	// else had, changed or cancelled first, and Waiting those that were left alone.
	Processed int `json:"processed"`
	Failed    int `json:"failed"`
	Postponed int `json:"postponed"`
	Elsewhere int `json:"elsewhere"`
	Waiting   int `json:"waiting"`
	// Oldest is when the payment that was due longest, of those met last, was due.
	Oldest time.Time `json:"oldest,omitzero"`
	// Lag is how many seconds ago that was, by the server's clock.
	Lag float64 `json:"lag"`
	// Units are the write units that were taken, if the run was paced.
	Units float64 `json:"units"`
	// Unreadable are the first due payments that cannot be read, or that only the program that
	// scheduled them can execute; UnreadableCount is how many there are.
	Unreadable      []UnreadableItem `json:"unreadable,omitempty"`
	UnreadableCount int              `json:"unreadableCount,omitempty"`
}

// Settled counts the payments that the run did something about.
func (r PaymentReport) Settled() int { return r.Processed + r.Failed + r.Postponed }

// RunPayments settles all payments that are due, until there are none. When ctx ends, the server
// finishes the payments in hand and begins no others.
func (c *Client) RunPayments(ctx context.Context, run PaymentRun) (PaymentReport, error) {
	r := c.post("/v1/payments/run", struct {
		Callers int `json:"callers,omitempty"`
		Units   int `json:"units,omitempty"`
	}{run.Callers, run.Units})
	r.safe = true // A second run shares the shards with the first, and pays nothing twice.
	return streamed[PaymentReport](ctx, r, run.Progress)
}

// PaymentTotal counts the payments of a status in a currency, and adds them up.
type PaymentTotal struct {
	Status PaymentStatus
	Count  int
	Sum    money.Amount
}

// MovedDay says how far the move of a day into the history has come.
type MovedDay struct {
	Day Date `json:"day"`
	// Begun tells whether a move was begun, Moved that all of the day is in the history, where
	// counts and sums agree.
	Begun bool `json:"begun"`
	Moved bool `json:"moved"`
	// Waiting is how many payments of the day are scheduled or pending still, or again; it is
	// counted by a move, and of a day that was moved.
	Waiting int `json:"waiting"`
	// Copied and Removed are what a move did.
	Copied  int `json:"copied"`
	Removed int `json:"removed"`
	// Totals are what of the day is in the history.
	Totals []PaymentTotal `json:"totals"`
	// Unreadable are the first items that hold the day up because they cannot be read, or because
	// only the program that wrote them can execute them; UnreadableCount is how many there are.
	Unreadable      []UnreadableItem `json:"unreadable,omitempty"`
	UnreadableCount int              `json:"unreadableCount,omitempty"`
}

// MoveProgress tells how far a move has come.
type MoveProgress struct {
	Copied  int `json:"copied"`
	Removed int `json:"removed"`
}

// MovePaymentDay moves the payments of a day that came to their end into the history. The day
// begins at midnight in a zone, which is UTC when it is empty. progress may be nil.
func (c *Client) MovePaymentDay(
	ctx context.Context, day Date, zone string, progress func(MoveProgress),
) (MovedDay, error) {
	r := c.post("/v1/payments/days/"+segment(day)+"/move", struct {
		Zone string `json:"zone,omitempty"`
	}{zone})
	r.safe = true // Every step looks whether it was made already.
	return streamed[MovedDay](ctx, r, progress)
}

// PaymentDay returns how far the move of a day has come, as it was noted last. A day to which
// payments came back since is not moved until it is moved again. The day begins at midnight in a
// zone, which is UTC when it is empty; the same date in another zone is another day.
func (c *Client) PaymentDay(ctx context.Context, day Date, zone string) (MovedDay, error) {
	q := url.Values{}
	if zone != "" {
		q.Set("zone", zone)
	}
	return answer[MovedDay](ctx, c.get("/v1/payments/days/"+segment(day), q))
}

// PaymentShards is a number of shards of the payments, and since when it holds.
type PaymentShards struct {
	Count int `json:"count"`
	// From is zero on the first.
	From time.Time `json:"from,omitzero"`
}

// PaymentShards returns over how many shards payments are spread, the earliest number first.
func (c *Client) PaymentShards(ctx context.Context) ([]PaymentShards, error) {
	page, err := answer[Page[PaymentShards]](ctx, c.get("/v1/payments/shards", nil))
	return page.rows(err)
}

// GrowPaymentShards spreads payments that are due from a day on over more shards.
func (c *Client) GrowPaymentShards(
	ctx context.Context, count int, from Date,
) ([]PaymentShards, error) {
	r := c.post("/v1/payments/shards", struct {
		Count int  `json:"count"`
		From  Date `json:"from"`
	}{count, from})
	r.safe = true // Growing again to the same number from the same day changes nothing.
	page, err := answer[Page[PaymentShards]](ctx, r)
	return page.rows(err)
}

// streamed reads the lines of an answer: progress, and at the end a report or a problem.
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

// MarshalJSON writes the API's form of a total.
func (t PaymentTotal) MarshalJSON() ([]byte, error) {
	return json.Marshal(paymentTotalJSON{t.Status, t.Count, t.Sum.Text(), t.Sum.Currency()})
}

// UnmarshalJSON reads the API's form of a total.
func (t *PaymentTotal) UnmarshalJSON(data []byte) error {
	var j paymentTotalJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*t = PaymentTotal{j.Status, j.Count, r.read(j.Sum)}
	return r.err
}
