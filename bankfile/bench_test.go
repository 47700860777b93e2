package bankfile_test

import (
	"runtime"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// BenchmarkRows opens a file and reads all of its rows, both passes together.
func BenchmarkRows(b *testing.B) {
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			const rows = 20_000
			s := large(format, rows)
			b.ReportAllocs()
			b.SetBytes(s.size())
			for b.Loop() {
				file, err := bankfile.Open(s, s.size(), bankfile.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for row, err := range file.Rows() {
					if err != nil || row.Outcome != bankfile.Read {
						b.Fatal(row, err)
					}
					n++
				}
				if n != rows {
					b.Fatalf("%d rows", n)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkLargeFile reads one large file of each format, 1 GB with EXCHEQUER_ROUNDS=205, and
// reports the greatest heap beside the speed, garbage included.
func BenchmarkLargeFile(b *testing.B) {
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			s := large(format, 1)
			s = large(format, rounds()*fileBytes/int64(s.width))
			peak := uint64(0)
			s.watch = func() {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			b.ReportAllocs()
			b.SetBytes(s.size())
			rows := int64(0)
			for b.Loop() {
				file, err := bankfile.Open(s, s.size(), bankfile.Options{})
				if err != nil {
					b.Fatal(err)
				}
				rows = 0
				_, err = file.Each(func(row bankfile.Row) bool {
					if row.Outcome == bankfile.Read {
						rows++
					}
					return true
				})
				if err != nil || rows != s.count {
					b.Fatalf("%d rows of %d, %v", rows, s.count, err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}
