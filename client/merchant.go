package client

import (
	"context"
	"time"
)

// MerchantID identifies a merchant.
type MerchantID string

// Merchant is someone who is paid. Merchants are never changed nor removed.
type Merchant struct {
	ID       MerchantID `json:"id"`
	Name     string     `json:"name"`
	Category string     `json:"category,omitempty"`
	// SettlementAccountID is the account that receives the merchant's payments. It may be empty.
	SettlementAccountID AccountID `json:"settlementAccountId,omitempty"`
	// LocationID is where the merchant is; it may be empty.
	LocationID LocationID `json:"locationId,omitempty"`
	CreatedAt  time.Time  `json:"createdAt,omitzero"`
}

// NewMerchant asks for a merchant.
type NewMerchant struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or else a random one.
	ID MerchantID `json:"id,omitempty"`
	// IdempotencyKey makes the request safe to repeat. Empty means that the client makes one up,
	// unless ID is given, which makes a repeat safe as well.
	IdempotencyKey      string    `json:"-"`
	Name                string    `json:"name"`
	Category            string    `json:"category,omitempty"`
	SettlementAccountID AccountID `json:"settlementAccountId,omitempty"`
	// LocationID is where the merchant is; it may be empty.
	LocationID LocationID `json:"locationId,omitempty"`
}

// MerchantReceipt is the answer to a request for a merchant.
type MerchantReceipt struct {
	Merchant
	// Replayed reports whether an earlier, equal request created it, which is as it is now.
	Replayed bool `json:"-"`
}

// CreateMerchant creates a merchant.
func (c *Client) CreateMerchant(ctx context.Context, n NewMerchant) (MerchantReceipt, error) {
	r := c.post("/v1/merchants", n)
	r.key = n.IdempotencyKey
	if r.key == "" && n.ID == "" {
		r.key = newKey()
	}
	r.safe = true // The id or the key makes a repeat find the first answer.
	made, replayed, err := repeatable[Merchant](ctx, r)
	return MerchantReceipt{made, replayed}, err
}

// Merchant returns a merchant by its id.
func (c *Client) Merchant(ctx context.Context, id MerchantID) (Merchant, error) {
	return answer[Merchant](ctx, c.get("/v1/merchants/"+segment(id), nil))
}
