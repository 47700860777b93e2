package statements

import (
	"context"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
)

// A derived rate has no end as a decimal; what is cut off decides where an amount is in the middle.
func TestHomeAmountsAreOfTheExactRate(t *testing.T) {
	for _, c := range []struct {
		name  string
		quote Quote
		want  string
	}{
		{"a derived rate", Quote{Rate: dec("0.833333333333"), Above: dec("1"), Below: dec("1.2")},
			"-0.08"},
		{"a stored one", Quote{Rate: dec("0.833333333333"), Above: dec("0.833333333333"),
			Below: dec("1")}, "-0.07"},
		{"a rate alone", Quote{Rate: dec("0.833333333333")}, "-0.07"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rate := func(_ context.Context, _, _ money.Currency, on Date) (Quote, error) {
				q := c.quote
				q.Of = on
				return q, nil
			}
			p := newShelf(t, Options{Rate: rate}).user(t, "someone", "a")
			put(t, p, Transaction{AccountID: "a", Date: "2026-03-21", Amount: dec("-0.09"),
				Currency: "USD"})
			got, err := p.Spending(t.Context(),
				SpendingQuery{From: "2026-03-01", To: "2026-03-31", Currency: "EUR"})
			if err != nil {
				t.Fatal(err)
			}
			if out := got.Currencies[0].Total.Out; !out.Equal(dec(c.want)) {
				t.Errorf("it is %s, want %s", out, c.want)
			}
		})
	}
}
