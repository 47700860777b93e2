package ledger

import (
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// MerchantID identifies a merchant: 1 to 64 characters of [A-Za-z0-9._:-], a UUID unless the
// caller chose another.
type MerchantID string

// The maximum lengths of a merchant's texts in bytes. Both fit a line of a statement.
const (
	merchantNameMax     = 200
	merchantCategoryMax = 100
)

// Merchant is a business that is paid. Merchants are never changed nor removed, so that a
// transaction always shows who was paid and where the money went.
type Merchant struct {
	ID   MerchantID
	Name string
	// Category is the merchant's line of business, in the caller's own words; it may be empty.
	Category string
	// SettlementAccountID is the account that receives the merchant's payments. It may be empty:
	// payments then name the account to credit.
	SettlementAccountID AccountID
	// LocationID is where the merchant is, an id of the directory of locations. It may be empty.
	LocationID LocationID
	CreatedAt  time.Time
}

// MerchantReceipt is the answer to a NewMerchant.
type MerchantReceipt struct {
	Merchant
	// Replayed reports whether an earlier, equal request created the merchant.
	Replayed bool
}

// NewMerchant asks for a merchant.
type NewMerchant struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or else a random UUID.
	ID MerchantID
	// IdempotencyKey makes the request safe to repeat. One key makes one merchant: a request with
	// the same key and another ID is refused. It may be empty when ID is given, or when a repeat
	// shall make another merchant.
	IdempotencyKey      string
	Name                string
	Category            string
	SettlementAccountID AccountID
	LocationID          LocationID
}

func (n NewMerchant) check() error {
	var wrong problem.Fields
	checkNewID(&wrong, "id", string(n.ID), optional)
	checkText(&wrong, "name", n.Name, merchantNameMax, required)
	checkText(&wrong, "category", n.Category, merchantCategoryMax, optional)
	checkID(&wrong, "settlementAccountId", string(n.SettlementAccountID), optional)
	checkID(&wrong, "locationId", string(n.LocationID), optional)
	return Problems.First(wrong.Err(ErrInvalidRequest), checkKey(n.IdempotencyKey, optional))
}

// difference names the first member in which an existing merchant is not the one asked for, or
// returns "". A merchant is never changed, so it is what the first request asked for.
func (n *NewMerchant) difference(m *merchantItem) string {
	switch {
	case n.Name != m.Name:
		return "name"
	case n.Category != m.Category:
		return "category"
	case n.SettlementAccountID != m.SettlementAccountID:
		return "settlementAccountId"
	case n.LocationID != m.LocationID:
		return "locationId"
	}
	return ""
}
