package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// What the floor writes for each call: rows of the number and sizes that the engine writes.
const (
	floorIndexKey  = 80 // bytes of an index row, which is a key that points at its item
	floorPayItems  = 6
	floorPayKeys   = 6 // the header and both legs are in two indexes; the accounts' rows stay
	floorCacheSize = 256 << 20
	floorMemTable  = 64 << 20
	floorBloomBits = 10
)

// floorStore answers calls by moving bytes, and does nothing else.
type floorStore struct {
	dynamo.DB
	db     *pebble.DB
	filler []byte
	order  sync.Pool // of *rand.Rand
}

func openFloor(_ context.Context, t *target, dir string) error {
	cache := pebble.NewCache(floorCacheSize)
	defer cache.Unref() // the database keeps its own reference
	options := &pebble.Options{
		Cache: cache, MemTableSize: floorMemTable, FormatMajorVersion: pebble.FormatNewest,
		Logger: quiet{},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(floorBloomBits)
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		return fmt.Errorf("open pebble: %w", err)
	}
	f := &floorStore{db: db, filler: []byte(text(rand.New(rand.NewPCG(3, 4)), 1<<20).S())}
	f.order.New = func() any { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }
	t.db, t.stop = f, db.Close
	return f.fill()
}

func (f *floorStore) fill() error {
	for i := range getItems {
		if err := f.db.Set(fmt.Appendf(nil, "item-%d", i), f.filler[i:i+smallSize],
			pebble.NoSync); err != nil {
			return err
		}
	}
	for i := range queryRows {
		if err := f.db.Set(fmt.Appendf(nil, "row-%06d", i), f.filler[i:i+rowSize],
			pebble.NoSync); err != nil {
			return err
		}
	}
	return f.db.Flush()
}

// write commits rows of these sizes, and index keys, under keys that were not used before.
func (f *floorStore) write(sizes []int, keys int) error {
	r := f.order.Get().(*rand.Rand)
	defer f.order.Put(r)
	batch := f.db.NewBatch()
	var key []byte
	for _, size := range sizes {
		key = append(append(key[:0], 'i'), fresh(r)...)
		at := r.IntN(len(f.filler) - size)
		if err := batch.Set(key, f.filler[at:at+size], nil); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	for range keys {
		key = append(append(key[:0], 'x'), fresh(r)...)
		at := r.IntN(len(f.filler) - floorIndexKey)
		key = append(key, f.filler[at:at+floorIndexKey-len(key)]...)
		if err := batch.Set(key, nil, nil); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	return errors.Join(batch.Commit(pebble.Sync), batch.Close())
}

func (f *floorStore) Put(_ context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	if in.TableName == tableLarge {
		return &dynamo.PutOutput{}, f.write([]int{largeSize}, 1)
	}
	return &dynamo.PutOutput{}, f.write([]int{smallSize}, 0)
}

func (f *floorStore) Update(context.Context, *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	return &dynamo.UpdateOutput{}, f.write([]int{len("counter-000cntstateopen")}, 0)
}

func (f *floorStore) TransactWrite(context.Context, *dynamo.TransactWriteInput) (
	*dynamo.TransactWriteOutput, error,
) {
	sizes := make([]int, floorPayItems)
	for i := range sizes {
		sizes[i] = partySize
	}
	return &dynamo.TransactWriteOutput{}, f.write(sizes, floorPayKeys)
}

func (f *floorStore) Get(_ context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	value, closer, err := f.db.Get([]byte(in.Key["pk"].S()))
	if err != nil {
		return nil, err
	}
	item := dynamo.Item{"data": dynamo.B(append([]byte(nil), value...))}
	return &dynamo.GetOutput{Item: item}, closer.Close()
}

func (f *floorStore) Query(context.Context, *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	it, err := f.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte("row-"), UpperBound: []byte("row."),
	})
	if err != nil {
		return nil, err
	}
	items := make([]dynamo.Item, 0, queryRows)
	for ok := it.First(); ok; ok = it.Next() {
		items = append(items, nil)
	}
	return &dynamo.QueryOutput{Items: items}, it.Close()
}

// quiet discards Pebble's log.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
