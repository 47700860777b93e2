package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// The rows that an insertion makes: the payment, its entry in the index by status, its identity.
const (
	floorPayment  = payloadSize
	floorEntry    = 620
	floorIdentity = 330
	floorKey      = 110

	floorCache    = 256 << 20
	floorMemTable = 64 << 20
	floorBloom    = 10 // bits for a key
)

func floorName(sync bool) string {
	if sync {
		return "bare Pebble, synced"
	}
	return "bare Pebble, no sync"
}

// writeFloor writes rows of the number and sizes of the payments' insertions and does nothing else:
// no look-up, no condition, no encoding. Pebble is as it comes: with files of its own sizes, and
// large rows among the small ones, which it copies on their way down.
func writeFloor(ctx context.Context, s settings, dir string, sync bool, g *gauge) error {
	cache := pebble.NewCache(floorCache)
	defer cache.Unref() // The database keeps its own reference.
	options := &pebble.Options{
		Cache: cache, MemTableSize: floorMemTable, MemTableStopWritesThreshold: 4,
		FormatMajorVersion: pebble.FormatNewest, Logger: quietLogger{},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(floorBloom)
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		return fmt.Errorf("open pebble: %w", err)
	}
	durability := pebble.NoSync
	if sync {
		durability = pebble.Sync
	}
	err = each(ctx, s.inserters, s.payments, g, func(data []byte, number int) error {
		return writeRows(db, data, number, durability)
	})
	return errors.Join(err, db.Close())
}

func writeRows(db *pebble.DB, data []byte, number int, durability *pebble.WriteOptions) error {
	fill(data, uint64(number))
	batch := db.NewBatch()
	key := make([]byte, floorKey)
	for i, size := range [...]int{floorIdentity, floorPayment, floorEntry} {
		key[0] = byte(i)
		copy(key[1:], data[i*16:]) // Random, as a hash is.
		binary.BigEndian.PutUint64(key[floorKey-8:], uint64(number))
		if err := batch.Set(key, data[:size], nil); err != nil {
			return err
		}
	}
	return errors.Join(batch.Commit(durability), batch.Close())
}

// quietLogger discards Pebble's log.
type quietLogger struct{}

func (quietLogger) Infof(string, ...any)  {}
func (quietLogger) Errorf(string, ...any) {}

// Fatalf must not return: Pebble calls it when it cannot go on, as with a full disk.
func (quietLogger) Fatalf(format string, args ...any) { log.Fatalf("pebble: "+format, args...) }
