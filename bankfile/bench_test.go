package bankfile_test

import (
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
