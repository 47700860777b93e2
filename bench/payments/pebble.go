package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/google/uuid"
)

const (
	// floorItemSize and floorIndexSize are what one payment of a ledger on a single table comes to:
	// six items (header, two legs, key guard, two accounts) and six index keys.
	floorItems     = 6
	floorItemSize  = 400
	floorIndexes   = 6
	floorIndexSize = 60

	pebbleCacheSize    = 256 << 20
	pebbleMemTableSize = 64 << 20
	bloomBitsPerKey    = 10
)

// Leading bytes of keys: what a row is.
const (
	kindHeader byte = iota + 1
	kindPart
	kindAccount
	kindIndex
	kindKilobyte
	kindRow
)

// pebbleFloor writes the bytes of a payment in one synced batch and does nothing else: no look-up,
// no condition, no encoding. No ledger on this storage can be faster.
type pebbleFloor struct {
	db       *pebble.DB
	accounts int
}

func (f *pebbleFloor) name() string      { return floor }
func (f *pebbleFloor) available() string { return "" }

func (f *pebbleFloor) open(_ context.Context, dir string, accounts int) error {
	cache := pebble.NewCache(pebbleCacheSize)
	defer cache.Unref() // The database keeps its own reference.
	options := &pebble.Options{
		Cache:              cache,
		MemTableSize:       pebbleMemTableSize,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             quietLogger{},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		return fmt.Errorf("open pebble: %w", err)
	}
	f.db, f.accounts = db, accounts
	return nil
}

func (f *pebbleFloor) load(_ context.Context, older []payment) error {
	for _, p := range older {
		if err := f.write(p, pebble.NoSync); err != nil {
			return err
		}
	}
	return f.db.Flush()
}

func (f *pebbleFloor) pay(_ context.Context, p payment) error {
	return f.write(p, pebble.Sync)
}

func (f *pebbleFloor) write(p payment, durability *pebble.WriteOptions) error {
	batch := f.db.NewBatch()
	defer batch.Close()
	value := []byte(p.metadata + p.note)[:floorItemSize]
	key := make([]byte, 0, floorIndexSize)
	for i := range floorItems {
		switch i {
		case 0:
			key = append(append(key[:0], kindHeader), p.id[:]...)
		case floorItems - 2:
			key = binary.BigEndian.AppendUint64(append(key[:0], kindAccount), uint64(p.debit))
		case floorItems - 1:
			key = binary.BigEndian.AppendUint64(append(key[:0], kindAccount), uint64(p.credit))
		default:
			key = append(append(append(key[:0], kindPart), p.id[:]...), byte(i))
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
	}
	for i := range floorIndexes {
		// The payment's own random text brings index keys to the length of real ones.
		key = append(append(key[:0], kindIndex, byte(i)), p.id[:]...)
		key = append(key, p.note[:floorIndexSize-len(key)]...)
		if err := batch.Set(key, nil, nil); err != nil {
			return err
		}
	}
	return batch.Commit(durability)
}

// check counts the headers; the floor keeps no balances that could be summed.
func (f *pebbleFloor) check(_ context.Context, transactions int) error {
	headers, err := f.count(kindHeader)
	if err != nil {
		return err
	}
	if headers != transactions {
		return fmt.Errorf("%d headers stored, %d acknowledged", headers, transactions)
	}
	return nil
}

func (f *pebbleFloor) count(kind byte) (int, error) {
	rows, err := f.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{kind}, UpperBound: []byte{kind + 1},
	})
	if err != nil {
		return 0, err
	}
	n := 0
	for valid := rows.First(); valid; valid = rows.Next() {
		n++
	}
	return n, rows.Close() // Close reports what went wrong on the way, too.
}

func (f *pebbleFloor) close() error { return f.db.Close() }

// pebbleRows is the reference of the read cases: a Get of 1 KB and an iteration over 100 rows of
// 230 bytes, as bytes, with nothing decoded.
type pebbleRows struct {
	pebbleFloor
}

const (
	kilobyte = 1 << 10
	rowSize  = 230
)

func (r *pebbleRows) name() string { return "pebble raw" }

// load writes one value of 1 KB a payment, and a full statement for each account.
func (r *pebbleRows) load(_ context.Context, older []payment) error {
	random := rand.New(rand.NewPCG(1, 1))
	text := []byte(fillerText(random, kilobyte))
	for _, p := range older {
		copy(text, p.metadata) // Values differ, as real ones do.
		key := append([]byte{kindKilobyte}, p.id[:]...)
		if err := r.db.Set(key, text, pebble.NoSync); err != nil {
			return err
		}
	}
	for account := range r.accounts {
		for row := range statementRows {
			if err := r.db.Set(rowKey(account, row), text[:rowSize], pebble.NoSync); err != nil {
				return err
			}
		}
	}
	return r.db.Flush()
}

func rowKey(account, row int) []byte {
	key := binary.BigEndian.AppendUint64([]byte{kindRow}, uint64(account))
	return binary.BigEndian.AppendUint64(key, uint64(row))
}

func (r *pebbleRows) find(_ context.Context, id uuid.UUID) error {
	value, closer, err := r.db.Get(append([]byte{kindKilobyte}, id[:]...))
	if err != nil {
		return err
	}
	if len(value) != kilobyte {
		closer.Close()
		return fmt.Errorf("value of %d bytes, want %d", len(value), kilobyte)
	}
	return closer.Close()
}

func (r *pebbleRows) statement(_ context.Context, account int) (int, error) {
	rows, err := r.db.NewIter(&pebble.IterOptions{
		LowerBound: rowKey(account, 0), UpperBound: rowKey(account+1, 0),
	})
	if err != nil {
		return 0, err
	}
	n := 0
	for valid := rows.Last(); valid && n < statementRows; valid = rows.Prev() {
		if len(rows.Value()) == rowSize {
			n++
		}
	}
	return n, rows.Close()
}

// quietLogger discards Pebble's log.
type quietLogger struct{}

func (quietLogger) Infof(string, ...any)  {}
func (quietLogger) Errorf(string, ...any) {}

// Fatalf must not return: Pebble calls it when it cannot go on, as with a full disk.
func (quietLogger) Fatalf(format string, args ...any) { log.Fatalf("pebble: "+format, args...) }
