// Package client is the Go client of the HTTP API.
//
// A [Client] has one method for each operation of the API, with plain structs in and out. Amounts
// are [money.Amount], so no number passes through a float on its way. What the server refuses comes
// back as a *[problem.Error]: ask errors.Is(err, ledger.ErrInsufficientFunds), or look at its Code.
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
// # Repeats
//
// A request that failed on its way is sent again only when that cannot do harm: reads, changes that
// set something to a value, and everything that carries an idempotency key, which [Client.Post]
// makes up when there is none. Repeats wait longer each time, stop with the context, and are taken
// from a budget that the whole client shares, so that a server in trouble is not buried under them.
//
// # In one process
//
// [Options.Transport] may be any way to reach a server. The server package has one that calls the
// server's handler without a socket.
package client
