package rest

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

const tagPayments = "Payments"

// payment is a scheduled payment in an answer.
type payment struct {
	ID            payments.PaymentID   `json:"id" doc:"Follows from the account and the idempotency key" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	AccountID     ledger.AccountID     `json:"accountId" doc:"Who pays" example:"alice-usd"`
	PayeeID       ledger.AccountID     `json:"payeeId,omitempty" doc:"The account that is paid; absent where a merchant is" example:"bob-usd"`
	MerchantID    ledger.MerchantID    `json:"merchantId,omitempty" doc:"The merchant that is paid; absent where an account is" example:"coffee-shop"`
	Amount        string               `json:"amount,omitempty" doc:"Absent where another program scheduled the payment and keeps its order in data" example:"5.50"`
	Currency      money.Currency       `json:"currency,omitempty" example:"USD"`
	At            instant              `json:"at" doc:"When it is due"`
	Zone          string               `json:"zone,omitempty" doc:"Where the payer's days begin, copied from the account, or else the server's own zone; absent for UTC" example:"Pacific/Auckland"`
	Description   string               `json:"description,omitempty" example:"Rent of October"`
	Data          string               `json:"data,omitempty" doc:"The caller's own bytes in base64; lists over all accounts leave them out unless the index projects everything" example:"aW52b2ljZSA3"`
	Status        payments.Status      `json:"status" enum:"SCHEDULED,PENDING,PROCESSED,CANCELLED,FAILED"`
	Version       int                  `json:"version" doc:"1 at first, raised by every change" example:"1"`
	Attempts      int                  `json:"attempts" doc:"How often it was tried" example:"0"`
	Until         instant              `json:"until,omitzero" doc:"When the attempt in hand, or the wait for the next one, is over"`
	Reason        problem.Code         `json:"reason,omitempty" doc:"The code of what went wrong last" example:"insufficient_funds"`
	ReasonText    string               `json:"reasonText,omitempty" doc:"Its sentence"`
	TransactionID ledger.TransactionID `json:"transactionId,omitempty" doc:"The ledger's transaction of a payment that was processed"`
	CreatedAt     instant              `json:"createdAt,omitzero"`
	UpdatedAt     instant              `json:"updatedAt,omitzero"`
}

func paymentOf(p payments.Payment) payment {
	return payment{
		ID: p.ID, AccountID: p.AccountID, PayeeID: p.PayeeID, MerchantID: p.MerchantID,
		Amount: optionalText(p.Amount), Currency: p.Amount.Currency(), At: instant(p.At),
		Zone:        p.Zone,
		Description: p.Description, Data: base64.StdEncoding.EncodeToString(p.Data),
		Status: p.Status, Version: int(p.Version), Attempts: p.Attempts, Until: instant(p.Until),
		Reason: p.Reason, ReasonText: p.ReasonText, TransactionID: p.TransactionID,
		CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
}

// newPayment is the body that asks for a payment.
type newPayment struct {
	AccountID    ledger.AccountID  `json:"accountId" doc:"Who pays" example:"alice-usd"`
	PayeeID      ledger.AccountID  `json:"payeeId,omitempty" doc:"The account that is paid; either it or merchantId is needed" example:"bob-usd"`
	MerchantID   ledger.MerchantID `json:"merchantId,omitempty" doc:"The merchant that is paid" example:"coffee-shop"`
	Amount       payload.Decimal   `json:"amount" example:"5.50"`
	Currency     money.Currency    `json:"currency" doc:"That of the account" example:"USD"`
	At           string            `json:"at,omitempty" doc:"When it is due: an instant, or a day or a local time (2026-01-31, 2026-01-31T09:00) in the zone of the account that pays. A day is its first instant. A local time that does not exist is the first instant after the clocks changed, and one that exists twice is the first. What is past is due at once. Either it or afterSeconds is needed" example:"2026-01-31T09:00:00Z"`
	AfterSeconds *int              `json:"afterSeconds,omitempty" doc:"In place of at: how many seconds after the first request with its Idempotency-Key it is due; at most 3,153,600,000" example:"129600"`
	Description  string            `json:"description,omitempty" doc:"At most 280 bytes" example:"Rent of October"`
	Data         string            `json:"data,omitempty" doc:"At most 6,900 bytes of the caller's own, in base64" example:"aW52b2ljZSA3"`
}

// changedPayment is the body that changes a payment. What is left out stays.
type changedPayment struct {
	PayeeID     *ledger.AccountID  `json:"payeeId,omitempty" doc:"The account that is paid, in place of whoever was" example:"bob-usd"`
	MerchantID  *ledger.MerchantID `json:"merchantId,omitempty" doc:"The merchant that is paid, in place of whoever was" example:"coffee-shop"`
	Amount      *payload.Decimal   `json:"amount,omitempty" example:"5.50"`
	Currency    money.Currency     `json:"currency,omitempty" doc:"That of the account, if given, as a check" example:"USD"`
	At          *string            `json:"at,omitempty" doc:"When it is due: an instant, or a day or a local time in the zone of the account that pays, as when a payment is scheduled" example:"2026-01-31T09:00:00Z"`
	Description *string            `json:"description,omitempty" doc:"At most 280 bytes" example:"Rent of November"`
}

// paymentAttempt is the answer to an attempt to pay.
type paymentAttempt struct {
	Outcome payments.Outcome `json:"outcome" enum:"processed,failed,postponed,not_due,waiting,cancelled,elsewhere" doc:"The result. processed and failed are final, and are also the answer if an earlier attempt has brought the payment to that end. postponed is an attempt that is made again later. Nothing was done if the payment is not_due, is waiting for its next attempt, was cancelled, or is elsewhere: another worker has it at this moment"`
	Detail  string           `json:"detail" doc:"The same in a sentence" example:"The payment is not due until 2027-01-01T00:00:00.000Z"`
	Payment payment          `json:"payment"`
}

// PaymentPath is the parameter that names a payment.
type PaymentPath struct {
	ID payments.PaymentID `path:"id" doc:"The payment's id" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
}

type (
	schedulePaymentParams struct {
		WithBody
		IdempotencyKey string `header:"Idempotency-Key" doc:"1 to 255 characters that name this request of this account for ever; without it an equal request is another payment" example:"rent-2026-10"`
	}
	paymentParams struct {
		Conditional
		PaymentPath
	}
	changePaymentParams struct {
		WithBody
		PaymentPath
		Guarded
	}
	guardedPaymentParams struct {
		PaymentPath
		Guarded
	}
)

// scheduledPayment is the answer to a request for a payment.
type scheduledPayment struct {
	Status   int
	Location string `header:"Location"`
	ETag     string `header:"ETag" doc:"Changes whenever the payment does"`
	Replayed string `header:"Idempotent-Replayed" doc:"true when an earlier, equal request made the payment"`
	Body     payment
}

func (a *API) registerPayments() {
	registerBody(a.Router, operation{
		id: "schedule-payment", method: http.MethodPost, path: "/v1/payments", tag: tagPayments,
		scope: api.PaymentsWrite, status: http.StatusCreated, summary: "Schedule a payment",
		description: "Inserts a payment once for its account and Idempotency-Key, however often and " +
			"however late it is sent. The first answer has status 201; an equal request gets the " +
			"payment as it is then, also when it was changed, paid or archived, with status 200 and " +
			"Idempotent-Replayed: true; another request with the same key is a conflict that names " +
			"the field. A payment that can never be paid, because an account or the merchant does " +
			"not exist, is closed or has another currency, is refused. Want of funds and a frozen " +
			"account may pass, and are no reason.",
		example: newPayment{
			AccountID: "alice-usd", MerchantID: "coffee-shop", Amount: "5.50", Currency: "USD",
			At: "2026-01-31T09:00:00Z", Description: "Rent of October",
		},
		problems: []*problem.Definition{
			ledger.ErrInvalidIdempotencyKey, ledger.ErrAmountTooLarge,
			payments.ErrInvalidRequest, payments.ErrInvalidKey, payments.ErrDataTooLarge,
			payments.ErrAmountNotPositive, payments.ErrTooManyFractionDigits,
			payments.ErrAccountNotFound, payments.ErrCurrencyMismatch, payments.ErrKeyConflict,
			ledger.ErrMerchantNotFound, ledger.ErrNoSettlementAccount, ledger.ErrAccountNotFound,
			ledger.ErrCurrencyMismatch, ledger.ErrAccountClosed, ledger.ErrAmountTooLarge,
			ledger.ErrInvalidRequest,
		},
	}, a.schedulePayment)
	register(a.Router, operation{
		id: "get-payment", method: http.MethodGet, path: "/v1/payments/{id}", tag: tagPayments,
		scope: api.PaymentsRead, summary: "Get a payment",
		description: "As of now, wherever it is: scheduled, or in the history.",
		problems:    []*problem.Definition{payments.ErrNotFound},
	}, a.payment)
	registerBody(a.Router, operation{
		id: "change-payment", method: http.MethodPatch, path: "/v1/payments/{id}",
		tag: tagPayments, scope: api.PaymentsWrite, summary: "Change a payment",
		description: "Its amount, payee, time or description, until it is claimed. What is left out " +
			"stays. With If-Match only if it is as the caller knows it.",
		example: changedPayment{Description: new("Rent of November")},
		problems: []*problem.Definition{
			ledger.ErrAmountTooLarge, payments.ErrInvalidRequest, payments.ErrAmountNotPositive,
			payments.ErrTooManyFractionDigits, payments.ErrNotFound, payments.ErrClaimed,
			payments.ErrFinal, payments.ErrCurrencyMismatch, payments.ErrChanged,
			payments.ErrForeign,
			payments.ErrAccountNotFound, ledger.ErrMerchantNotFound, ledger.ErrNoSettlementAccount,
			ledger.ErrAccountNotFound, ledger.ErrCurrencyMismatch, ledger.ErrAccountClosed,
			ledger.ErrInvalidRequest,
		},
	}, a.changePayment)
	register(a.Router, operation{
		id: "cancel-payment", method: http.MethodPost, path: "/v1/payments/{id}/cancel",
		tag: tagPayments, scope: api.PaymentsWrite, summary: "Cancel a payment",
		description: "Until it is claimed; of a cancellation and a claim at once one wins, and both " +
			"are told. Cancelling it again changes nothing.",
		problems: []*problem.Definition{
			payments.ErrNotFound, payments.ErrClaimed, payments.ErrFinal, payments.ErrChanged,
			payments.ErrForeign,
		},
	}, a.cancelPayment)
	register(a.Router, operation{
		id: "replay-payment", method: http.MethodPost, path: "/v1/payments/{id}/replay",
		tag: tagPayments, scope: api.PaymentsWrite, summary: "Schedule a failed payment again",
		description: "Also one that is in the history. Its attempts are counted anew. Replaying a " +
			"payment that is scheduled changes nothing.",
		problems: []*problem.Definition{
			payments.ErrNotFound, payments.ErrNotFailed, payments.ErrChanged,
			payments.ErrForeign,
		},
	}, a.replayPayment)
	register(a.Router, operation{
		id: "pay-payment", method: http.MethodPost, path: "/v1/payments/{id}/pay",
		tag: tagPayments, scope: api.PaymentsWrite, summary: "Pay one payment now",
		description: "Claims a payment that is due and settles it through the ledger, in one write " +
			"with the ledger's transaction. The outcome says what became of it.",
		problems: []*problem.Definition{payments.ErrNotFound, payments.ErrForeign},
	}, a.payPayment)
	a.registerPaymentLists()
	a.registerPaymentRuns()
	a.registerPaymentShards()
}

func (a *API) schedulePayment(
	ctx context.Context, in *schedulePaymentParams, body *newPayment,
) (*scheduledPayment, error) {
	var wrong problem.Fields
	n := payments.NewPayment{
		Key: in.IdempotencyKey, AccountID: body.AccountID, PayeeID: body.PayeeID,
		MerchantID: body.MerchantID, Description: body.Description,
	}
	CheckCurrency(&wrong, "currency", body.Currency)
	n.Amount = readAmount(&wrong, "amount", body.Amount, body.Currency)
	if body.At != "" || body.AfterSeconds == nil {
		n.Due = readDue(&wrong, body.At)
	}
	if body.AfterSeconds != nil {
		n.After = readAfter(&wrong, *body.AfterSeconds)
		if body.At != "" {
			wrong.Add("afterSeconds", "must be left out where at is given")
		}
	}
	var err error
	if n.Data, err = base64.StdEncoding.DecodeString(body.Data); err != nil {
		wrong.Add("data", "must be base64: "+err.Error())
	}
	if err := payload.Refused(wrong, payments.ErrInvalidRequest); err != nil {
		return nil, err
	}
	r, err := a.deps.Payments.Schedule(ctx, n)
	if err != nil {
		return nil, err
	}
	status, mark := repeated(r.Replayed)
	return &scheduledPayment{
		Status: status, Replayed: mark, Location: "/v1/payments/" + string(r.ID),
		ETag: `"` + paymentVersion(r.Payment) + `"`, Body: paymentOf(r.Payment),
	}, nil
}

func paymentVersion(p payments.Payment) string { return strconv.FormatUint(p.Version, 10) }

func taggedPayment(known string, p payments.Payment) *tagged[payment] {
	return newTagged(known, paymentVersion(p), paymentOf(p))
}

func (a *API) payment(ctx context.Context, in *paymentParams) (*tagged[payment], error) {
	p, err := a.deps.Payments.Payment(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return taggedPayment(in.IfNoneMatch, p), nil
}

func (a *API) changePayment(
	ctx context.Context, in *changePaymentParams, body *changedPayment,
) (*tagged[payment], error) {
	c := payments.Change{
		Version: in.version(), PayeeID: body.PayeeID, MerchantID: body.MerchantID,
		Description: body.Description,
	}
	var wrong problem.Fields
	if body.At != nil {
		c.Due = readDue(&wrong, *body.At)
	}
	if body.Amount != nil {
		amount, err := a.changedAmount(ctx, in.ID, body, &wrong)
		if err != nil {
			return nil, err
		}
		c.Amount = &amount
	} else if body.Currency != "" {
		wrong.Add("currency", "must be left out without an amount")
	}
	if err := payload.Refused(wrong, payments.ErrInvalidRequest); err != nil {
		return nil, err
	}
	p, err := a.deps.Payments.Change(ctx, in.ID, c)
	if err != nil {
		return nil, err
	}
	return taggedPayment("", p), nil
}

// changedAmount reads the new amount of a payment, whose currency the body need not repeat.
func (a *API) changedAmount(
	ctx context.Context, id payments.PaymentID, body *changedPayment, wrong *problem.Fields,
) (money.Amount, error) {
	currency := body.Currency
	if currency == "" {
		found, err := a.deps.Payments.Payment(ctx, id)
		if err != nil {
			return money.Amount{}, err
		}
		currency = found.Amount.Currency()
	}
	CheckCurrency(wrong, "currency", currency)
	return readAmount(wrong, "amount", *body.Amount, currency), nil
}

func (a *API) cancelPayment(
	ctx context.Context, in *guardedPaymentParams,
) (*tagged[payment], error) {
	p, err := a.deps.Payments.Cancel(ctx, in.ID, in.version())
	if err != nil {
		return nil, err
	}
	return taggedPayment("", p), nil
}

func (a *API) replayPayment(
	ctx context.Context, in *guardedPaymentParams,
) (*tagged[payment], error) {
	p, err := a.deps.Payments.Replay(ctx, in.ID, in.version())
	if err != nil {
		return nil, err
	}
	return taggedPayment("", p), nil
}

func (a *API) payPayment(
	ctx context.Context, in *PaymentPath,
) (*answer[paymentAttempt], error) {
	p, outcome, err := a.deps.Payments.Pay(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if a.opts.Paid != nil {
		a.opts.Paid(outcome, 1)
	}
	switch outcome {
	case payments.PaidBefore: // Perhaps by this very request, of which no answer came.
		outcome = payments.Paid
	case payments.RefusedBefore:
		outcome = payments.Refused
	}
	return &answer[paymentAttempt]{Body: paymentAttempt{
		outcome, attemptText(outcome, p), paymentOf(p),
	}}, nil
}

// attemptText returns the outcome of an attempt to pay as a sentence.
func attemptText(outcome payments.Outcome, p payments.Payment) string {
	instant := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	switch outcome {
	case payments.Paid:
		return "The payment is paid"
	case payments.Refused:
		return "The payment has failed: " + p.ReasonText
	case payments.Postponed:
		return "The payment is tried again at " + instant(p.Until) + ": " + p.ReasonText
	case payments.NotDue:
		return "The payment is not due until " + instant(p.At)
	case payments.Waiting:
		return "The payment waits for its next attempt at " + instant(p.Until) + ": " + p.ReasonText
	case payments.Withdrawn:
		return "The payment is cancelled"
	}
	return "Another worker has the payment at this moment"
}
