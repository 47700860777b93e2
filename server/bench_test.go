package server_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// What a payment costs by each way to it, on a store in memory, so that nothing waits for a disk.
func BenchmarkPost(b *testing.B) {
	s, err := server.Open(b.Context(), server.Options{Memory: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := client.New("http://exchequer", client.Options{Transport: s.Transport()})
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range []client.AccountID{"alice", "bob"} {
		if _, err := c.OpenAccount(b.Context(), client.NewAccount{
			ID: id, UserID: "u", AccountType: "checking", Currency: "USD", Unlimited: true,
		}); err != nil {
			b.Fatal(err)
		}
	}
	one := money.MustParse("1", "USD")
	b.Run("ledger", func(b *testing.B) {
		l := server.LedgerOf(s)
		for b.Loop() {
			p := ledger.TransferBetween("alice", "bob", one)
			if _, err := l.Post(b.Context(), p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("handler", func(b *testing.B) {
		const body = `{"type":"transfer","from":"alice","to":"bob","amount":"1","currency":"USD"}`
		h, n := s.Handler(), 0
		for b.Loop() {
			n++
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost,
				"http://localhost/v1/transactions", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "handler-"+strconv.Itoa(b.N)+"-"+strconv.Itoa(n))
			w := &discard{header: http.Header{}}
			h.ServeHTTP(w, r)
			if w.status != http.StatusCreated && w.status != http.StatusOK {
				b.Fatal(w.status)
			}
		}
	})
	b.Run("client in one process", func(b *testing.B) {
		for b.Loop() {
			_, err := c.Post(b.Context(), client.Posting{
				Type: client.Transfer, From: "alice", To: "bob", Amount: one,
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// discard is an answer that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header            { return d.header }
func (d *discard) WriteHeader(status int)         { d.status = status }
func (d *discard) Write(data []byte) (int, error) { return io.Discard.Write(data) }
