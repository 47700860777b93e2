package payments

import (
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// IDOf returns the id of the payment that a request with a key makes on an account. It does no I/O:
// an id does not show whether there is such a payment.
func IDOf(account ledger.AccountID, key string) PaymentID {
	return idOf(&NewPayment{AccountID: account, Key: key})
}

// ShardOf returns the shard of the index by status, 0 to count-1, that a payment is in while there
// are so many. Models of a load use it; a stored payment has its shard in Sharded-GSI-PK.
func ShardOf(id PaymentID, count int) int { return singletable.ShardOf(string(id), count) }
