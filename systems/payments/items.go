package payments

import (
	"cmp"
	"encoding/base64"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// This file turns nouns into items and back.

func itemOf(p Payment) paymentItem {
	return paymentItem{
		AccountID: p.AccountID, At: p.At, ID: p.ID, Status: p.Status, PayeeID: p.PayeeID,
		MerchantID: p.MerchantID, Amount: p.Amount.Units(), Currency: p.Amount.Currency(),
		Zone: p.Zone, Description: p.Description, Data: p.Data, Version: p.Version,
		Attempts: p.Attempts, Attempt: p.Attempt, Until: p.Until, Reason: p.Reason,
		ReasonText: p.ReasonText, TransactionID: p.TransactionID, CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt, Rest: p.Rest, Part: p.Part,
	}
}

func paymentOf(i paymentItem) Payment {
	p := Payment{
		AccountID: i.AccountID, At: i.At, ID: i.ID, Status: i.Status, PayeeID: i.PayeeID,
		MerchantID: i.MerchantID, Zone: i.Zone, Description: i.Description, Data: i.Data,
		Version: i.Version, Attempts: i.Attempts, Attempt: i.Attempt, Until: i.Until,
		Reason: i.Reason, ReasonText: i.ReasonText, TransactionID: i.TransactionID,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, Rest: i.Rest, Part: i.Part,
	}
	if i.ID == "" {
		p.ID = foreignID(i.AccountID, i.Key)
	}
	if i.Currency != "" {
		amount, err := money.New(i.Amount, i.Currency)
		if err != nil {
			panic("payments: an item in the currency " + string(i.Currency) + " was not checked")
		}
		p.Amount = amount
	}
	return p
}

// soundPayment checks a payment that was read. Another program may keep all of a payment's order
// in its data; then there is neither an amount nor a payee, and no version.
func soundPayment(i *paymentItem) *singletable.AttributeError {
	wrong := func(attribute, reason string) *singletable.AttributeError {
		return &singletable.AttributeError{Attribute: attribute, Reason: errors.New(reason)}
	}
	foreign := i.Version == 0
	switch _, err := money.New(i.Amount, i.Currency); {
	case i.Amount.Sign() < 0:
		return wrong("Amount", "is negative")
	case i.Currency != "" && err != nil:
		return wrong("Currency", "is "+strconv.Quote(string(i.Currency))+
			", which is not a code of ISO 4217")
	case i.Currency == "" && (!foreign || !i.Amount.IsZero()):
		return wrong("Currency", "is absent")
	case i.Currency != "" && i.Amount.IsZero():
		return wrong("Amount", "is absent or zero")
	case !foreign && i.PayeeID == "" && i.MerchantID == "":
		return wrong("PayeeID", "is absent, and there is no MerchantID")
	case !foreign && i.ID == "":
		return wrong("ScheduledTime", "has no id of the payment behind the time")
	}
	return nil
}

// differs returns the first attribute in which a copy is not what a payment is, "" if there is
// none. Their keys may have different forms.
func (i paymentItem) differs(copy paymentItem) string {
	for _, t := range [...]struct {
		name string
		a, b *time.Time
	}{
		{"ScheduledTime", &i.At, &copy.At}, {"LeaseUntil", &i.Until, &copy.Until},
		{"CreatedAt", &i.CreatedAt, &copy.CreatedAt}, {"UpdatedAt", &i.UpdatedAt, &copy.UpdatedAt},
	} {
		if !t.a.Equal(*t.b) {
			return t.name
		}
		*t.b = *t.a
	}
	copy.Key, copy.Shard, copy.Part = i.Key, i.Shard, i.Part
	a, b := reflect.ValueOf(i), reflect.ValueOf(copy)
	for n := range a.NumField() {
		if !reflect.DeepEqual(a.Field(n).Interface(), b.Field(n).Interface()) {
			name, _, _ := strings.Cut(a.Type().Field(n).Tag.Get("dynamodbav"), ",")
			return cmp.Or(strings.TrimPrefix(name, "@"), a.Type().Field(n).Name)
		}
	}
	return ""
}

// foreignPrefix begins the ids that payments of other programs are shown under. No id of this
// package begins so.
const foreignPrefix = "key."

// foreignID is the id of a payment whose sort key has none: the key itself, so that the payment is
// found by it.
func foreignID(account ledger.AccountID, key string) PaymentID {
	return PaymentID(foreignPrefix +
		base64.RawURLEncoding.EncodeToString([]byte(string(account)+"\x00"+key)))
}

// Foreign reports whether another program scheduled the payment without an id of its own. Such a
// payment is shown, and never settled, changed or moved.
func (id PaymentID) Foreign() bool { return strings.HasPrefix(string(id), foreignPrefix) }

// key takes the id of a payment of another program apart.
func (id PaymentID) key() (account ledger.AccountID, sort string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(string(id), foreignPrefix))
	if err != nil {
		return "", "", false
	}
	payer, sort, ok := strings.Cut(string(text), "\x00")
	return ledger.AccountID(payer), sort, ok && payer != ""
}

// heldUp is the reason that a worker reports for a payment of another program.
func (m *model) heldUp(account ledger.AccountID, key string) *singletable.UnreadableError {
	return m.scheduler.Unreadable("Payment", string(account), key, "ScheduledTime",
		errors.New("has no id of the payment behind the time, so that only the program that "+
			"scheduled it can execute it"))
}

// at is the key of a payment as an item.
func at(p Payment) paymentItem {
	return paymentItem{AccountID: p.AccountID, At: p.At, ID: p.ID}
}
