package payments

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/google/uuid"
)

// paymentSpace is the name space of the ids of payments, which are UUIDs of version 5.
var paymentSpace = uuid.MustParse("9a1e8c1c-0c3f-4e0e-8f4e-7c1e4b0f2d01")

// idOf returns the id of the payment that a key of an account stands for. No account's id holds
// the zero byte that ends it.
func idOf(n *NewPayment) PaymentID {
	name := make([]byte, 0, len(n.AccountID)+1+len(n.Key))
	name = append(name, n.AccountID...)
	name = append(name, 0)
	name = append(name, n.Key...)
	return PaymentID(uuid.NewSHA1(paymentSpace, name).String())
}

// requestFields are the names of what a request says, in the order in which its hash has them.
var requestFields = [...]string{
	"payeeId", "merchantId", "currency", "amount", "at", "description", "data",
}

// fieldHashLen is how many bytes are kept of the hash of each field: enough to name the field that
// differs, once the whole hash has told that one does.
const fieldHashLen = 3

// requestHash condenses what the client sent: a hash of the whole, and a short one of each field.
// Amounts are taken by value: 5.5 and 5.50 are the same request.
func requestHash(n *NewPayment) string {
	values := [...][]byte{
		[]byte(n.PayeeID), []byte(n.MerchantID), []byte(n.Amount.Currency()),
		[]byte(n.Amount.Decimal()), []byte(instant(n.At).Format(time.RFC3339Nano)),
		[]byte(n.Description), n.Data,
	}
	out := make([]byte, sha256.Size/2, sha256.Size/2+fieldHashLen*len(values))
	whole := sha256.New()
	for _, v := range values {
		part := sha256.Sum256(v) // The data is large, and read once: the whole is of the parts.
		whole.Write(part[:])
		out = append(out, part[:fieldHashLen]...)
	}
	copy(out[:sha256.Size/2], whole.Sum(nil))
	return base64.RawURLEncoding.EncodeToString(out)
}

// differenceOf names the first field in which two requests differ, or returns "".
func differenceOf(one, other string) string {
	if one == other {
		return ""
	}
	a, _ := base64.RawURLEncoding.DecodeString(one)
	b, _ := base64.RawURLEncoding.DecodeString(other)
	for i, name := range requestFields {
		from := sha256.Size/2 + i*fieldHashLen
		to := from + fieldHashLen
		if to > len(a) || to > len(b) || string(a[from:to]) != string(b[from:to]) {
			return name
		}
	}
	return "body"
}
