package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

const benchAccounts = 1000

// benchBooks has accounts that may go below zero, so that no posting is refused.
func benchBooks(b *testing.B, opts ledger.Options) *books {
	books := openBooks(b, opts)
	for i := range benchAccounts {
		_, err := books.OpenAccount(b.Context(), ledger.NewAccount{
			ID: accountID(i), UserID: "u", AccountType: "checking", Currency: "USD",
			Unlimited: true,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return books
}

// BenchmarkPost posts payments between two of a thousand accounts, chosen at random, or from them
// to a single hot one, from one caller and from many, over a database in memory.
func BenchmarkPost(b *testing.B) {
	amount := money.MustParse("0.01", "USD")
	for _, hot := range []bool{false, true} {
		for _, callers := range []int{1, 32, 256} {
			name := fmt.Sprintf("uniform/callers=%d", callers)
			if hot {
				name = fmt.Sprintf("hot/callers=%d", callers)
			}
			b.Run(name, func(b *testing.B) {
				books := benchBooks(b, ledger.Options{})
				var next atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				errs := together(callers, func(int) error {
					for next.Add(1) <= int64(b.N) {
						from, to := rand.N(benchAccounts), rand.N(benchAccounts-1)
						if to >= from {
							to++
						}
						if hot {
							to = 0
							from = 1 + from%(benchAccounts-1)
						}
						p := ledger.TransferBetween(accountID(from), accountID(to), amount)
						p.Description = "Payment"
						if _, err := books.Post(b.Context(), p); err != nil {
							return err
						}
					}
					return nil
				})
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
				for _, err := range errs {
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkReconcile checks books of that many payments, over all days.
func BenchmarkReconcile(b *testing.B) {
	const payments = 10_000
	books := benchBooks(b, ledger.Options{})
	amount := money.MustParse("0.01", "USD")
	for i := range payments {
		books.post(ledger.TransferBetween(
			accountID(i%benchAccounts), accountID((i+7)%benchAccounts), amount))
	}
	for b.Loop() {
		r, err := books.Reconcile(b.Context(),
			ledger.ReconcileQuery{From: "2026-01-01", To: "2026-12-31"})
		if err != nil || r.Transactions != payments || !r.Balanced() {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(payments*b.N)/b.Elapsed().Seconds(), "payments/s")
}
