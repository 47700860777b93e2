package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// ticket is what a caller writes together with a posting.
type ticket struct {
	ID    string
	State string
}

// tickets is a table beside the ledger's.
type tickets struct {
	*books
	entity *singletable.Entity[ticket]
	state  singletable.Field[ticket, string]
}

func openTickets(t *testing.T) *tickets {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("100"))
	b.account("bob", usd("0"))
	table := singletable.NewTable("Tickets", singletable.Keys("ID"))
	k := &tickets{books: b}
	k.entity = singletable.NewEntity[ticket](table, "Ticket", singletable.Primary("<ID>"))
	k.state = singletable.FieldOf(k.entity, func(x *ticket) *string { return &x.State })
	if err := table.Ensure(t.Context(), b.db); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *tickets) open(id string) {
	k.t.Helper()
	if err := k.entity.Create(k.t.Context(), k.store, ticket{id, "open"}); err != nil {
		k.t.Fatal(err)
	}
}

// pay posts and closes a ticket, which must be open.
func (k *tickets) pay(ctx context.Context, id, amount string) (ledger.Receipt, error) {
	return k.PostWith(ctx, keyed(id, transfer("alice", "bob", amount)), ledger.With{
		Actions: 1,
		Add: func(tx *singletable.Tx, e ledger.Entry) {
			k.entity.UpdateTx(tx, ticket{ID: id}, k.state.Set(string(e.Transaction.ID)),
				singletable.If(k.state.Equals("open")))
		},
	})
}

func (k *tickets) stateOf(id string) string {
	k.t.Helper()
	found, _, err := k.entity.Get(k.t.Context(), k.store, ticket{ID: id}, singletable.Consistent())
	if err != nil {
		k.t.Fatal(err)
	}
	return found.State
}

func TestPostWithWritesBothOrNeither(t *testing.T) {
	k := openTickets(t)
	k.open("one")
	r, err := k.pay(t.Context(), "one", "30")
	if err != nil || r.Replayed || k.stateOf("one") != string(r.Transaction.ID) {
		t.Fatalf("receipt %+v, %v; the ticket is %s", r, err, k.stateOf("one"))
	}
	again, err := k.pay(t.Context(), "one", "30")
	if err != nil || !again.Replayed || again.Transaction.ID != r.Transaction.ID {
		t.Errorf("again: %+v, %v", again, err)
	}
	// The ledger refuses: nothing of the caller's is written.
	k.open("two")
	if _, err := k.pay(t.Context(), "two", "71"); !errors.Is(err, ledger.ErrInsufficientFunds) {
		t.Errorf("too much: %v", err)
	}
	if got := k.stateOf("two"); got != "open" {
		t.Errorf("the ticket is %s", got)
	}
	// The caller's own condition fails: nothing is posted.
	if _, err := k.pay(t.Context(), "three", "1"); !errors.Is(err, ledger.ErrJoined) {
		t.Errorf("a ticket that is not there: %v", err)
	}
	if _, err := k.EntryByKey(t.Context(), "three"); !errors.Is(err,
		ledger.ErrTransactionNotFound) {
		t.Errorf("the ledger has it: %v", err)
	}
}

// Postings that share an account are joined into one write. One whose own condition fails does not
// take the others with it.
func TestPostWithInABatch(t *testing.T) {
	k := openTickets(t)
	const count = 60
	for i := range count {
		if i%7 != 0 {
			k.open(fmt.Sprint(i))
		}
	}
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			_, err := k.pay(context.Background(), fmt.Sprint(i), "1")
			if missing := i%7 == 0; missing != errors.Is(err, ledger.ErrJoined) ||
				!missing && err != nil {
				t.Errorf("ticket %d: %v", i, err)
			}
		})
	}
	all.Wait()
	a, err := k.Account(t.Context(), "bob")
	if err != nil || a.Balance != usd("51") {
		t.Errorf("bob has %v, %v", a.Balance, err)
	}
	for i := range count {
		if got := k.stateOf(fmt.Sprint(i)); got == "open" {
			t.Errorf("ticket %d is still open", i)
		}
	}
}

func TestPostWithRefusesMoreThanOneWriteTakes(t *testing.T) {
	k := openTickets(t)
	_, err := k.PostWith(t.Context(), transfer("alice", "bob", "1"), ledger.With{Actions: 96})
	if !errors.Is(err, ledger.ErrTooManyLegs) {
		t.Errorf("error %v", err)
	}
}
