package statements

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
)

// yearsFile makes a file of some rows over two years, in order of days.
func yearsFile(rows int) string {
	var b strings.Builder
	b.WriteString("Date,Amount,Description,Transaction ID\n")
	r := rand.New(rand.NewPCG(1, 2))
	first := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range rows {
		fmt.Fprintf(&b, "%s,-%d.%02d,Shop number %d in a street,id-%d\n",
			first.AddDate(0, 0, n*730/rows).Format(time.DateOnly), 1+r.IntN(200), r.IntN(100),
			r.IntN(400), n)
	}
	return b.String()
}

// BenchmarkImport imports a large file into a durable store, and tells rows a second, the CPU time
// of a row and the greatest heap.
func BenchmarkImport(b *testing.B) {
	for _, c := range []struct {
		durable bool
		rows    int
	}{{false, 100_000}, {true, 100_000}, {true, 400_000}} {
		file := yearsFile(c.rows)
		b.Run(fmt.Sprintf("durable=%t/rows=%d", c.durable, c.rows), func(b *testing.B) {
			for range b.N {
				importOnce(b, c.durable, file, c.rows)
			}
		})
	}
}

func importOnce(b *testing.B, durable bool, file string, rows int) {
	b.StopTimer()
	var db *engine.DB
	var err error
	if durable {
		db, err = engine.Open(b.TempDir(), engine.Options{})
	} else {
		db, err = engine.OpenMemory(engine.Options{})
	}
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	files := &cabinet{files: map[string][]byte{}}
	books, err := New(singletable.NewStore(db, singletable.Options{}), Options{Files: files})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if err := books.Model().Ensure(ctx, db); err != nil {
		b.Fatal(err)
	}
	p, err := books.Person("someone")
	if err != nil {
		b.Fatal(err)
	}
	n := NewAccount{ID: "a", Name: "A", Currency: "NZD"}
	if _, _, err := p.CreateAccount(ctx, n); err != nil {
		b.Fatal(err)
	}
	_, err = p.Upload(ctx, "a", UploadRequest{ID: "1", Body: io.Reader(strings.NewReader(file))})
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	heap := watchHeap()
	cpu := machine.ProcessorTime()
	b.StartTimer()
	start := time.Now()
	u, err := p.Import(ctx, "a", "1", ImportOptions{})
	if err != nil || u.Counts.New != rows {
		b.Fatalf("%+v, %v", u.Counts, err)
	}
	took, used := time.Since(start), machine.ProcessorTime()-cpu
	b.ReportMetric(float64(rows)/took.Seconds(), "rows/s")
	b.ReportMetric(float64(used.Microseconds())/float64(rows), "cpu-µs/row")
	b.ReportMetric(float64(heap())/(1<<20), "heap-MB")
}

// watchHeap begins to look at the heap; what it returns ends that and tells the greatest.
func watchHeap() func() uint64 {
	var most atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapInuse))
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return most.Load()
	}
}
