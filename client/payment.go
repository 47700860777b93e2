package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// PaymentID identifies a scheduled payment.
type PaymentID string

// PaymentStatus is the state of a scheduled payment.
type PaymentStatus string

// The states of a scheduled payment. The last three are final, but a failed payment can be
// replayed.
const (
	PaymentScheduled PaymentStatus = "SCHEDULED"
	PaymentPending   PaymentStatus = "PENDING"
	PaymentProcessed PaymentStatus = "PROCESSED"
	PaymentCancelled PaymentStatus = "CANCELLED"
	PaymentFailed    PaymentStatus = "FAILED"
)

// ScheduledPayment is a payment that is due at a time.
type ScheduledPayment struct {
	ID PaymentID
	// AccountID is the account that pays. Either PayeeID or MerchantID is the payee.
	AccountID  AccountID
	PayeeID    AccountID
	MerchantID MerchantID
	Amount     money.Amount
	// At is the due time.
	At time.Time
	// Zone is the time zone of the payer's days; empty means UTC.
	Zone        string
	Description string
	// Data is data of the caller. Lists over all accounts may omit it.
	Data   []byte
	Status PaymentStatus
	// Version is 1 at first, and every change increments it.
	Version  uint64
	Attempts int
	// Until is the end of the present attempt, or of the wait for the next one.
	Until time.Time
	// Reason is the code of the last error, and ReasonText its sentence.
	Reason, ReasonText string
	// TransactionID is the ledger transaction of a processed payment.
	TransactionID        TransactionID
	CreatedAt, UpdatedAt time.Time
}

// NewPayment is a request to schedule a payment.
type NewPayment struct {
	// IdempotencyKey makes the request safe to repeat at any time. If it is empty, the client
	// generates one, so that an equal request is another payment.
	IdempotencyKey string
	AccountID      AccountID
	// Either PayeeID or MerchantID is the payee.
	PayeeID    AccountID
	MerchantID MerchantID
	Amount     money.Amount
	// At, Due or After is the due time. At is an instant; the zero time means none.
	At time.Time
	// Due, instead of At, is a text: an instant, or a day or a local time in the zone of the
	// account that pays, such as 2026-01-31 or 2026-01-31T09:00.
	Due string
	// After, instead of At, is the delay after the first such request, in whole seconds. A repeat
	// returns the payment of the first request.
	After       *time.Duration
	Description string
	// Data is data of the caller, at most 6,900 bytes.
	Data []byte
}

// PaymentReceipt is the response to a NewPayment.
type PaymentReceipt struct {
	ScheduledPayment
	// Replayed reports whether an earlier, equal request created the payment, which is in its
	// present state.
	Replayed bool
}

// SchedulePayment creates a payment, once for its account and key.
func (c *Client) SchedulePayment(ctx context.Context, n NewPayment) (PaymentReceipt, error) {
	r := c.post("/v1/payments", n.json())
	r.key, r.safe = n.IdempotencyKey, true
	if r.key == "" {
		r.key = newKey()
	}
	p, replayed, err := repeatable[ScheduledPayment](ctx, r)
	return PaymentReceipt{p, replayed}, err
}

// Payment returns the present state of a payment by its id, in any table.
func (c *Client) Payment(ctx context.Context, id PaymentID) (ScheduledPayment, error) {
	return answer[ScheduledPayment](ctx, c.get("/v1/payments/"+segment(id), nil))
}

// PaymentByTransaction returns the payment that a transaction of the ledger settled.
func (c *Client) PaymentByTransaction(
	ctx context.Context, id TransactionID,
) (ScheduledPayment, error) {
	return answer[ScheduledPayment](ctx,
		c.get("/v1/payments/by-transaction/"+segment(id), nil))
}

// PaymentChange is a change of a payment; nil fields are unchanged.
type PaymentChange struct {
	// Version is the version that the caller knows; 0 means any.
	Version    uint64
	Amount     *money.Amount
	PayeeID    *AccountID
	MerchantID *MerchantID
	At         *time.Time
	// Due, instead of At, is a text, as in NewPayment.
	Due         string
	Description *string
}

// ChangePayment changes a payment that is not claimed.
func (c *Client) ChangePayment(
	ctx context.Context, id PaymentID, change PaymentChange,
) (ScheduledPayment, error) {
	r := c.post("/v1/payments/"+segment(id), change.json())
	// A repeat without a version sets the same values again. With a version, a repeat would fail
	// because the version has changed.
	r.method, r.match, r.safe = http.MethodPatch, versionTag(change.Version), change.Version == 0
	return answer[ScheduledPayment](ctx, r)
}

// CancelPayment cancels a payment that is not claimed. version is the version that the caller
// knows; 0 means any.
func (c *Client) CancelPayment(
	ctx context.Context, id PaymentID, version uint64,
) (ScheduledPayment, error) {
	r := c.post("/v1/payments/"+segment(id)+"/cancel", nil)
	r.match, r.safe = versionTag(version), true // cancelling is idempotent
	return answer[ScheduledPayment](ctx, r)
}

// ReplayPayment schedules a failed payment again.
func (c *Client) ReplayPayment(ctx context.Context, id PaymentID) (ScheduledPayment, error) {
	// It is not retried, because the payment may have failed again for another reason.
	return answer[ScheduledPayment](ctx, c.post("/v1/payments/"+segment(id)+"/replay", nil))
}

// PaymentOutcome is the result of an attempt to settle a payment.
type PaymentOutcome string

// The results of an attempt.
const (
	OutcomeProcessed PaymentOutcome = "processed"
	OutcomeFailed    PaymentOutcome = "failed"
	OutcomePostponed PaymentOutcome = "postponed"
	// Nothing was done: the payment is not due before its At, waits for its next attempt at its
	// Until, was cancelled, or is being settled by another worker.
	OutcomeNotDue    PaymentOutcome = "not_due"
	OutcomeWaiting   PaymentOutcome = "waiting"
	OutcomeCancelled PaymentOutcome = "cancelled"
	OutcomeElsewhere PaymentOutcome = "elsewhere"
)

// PayPayment settles a due payment now.
func (c *Client) PayPayment(
	ctx context.Context, id PaymentID,
) (ScheduledPayment, PaymentOutcome, error) {
	r := c.post("/v1/payments/"+segment(id)+"/pay", nil)
	r.safe = true // the payment's id is the idempotency key in the ledger
	a, err := answer[struct {
		Outcome PaymentOutcome   `json:"outcome"`
		Payment ScheduledPayment `json:"payment"`
	}](ctx, r)
	return a.Payment, a.Outcome, err
}

// AccountPaymentsQuery selects an account's payments by time.
type AccountPaymentsQuery struct {
	AccountID AccountID
	// From and To are days in the account's zone, both included. An empty bound is open.
	From, To Date
	// Days, instead of them, selects the next days from now on.
	Days int
	PageQuery
}

// PaymentsOfAccount returns a page of an account's payments, including those in the history.
func (c *Client) PaymentsOfAccount(
	ctx context.Context, q AccountPaymentsQuery,
) (Page[ScheduledPayment], error) {
	values := url.Values{}
	setText(values, "from", string(q.From))
	setText(values, "to", string(q.To))
	if q.Days != 0 {
		values.Set("days", strconv.Itoa(q.Days))
	}
	path := "/v1/accounts/" + segment(q.AccountID) + "/payments"
	return answer[Page[ScheduledPayment]](ctx, c.get(path, pageValues(q.PageQuery, values)))
}

// AllPaymentsOfAccount returns all payments of q, beginning with its page.
func (c *Client) AllPaymentsOfAccount(
	ctx context.Context, q AccountPaymentsQuery,
) iter.Seq2[ScheduledPayment, error] {
	return allFrom(q.PageQuery, func(p PageQuery) (Page[ScheduledPayment], error) {
		q.PageQuery = p
		return c.PaymentsOfAccount(ctx, q)
	})
}

// PaymentsQuery selects the payments of all accounts by time.
type PaymentsQuery struct {
	// Status is the status to select; empty means all final ones.
	Status PaymentStatus
	// Date is one calendar day in Zone, which is UTC if it is empty.
	Date Date
	Zone string
	// From and To, instead of them, are instants, [From, To). A zero bound is open.
	From, To time.Time
	PageQuery
}

// Payments returns a page of the payments of all accounts, including those in the history.
func (c *Client) Payments(
	ctx context.Context, q PaymentsQuery,
) (Page[ScheduledPayment], error) {
	values, path := url.Values{}, "/v1/payments/history"
	if q.Status != "" {
		values.Set("status", string(q.Status))
		path = "/v1/payments"
	}
	setText(values, "date", string(q.Date))
	setText(values, "zone", q.Zone)
	setTime(values, "from", q.From)
	setTime(values, "to", q.To)
	return answer[Page[ScheduledPayment]](ctx, c.get(path, pageValues(q.PageQuery, values)))
}

// AllPayments returns all payments of q, beginning with its page.
func (c *Client) AllPayments(
	ctx context.Context, q PaymentsQuery,
) iter.Seq2[ScheduledPayment, error] {
	return allFrom(q.PageQuery, func(p PageQuery) (Page[ScheduledPayment], error) {
		q.PageQuery = p
		return c.Payments(ctx, q)
	})
}

// versionTag returns the ETag of a version, or "" for 0, which means any.
func versionTag(version uint64) string {
	if version == 0 {
		return ""
	}
	return `"` + strconv.FormatUint(version, 10) + `"`
}

// scheduledPaymentJSON and the following types are the JSON of the API.
type (
	scheduledPaymentJSON struct {
		ID            PaymentID      `json:"id"`
		AccountID     AccountID      `json:"accountId"`
		PayeeID       AccountID      `json:"payeeId,omitempty"`
		MerchantID    MerchantID     `json:"merchantId,omitempty"`
		Amount        string         `json:"amount,omitempty"`
		Currency      money.Currency `json:"currency,omitempty"`
		At            time.Time      `json:"at,omitzero"`
		Zone          string         `json:"zone,omitempty"`
		Description   string         `json:"description,omitempty"`
		Data          []byte         `json:"data,omitempty"`
		Status        PaymentStatus  `json:"status"`
		Version       uint64         `json:"version"`
		Attempts      int            `json:"attempts"`
		Until         time.Time      `json:"until,omitzero"`
		Reason        string         `json:"reason,omitempty"`
		ReasonText    string         `json:"reasonText,omitempty"`
		TransactionID TransactionID  `json:"transactionId,omitempty"`
		CreatedAt     time.Time      `json:"createdAt,omitzero"`
		UpdatedAt     time.Time      `json:"updatedAt,omitzero"`
	}

	newPaymentJSON struct {
		AccountID   AccountID      `json:"accountId"`
		PayeeID     AccountID      `json:"payeeId,omitempty"`
		MerchantID  MerchantID     `json:"merchantId,omitempty"`
		Amount      string         `json:"amount,omitempty"`
		Currency    money.Currency `json:"currency,omitempty"`
		At          string         `json:"at,omitempty"`
		After       *int64         `json:"afterSeconds,omitempty"`
		Description string         `json:"description,omitempty"`
		Data        []byte         `json:"data,omitempty"`
	}

	paymentChangeJSON struct {
		PayeeID     *AccountID     `json:"payeeId,omitempty"`
		MerchantID  *MerchantID    `json:"merchantId,omitempty"`
		Amount      *string        `json:"amount,omitempty"`
		Currency    money.Currency `json:"currency,omitempty"`
		At          *string        `json:"at,omitempty"`
		Description *string        `json:"description,omitempty"`
	}
)

func (n NewPayment) json() newPaymentJSON {
	j := newPaymentJSON{
		AccountID: n.AccountID, PayeeID: n.PayeeID, MerchantID: n.MerchantID,
		Amount: optionalText(n.Amount), Currency: n.Amount.Currency(),
		At: n.Due, Description: n.Description, Data: n.Data,
	}
	if n.Due == "" && !n.At.IsZero() {
		j.At = n.At.UTC().Format(time.RFC3339Nano)
	}
	if n.After != nil {
		seconds := int64(*n.After / time.Second)
		j.After = &seconds
	}
	return j
}

func (c PaymentChange) json() paymentChangeJSON {
	j := paymentChangeJSON{
		PayeeID: c.PayeeID, MerchantID: c.MerchantID, Description: c.Description,
	}
	if c.Amount != nil {
		text := c.Amount.Text()
		j.Amount, j.Currency = &text, c.Amount.Currency()
	}
	if c.Due != "" {
		j.At = &c.Due
	} else if c.At != nil {
		text := c.At.UTC().Format(time.RFC3339Nano)
		j.At = &text
	}
	return j
}

// MarshalJSON returns the API's form of a payment.
func (p ScheduledPayment) MarshalJSON() ([]byte, error) {
	return json.Marshal(scheduledPaymentJSON{
		ID: p.ID, AccountID: p.AccountID, PayeeID: p.PayeeID, MerchantID: p.MerchantID,
		Amount: p.Amount.Text(), Currency: p.Amount.Currency(), At: p.At, Zone: p.Zone,
		Description: p.Description, Data: p.Data, Status: p.Status, Version: p.Version,
		Attempts: p.Attempts, Until: p.Until, Reason: p.Reason, ReasonText: p.ReasonText,
		TransactionID: p.TransactionID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	})
}

// UnmarshalJSON parses the API's form of a payment.
func (p *ScheduledPayment) UnmarshalJSON(data []byte) error {
	var j scheduledPaymentJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*p = ScheduledPayment{
		ID: j.ID, AccountID: j.AccountID, PayeeID: j.PayeeID, MerchantID: j.MerchantID,
		Amount: r.optional(j.Amount), At: j.At, Zone: j.Zone, Description: j.Description,
		Data: j.Data, Status: j.Status, Version: j.Version, Attempts: j.Attempts,
		Until: j.Until, Reason: j.Reason, ReasonText: j.ReasonText,
		TransactionID: j.TransactionID, CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt,
	}
	return r.err
}
