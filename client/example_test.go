package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
)

func Example() {
	ctx := context.Background()
	s, err := server.Open(ctx, server.Options{Memory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	// With a server elsewhere: client.New("http://127.0.0.1:8080", client.Options{Key: key}).
	c, err := client.New("http://exchequer", client.Options{Transport: s.Transport()})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []client.AccountID{"alice", "shop"} {
		if _, err := c.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: "u1", AccountType: "checking", Currency: "USD",
		}); err != nil {
			log.Fatal(err)
		}
	}
	deposit := client.Posting{
		IdempotencyKey: "salary-2026-01", Type: client.Deposit, To: "alice",
		Amount: money.MustParse("10.00", "USD"),
	}
	payment := client.Posting{
		IdempotencyKey: "order-1", Type: client.Payment, From: "alice", To: "shop",
		Amount: money.MustParse("5.50", "USD"),
	}
	for _, p := range []client.Posting{deposit, payment, payment} {
		r, err := c.Post(ctx, p)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Transaction.Type, r.Transaction.Amount, r.Replayed)
	}
	payment.IdempotencyKey = "order-2"
	_, err = c.Post(ctx, payment)
	var e *problem.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code)
		fmt.Println(e.Sentence)
	}
	for leg, err := range c.AllLegsOfAccount(ctx, "alice") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(leg.Type, leg.Amount, leg.BalanceAfter)
	}
	// Output:
	// deposit 10.00 USD false
	// payment 5.50 USD false
	// payment 5.50 USD true
	// insufficient_funds
	// Account alice has 4.50 USD to spend, but 5.50 USD is needed
	// debit 5.50 USD 4.50 USD
	// credit 10.00 USD 10.00 USD
}
