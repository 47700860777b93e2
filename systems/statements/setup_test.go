package statements_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// clockStart is a day after those of the seed's examples.
var clockStart = time.Date(2025, 9, 1, 8, 0, 0, 0, time.UTC)

// books are books under test, with their store and clock.
type books struct {
	*statements.Books
	t     testing.TB
	db    storetest.Database
	store *singletable.Store
	time  *storetest.Clock
}

// open opens books on a database of their own.
func open(t testing.TB, opts statements.Options) *books {
	t.Helper()
	b := &books{t: t, time: storetest.NewClock(clockStart)}
	b.db = storetest.OpenFor(t, engine.Options{})
	if opts.Now == nil {
		opts.Now = b.time.Now
	}
	b.store = singletable.NewStore(b.db, singletable.Options{
		Now: opts.Now, CursorKey: []byte("a key of tests"),
	})
	var err error
	if b.Books, err = statements.New(b.store, opts); err != nil {
		t.Fatal(err)
	}
	if err := b.Model().Ensure(t.Context(), b.db); err != nil {
		t.Fatal(err)
	}
	return b
}

// person returns the part of a user.
func (b *books) person(user string) *statements.Person {
	b.t.Helper()
	p, err := b.Person(user)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// account makes an account in New Zealand dollars.
func (b *books) account(p *statements.Person, name string) statements.Account {
	b.t.Helper()
	a, _, err := p.CreateAccount(b.t.Context(), statements.NewAccount{Name: name, Currency: "NZD"})
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}
