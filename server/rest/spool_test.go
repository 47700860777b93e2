package rest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// counting counts the bytes that archives have on disk.
type counting struct {
	now, most *atomic.Int64
	mine      int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.mine += int64(len(p))
	n := c.now.Add(int64(len(p)))
	for {
		most := c.most.Load()
		if n <= most || c.most.CompareAndSwap(most, n) {
			return len(p), nil
		}
	}
}

// TestTheSpoolIsBoundedAtEveryMoment spools archives of many sizes concurrently, some of which do
// not say their size or are larger than all the room.
func TestTheSpoolIsBoundedAtEveryMoment(t *testing.T) {
	const limit = 3 * spoolStep / 2
	for _, said := range []bool{true, false} {
		s := &spool{most: limit}
		var now, most atomic.Int64
		var kept, busy, large atomic.Int32
		var work sync.WaitGroup
		for i := range 40 {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			work.Go(func() {
				size := random.Int64N(2 * limit)
				from := io.LimitReader(zeros{}, size)
				told := size
				if !said {
					told = 0
				}
				one, err := s.begin(told, from)
				on := &counting{now: &now, most: &most}
				if err == nil {
					_, err = io.Copy(struct{ io.Writer }{on}, one)
				}
				switch {
				case err == nil && on.mine == size && size <= limit:
					kept.Add(1)
				case errors.Is(err, ErrSpoolFull):
					busy.Add(1)
				case errors.Is(err, ErrSpoolTooSmall) && size > limit:
					large.Add(1)
				default:
					t.Errorf("an archive of %d bytes: %d bytes are kept, %v", size, on.mine, err)
				}
				now.Add(-on.mine)
				one.end()
			})
		}
		work.Wait()
		if most.Load() > limit || s.used != 0 || kept.Load() == 0 || large.Load() == 0 {
			t.Errorf("sizes said %v: at most %d bytes of %d, %d in the end; %d kept, %d busy, %d large",
				said, most.Load(), limit, s.used, kept.Load(), busy.Load(), large.Load())
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestTheSpoolHasRoomForExactlyItsLimit(t *testing.T) {
	for _, limit := range []int64{1, 1000, spoolStep, spoolStep + 1} {
		for size, want := range map[int64]error{
			limit - 1: nil, limit: nil, limit + 1: ErrSpoolTooSmall,
		} {
			for _, told := range []int64{0, size} {
				s := &spool{most: limit}
				archive := iotest.HalfReader(bytes.NewReader(make([]byte, size)))
				one, err := s.begin(told, archive)
				if err == nil {
					_, err = io.Copy(io.Discard, struct{ io.Reader }{one})
				}
				if !errors.Is(err, want) {
					t.Errorf("%d bytes of %d, told %d: %v", size, limit, told, err)
				}
			}
		}
	}
	s := &spool{most: 100}
	first, err := s.begin(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.begin(41, nil); !errors.Is(err, ErrSpoolFull) {
		t.Errorf("one more: %v", err)
	}
	first.end()
	if _, err := s.begin(100, nil); err != nil {
		t.Errorf("after the first: %v", err)
	}
}
