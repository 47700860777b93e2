package payments

import (
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/singletable"
)

// paymentSpace is the name space of the ids of payments, which are UUIDs of version 5.
var paymentSpace = uuid.MustParse("9a1e8c1c-0c3f-4e0e-8f4e-7c1e4b0f2d01")

// idOf returns the id of the payment that a key of an account names. No account's id holds
// the zero byte that ends it.
func idOf(n *NewPayment) PaymentID {
	name := make([]byte, 0, len(n.AccountID)+1+len(n.Key))
	name = append(name, n.AccountID...)
	name = append(name, 0)
	name = append(name, n.Key...)
	return PaymentID(uuid.NewSHA1(paymentSpace, name).String())
}

// digests are versions of a request's digest.
type digests = singletable.Digests[*NewPayment]

// requestDigests are the versions of the digest by which a repeated request is recognised.
var requestDigests = digests{{Version: "", Of: digestV1}}

// fieldsV1 are the members of a request, in the order in which version 1 of its digest has them.
var fieldsV1 = [...]string{
	"payeeId", "merchantId", "currency", "amount", "at", "description", "data",
}

// digestV1 is a hash of the whole request, and a short one of each member. Amounts are compared by
// value: 5.5 and 5.50 are the same request.
func digestV1(n *NewPayment) (digest, beyond string) {
	return singletable.MemberDigest([]byte(n.PayeeID), []byte(n.MerchantID),
		[]byte(n.Amount.Currency()), []byte(n.Amount.Decimal()), []byte(n.dueText()),
		[]byte(n.Description), n.Data), ""
}

// dueText returns when a request wants the payment to be due, as it is compared. A time after the
// request is compared as it was asked for, because each repeat comes at another moment.
func (n *NewPayment) dueText() string {
	if n.After != nil {
		return "after " + n.After.String()
	}
	return instant(n.At).Format(time.RFC3339Nano)
}

// difference names the first member in which a request differs from the one whose digest is
// stored, or returns "".
func difference(versions digests, stored string, n *NewPayment) string {
	field, known := versions.Difference(stored, n, fieldsV1[:]...)
	if !known {
		return "body"
	}
	return field
}
