package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Names that ratios are taken against.
const (
	baseline = "postgres"
	floor    = "pebble floor"
)

const (
	// openingBalance, in minor units, is so large that no run can empty the hot account: the check
	// for funds is made on every payment and always passes.
	openingBalance = 1_000_000_000_000
	// amountMax is small compared to the opening balance.
	amountMax = 100
	// metadataSize and noteSize bring headers and legs to about 400 bytes, the size of such rows in
	// a real ledger.
	metadataSize = 200
	noteSize     = 220
	// statementRows is the length of the range that the read cases fetch.
	statementRows = 100
	// loadCallers is how many payments are in flight when a store without a bulk path is preloaded.
	loadCallers = 64
)

// errShort is what pay answers when the debited account cannot cover the amount.
var errShort = errors.New("insufficient funds")

// store is one contender. Its methods are called in the order open, load, pay (from many goroutines
// at once), check, close; a store that was closed can be opened again on another directory.
type store interface {
	// name is the word used in tables and in -stores.
	name() string
	// available returns a sentence with the reason why the store cannot run here and what to
	// install, or "".
	available() (reason string)
	// open makes an empty store under dir with so many accounts of openingBalance each.
	open(ctx context.Context, dir string, accounts int) error
	// load posts older payments by the fastest path there is and brings statistics up to date.
	load(ctx context.Context, older []payment) error
	// pay posts one payment and returns when it is durable. A repeated key changes nothing and is
	// no error; an account that cannot pay is errShort.
	pay(ctx context.Context, p payment) error
	// check proves the books: balances sum to the opening balances, every stored balance is the sum
	// of its legs, and there are exactly so many transactions.
	check(ctx context.Context, transactions int) error
	close() error
}

// reader is a store that the read cases can measure.
type reader interface {
	store
	// find reads the header of one transaction by its id.
	find(ctx context.Context, id uuid.UUID) error
	// statement reads the newest statementRows legs of one account and returns how many it saw.
	statement(ctx context.Context, account int) (int, error)
}

// contenders lists every store in the order of the table. The read cases leave out stores that
// differ from another one only in how they write.
func contenders(reads bool) []store {
	if reads {
		return []store{&exchequer{}, &postgres{}, &sqlite{}, &pebbleRows{}}
	}
	return []store{
		&exchequer{}, &postgres{}, &sqlite{}, &sqlite{grouped: true}, &pebbleFloor{},
	}
}

// payment is one movement of money between two accounts, which are numbered from 0. The amount is
// in minor units.
type payment struct {
	id            uuid.UUID
	key           string
	debit, credit int
	amount        int64
	description   string
	metadata      string
	note          string
	at            time.Time
}

// accountID returns the identifier of account n: the same in all stores, and as long as a real one.
func accountID(n int) uuid.UUID {
	var name [8]byte
	binary.BigEndian.PutUint64(name[:], uint64(n))
	return uuid.NewSHA1(uuid.NameSpaceOID, name[:])
}

// accountIDs lists the identifiers of accounts 0 to n-1.
func accountIDs(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = accountID(i)
	}
	return ids
}

// maker makes payments of one caller. It is not safe for concurrent use.
type maker struct {
	random   *rand.Rand
	accounts int
	hot      bool
	text     string
}

// newMaker returns a maker whose payments depend on seed and stream alone. With hot, account 0 pays
// every time; without, both accounts are drawn at random.
func newMaker(seed, stream uint64, accounts int, hot bool) *maker {
	random := rand.New(rand.NewPCG(seed, stream))
	return &maker{random: random, accounts: accounts, hot: hot, text: fillerText(random, 16<<10)}
}

// fillerText returns text of six random bits a character, so that no store gains by compressing it.
func fillerText(random *rand.Rand, size int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	text := make([]byte, size)
	for i := range text {
		text[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(text)
}

func (m *maker) filler(size int) string {
	from := m.random.IntN(len(m.text) - size)
	return m.text[from : from+size]
}

func (m *maker) uuid() uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], m.random.Uint64())
	binary.BigEndian.PutUint64(id[8:], m.random.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (m *maker) next() payment {
	debit := 0
	if !m.hot {
		debit = m.random.IntN(m.accounts)
	}
	credit := m.random.IntN(m.accounts - 1)
	if credit >= debit {
		credit++
	}
	return payment{
		id:          m.uuid(),
		key:         m.uuid().String(),
		debit:       debit,
		credit:      credit,
		amount:      1 + m.random.Int64N(amountMax),
		description: m.filler(24),
		metadata:    m.filler(metadataSize),
		note:        m.filler(noteSize),
		at:          time.Now().UTC().Truncate(time.Millisecond),
	}
}

// olderPayments makes the payments that every store holds before it is measured, always between
// accounts at random.
func olderPayments(seed uint64, accounts, count int) []payment {
	const stream = 1 << 32 // No caller has this stream.
	m := newMaker(seed, stream, accounts, false)
	older := make([]payment, count)
	for i := range older {
		older[i] = m.next()
	}
	return older
}

// loadByPaying preloads a store that has no bulk path: it pays with loadCallers callers.
func loadByPaying(ctx context.Context, s store, older []payment) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan payment)
	var callers sync.WaitGroup
	for range loadCallers {
		callers.Go(func() {
			for p := range queue {
				if err := s.pay(ctx, p); err != nil {
					cancel(fmt.Errorf("load: %w", err))
					return
				}
			}
		})
	}
feed:
	for _, p := range older {
		select {
		case queue <- p:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	callers.Wait()
	return context.Cause(ctx)
}

// books are the totals that check compares.
type books struct {
	sum          int64 // of all balances
	transactions int
	drifted      int // accounts whose balance is not opening balance plus legs
	unbalanced   int // transactions whose legs do not sum to zero or are not two
}

// verify compares totals read from a store with what must be there.
func (b books) verify(accounts, transactions int) error {
	want := int64(accounts) * openingBalance
	switch {
	case b.sum != want:
		return fmt.Errorf("balances sum to %d, want %d", b.sum, want)
	case b.transactions != transactions:
		return fmt.Errorf("%d transactions stored, %d acknowledged", b.transactions, transactions)
	case b.drifted != 0:
		return fmt.Errorf("%d accounts differ from the sum of their legs", b.drifted)
	case b.unbalanced != 0:
		return fmt.Errorf("%d transactions do not balance", b.unbalanced)
	}
	return nil
}
