package server_test

import (
	"context"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
)

func TestSmoke(t *testing.T) {
	s, err := server.Open(context.Background(), server.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := client.New("http://exchequer", client.Options{Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var u client.Usage
	ctx = client.WithUsage(ctx, &u)
	a, err := c.OpenAccount(ctx, client.NewAccount{ID: "a", UserID: "u", AccountType: "checking", Currency: "USD"})
	t.Log(a, err)
	r, err := c.Post(ctx, client.Posting{Type: client.Deposit, To: "a", Amount: money.MustParse("5.50", "USD")})
	t.Log(r, err)
	r, err = c.Post(ctx, client.Posting{Type: client.Withdrawal, From: "a", Amount: money.MustParse("50", "USD")})
	t.Log(r, err, u)
	e, err := c.Entry(ctx, r.Transaction.ID)
	t.Log(e, err)
	ts, err := c.Tables(ctx)
	t.Log(ts, err)
}
