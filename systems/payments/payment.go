package payments

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/when"
)

// PaymentID identifies a payment: a UUID, derived from the account and the key of the request. It
// is the idempotency key of the ledger's transaction, in a space that no caller's key reaches.
type PaymentID string

// Status is the state of a payment. See the life cycle in the package's description.
type Status string

// The states of a payment.
const (
	Scheduled Status = "SCHEDULED"
	Pending   Status = "PENDING"
	Processed Status = "PROCESSED"
	Cancelled Status = "CANCELLED"
	Failed    Status = "FAILED"
)

// Statuses returns all states.
func Statuses() []Status {
	return []Status{Scheduled, Pending, Processed, Cancelled, Failed}
}

// Known reports whether s is one of the states.
func (s Status) Known() bool {
	switch s {
	case Scheduled, Pending, Processed, Cancelled, Failed:
		return true
	}
	return false
}

// Final reports whether a payment of the state never changes again.
func (s Status) Final() bool { return s == Processed || s == Cancelled || s == Failed }

// Bounds of a payment. With the maximum of each an item stays within 8,192 bytes, and so
// costs the 8 write units that the design counts with.
const (
	// DataMax is the maximum size of a payment's data in bytes.
	DataMax = 6900
	// descriptionMax is in bytes; bank statements carry 140 characters at most.
	descriptionMax = 280
	// keyMax is the maximum length of an idempotency key in characters.
	keyMax = 255
	// reasonMax cuts the sentence that explains why a payment failed, in bytes.
	reasonMax = 200
)

// Payment is an order to pay at a time.
type Payment struct {
	ID PaymentID
	// AccountID is who pays.
	AccountID ledger.AccountID
	// PayeeID is the account that is paid; empty when a merchant is.
	PayeeID ledger.AccountID
	// MerchantID is the merchant that is paid; empty when an account is.
	MerchantID ledger.MerchantID
	Amount     money.Amount
	// At is when it is due, with milliseconds.
	At time.Time
	// Zone is where the days of the payer begin, copied from its account, or else that of the
	// ledger; "" means UTC.
	Zone        string
	Description string
	// Data is the caller's own, and returned as it came: at most DataMax bytes.
	Data   []byte
	Status Status
	// Version is 1 at first, and is raised by every change.
	Version uint64
	// Attempts counts the claims.
	Attempts int
	// Attempt names the claim in hand of a payment that is pending; it is empty while the payment
	// waits for its next attempt.
	Attempt string
	// Until is when a claim, or the wait for the next attempt, is over.
	Until time.Time
	// Reason is the code of what went wrong last, and ReasonText its sentence.
	Reason     problem.Code
	ReasonText string
	// Rest is what other programs stored with the payment. It is kept when the payment is written.
	Rest singletable.Rest
	// Part is set where the payment was read without its data, from an index. Such a payment is
	// never written.
	Part singletable.Part
	// TransactionID is the ledger's transaction of a payment that was processed.
	TransactionID ledger.TransactionID
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// waiting reports whether no attempt has the payment, so that it may be changed.
func (p Payment) waiting() bool {
	return p.Status == Scheduled || p.Status == Pending && p.Attempt == ""
}

// NewPayment asks for a payment.
type NewPayment struct {
	// Key makes the request safe to repeat at any time, also after the payment was changed, moved
	// or archived. Empty means that an equal request is another payment.
	Key        string
	AccountID  ledger.AccountID
	PayeeID    ledger.AccountID
	MerchantID ledger.MerchantID
	Amount     money.Amount
	// At, Due or After is when the payment is due. At is an instant.
	At time.Time
	// Due, in place of At, is an instant, or a day or a local time in the zone of the account that
	// pays. A day is its first instant. Package when defines the instant of a local time that does
	// not exist or exists twice.
	Due when.Time
	// After, in place of At, is how long after the first such request the payment is due. A repeat
	// gets the payment as the first request made it.
	After       *time.Duration
	Description string
	Data        []byte
}

func (n NewPayment) check() error {
	var wrong problem.Fields
	checkAccount(&wrong, "accountId", string(n.AccountID))
	checkPayee(&wrong, n.PayeeID, n.MerchantID)
	if n.PayeeID != "" && n.PayeeID == n.AccountID {
		wrong.Add("payeeId", "must be another account than the payer's")
	}
	n.checkDue(&wrong)
	checkDescription(&wrong, n.Description)
	if n.Amount.Currency() == "" {
		wrong.Add("currency", "is missing")
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return err
	}
	if !utf8.ValidString(n.Key) || utf8.RuneCountInString(n.Key) > keyMax {
		return ErrInvalidKey.Field("idempotencyKey", "must be UTF-8 of 1 to 255 characters")
	}
	if len(n.Data) > DataMax {
		return ErrDataTooLarge.With("size", len(n.Data)).With("limit", DataMax).
			Field("data", "must be smaller")
	}
	return checkAmount(n.Amount)
}

func checkAmount(a money.Amount) error {
	if a.Sign() <= 0 {
		return ErrAmountNotPositive.With("amount", a).Field("amount", "must be more than zero")
	}
	if !a.Fits() {
		digits := a.Currency().Digits()
		return ErrTooManyFractionDigits.With("amount", a.Decimal()).
			With("currency", a.Currency()).With("digits", digits).
			Field("amount", fmt.Sprintf("must have at most %d of them", digits))
	}
	return nil
}

// idMax is the maximum length of the ids of the ledger.
const idMax = 64

func checkAccount(wrong *problem.Fields, field, id string) {
	switch {
	case id == "":
		wrong.Add(field, "is missing")
	case len(id) > idMax || strings.ContainsFunc(id, foreignRune):
		wrong.Addf(field, "must be 1 to %d letters, digits and . _ : -", idMax)
	case strings.HasPrefix(id, "@"):
		wrong.Add(field, "must not be one of the ledger's own accounts")
	}
}

// foreignRune reports characters that ids do not have. An "@" at the front is looked at by callers.
func foreignRune(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return !strings.ContainsRune("._:-@", c)
}

func checkPayee(wrong *problem.Fields, account ledger.AccountID, merchant ledger.MerchantID) {
	foreign := func(id string) bool {
		return len(id) > idMax || strings.ContainsFunc(id, foreignRune)
	}
	switch {
	case account == "" && merchant == "":
		wrong.Add("payeeId", "is missing, and so is merchantId: give one of them")
	case account != "" && merchant != "":
		wrong.Add("merchantId", "must not be given together with payeeId")
	case foreign(string(account)):
		wrong.Addf("payeeId", "must be 1 to %d letters, digits and . _ : -", idMax)
	case foreign(string(merchant)):
		wrong.Addf("merchantId", "must be 1 to %d letters, digits and . _ : -", idMax)
	}
}

// The years of a payment: keys sort by text, which four digits do.
const (
	yearLeast = 1970
	yearMost  = 9999
)

func checkTime(wrong *problem.Fields, at time.Time) {
	if year := at.UTC().Year(); year < yearLeast || year > yearMost {
		wrong.Addf("at", "must be in the years %d to %d", yearLeast, yearMost)
	}
}

// checkDue checks that a request has one member for when its payment is due. The zero instant is
// missing as At, and a time like any other as Due.
func (n NewPayment) checkDue(wrong *problem.Fields) {
	switch given := n.Due.Given() || !n.At.IsZero(); {
	case given && n.After != nil:
		wrong.Add("after", "must not be given together with at")
	case n.After != nil && *n.After < 0:
		wrong.Add("after", "must not be negative")
	case !given && n.After == nil:
		wrong.Add("at", "is missing")
	case n.After == nil && !n.Due.Given():
		checkTime(wrong, n.At)
	}
}

// due returns the instant at which the payment is due, which is in the years that can be stored.
func (n NewPayment) due(zone *time.Location, now time.Time) (time.Time, error) {
	at := n.At
	switch {
	case n.After != nil:
		at = now.Add(*n.After)
	case n.Due.Given():
		at = n.Due.In(zone)
	}
	var wrong problem.Fields
	checkTime(&wrong, at)
	return instant(at), wrong.Err(ErrInvalidRequest)
}

func checkDescription(wrong *problem.Fields, text string) {
	switch {
	case !utf8.ValidString(text):
		wrong.Add("description", "must be UTF-8")
	case len(text) > descriptionMax:
		wrong.Addf("description", "must have at most %d bytes", descriptionMax)
	}
}

// posting is what the ledger is asked for when the payment is due.
func (p Payment) posting() ledger.Posting {
	q := ledger.TransferBetween(p.AccountID, p.PayeeID, p.Amount)
	if p.MerchantID != "" {
		q = ledger.PayMerchant(p.AccountID, p.MerchantID, p.Amount)
	}
	q.Type = ledger.Payment
	q.IdempotencyKey = string(p.ID)
	q.Description = p.Description
	return q
}

// instant cuts a time to what is stored.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
