package client

import (
	"context"
	"time"
)

// MerchantID identifies a merchant.
type MerchantID string

// Merchant is a payee. Merchants are never changed or deleted.
type Merchant struct {
	ID       MerchantID `json:"id"`
	Name     string     `json:"name"`
	Category string     `json:"category,omitempty"`
	// SettlementAccountID is the account that receives the merchant's payments. It may be empty.
	SettlementAccountID AccountID `json:"settlementAccountId,omitempty"`
	// LocationID is the location of the merchant; it may be empty.
	LocationID LocationID `json:"locationId,omitempty"`
	CreatedAt  time.Time  `json:"createdAt,omitzero"`
}

// NewMerchant is a request to create a merchant.
type NewMerchant struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or a random one.
	ID MerchantID `json:"id,omitempty"`
	// IdempotencyKey makes the request safe to repeat. If it is empty, the client generates one,
	// unless ID is given, which also makes a repeat safe.
	IdempotencyKey      string    `json:"-"`
	Name                string    `json:"name"`
	Category            string    `json:"category,omitempty"`
	SettlementAccountID AccountID `json:"settlementAccountId,omitempty"`
	// LocationID is the location of the merchant; it may be empty.
	LocationID LocationID `json:"locationId,omitempty"`
}

// MerchantReceipt is the response to the creation of a merchant.
type MerchantReceipt struct {
	Merchant
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// CreateMerchant creates a merchant.
func (c *Client) CreateMerchant(ctx context.Context, n NewMerchant) (MerchantReceipt, error) {
	r := c.post("/v1/merchants", n)
	r.key = n.IdempotencyKey
	if r.key == "" && n.ID == "" {
		r.key = newKey()
	}
	r.safe = true // a repeat returns the first result, because of the id or the key
	made, replayed, err := repeatable[Merchant](ctx, r)
	return MerchantReceipt{made, replayed}, err
}

// Merchant returns a merchant by its id.
func (c *Client) Merchant(ctx context.Context, id MerchantID) (Merchant, error) {
	return answer[Merchant](ctx, c.get("/v1/merchants/"+segment(id), nil))
}
