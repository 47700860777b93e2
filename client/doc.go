// Package client is the Go client of the HTTP API.
//
// A [Client] has one method for each operation of the API, with plain structs as arguments and
// results. Amounts are [money.Amount], so no number is converted to a float. An error of the server
// is a *[problem.Error]: test it with errors.Is(err, ledger.ErrInsufficientFunds), or by its Code.
//
//	c, err := client.New("http://127.0.0.1:8080", client.Options{Key: key})
//	receipt, err := c.Post(ctx, client.Posting{
//		IdempotencyKey: "order-1",
//		Type:           client.Payment,
//		From:           "alice",
//		MerchantID:     "coffee-shop",
//		Amount:         money.MustParse("5.50", "USD"),
//	})
//
// # Retries
//
// A failed request is retried only if that is safe: reads, changes that set a value, and requests
// with an idempotency key, which [Client.Post] generates if there is none. The waits grow with each
// retry and end with the context. All retries of a client share a budget, so that an overloaded
// server does not receive several times as many requests.
//
// # In one process
//
// [Options.Transport] may be any connection to a server. The server package has one that calls the
// server's handler without a socket.
package client
