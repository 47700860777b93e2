package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
)

const (
	// sampleTime is how often memory is looked at: a peak of a tenth of a second counts.
	sampleTime = 100 * time.Millisecond
	// tellTime is the interval of progress lines.
	tellTime = 5 * time.Second
)

// phase is what was measured of one phase.
type phase struct {
	name     string
	payments int
	took     time.Duration
	cpu      time.Duration
	// quarter is the peak of memory while the first quarter was done, peak that of all.
	quarter, peak uint64
	written       uint64 // to the disk
	wroteKnown    bool
	disk          uint64 // what the directory takes at the end
	diskPeak      uint64
}

// gauge measures a phase while it runs, and prints its progress.
type gauge struct {
	phase
	dir      string
	progress io.Writer
	began    time.Time
	cpuFirst time.Duration
	ioFirst  uint64
	done     atomic.Int64
	stop     chan struct{}
	sampling sync.WaitGroup
}

func newGauge(name string, count int, dir string, progress io.Writer) *gauge {
	g := &gauge{
		phase: phase{name: name, payments: count}, dir: dir, progress: progress,
		began: time.Now(), cpuFirst: machine.ProcessorTime(), stop: make(chan struct{}),
	}
	g.ioFirst, g.wroteKnown = machine.Written()
	g.sampling.Go(g.sample)
	return g
}

// sample looks at memory until the end.
func (g *gauge) sample() {
	ticks := time.NewTicker(sampleTime)
	defer ticks.Stop()
	told := g.began
	for {
		g.look()
		if now := time.Now(); now.Sub(told) >= tellTime {
			told = now
			g.tell()
			g.diskPeak = max(g.diskPeak, usedDisk(g.dir))
		}
		select {
		case <-ticks.C:
		case <-g.stop:
			return
		}
	}
}

func (g *gauge) look() {
	memory := machine.Resident()
	g.peak = max(g.peak, memory)
	if g.done.Load()*4 <= int64(g.payments) {
		g.quarter = g.peak
	}
}

func (g *gauge) tell() {
	done, total := g.done.Load(), int64(g.payments)
	const width = 20
	filled := int(width * min(done, total) / total)
	bar := make([]byte, width)
	for i := range bar {
		bar[i] = '.'
		if i < filled {
			bar[i] = '#'
		}
	}
	fmt.Fprintf(g.progress, "%-22s [%s] %9d of %d  %6.0f/s  %s\n", g.name, bar, done, total,
		float64(done)/time.Since(g.began).Seconds(), bytesText(machine.Resident()))
}

// end ends the measurement.
func (g *gauge) end() phase {
	close(g.stop)
	g.sampling.Wait()
	g.look()
	g.took, g.cpu = time.Since(g.began), machine.ProcessorTime()-g.cpuFirst
	if last, known := machine.Written(); known {
		g.written = last - g.ioFirst
	}
	g.disk = usedDisk(g.dir)
	g.diskPeak = max(g.diskPeak, g.disk)
	g.tell()
	g.payments = max(1, int(g.done.Load())) // Fewer, if it was interrupted.
	return g.phase
}

// usedDisk returns the total size of the files of a directory. Files that are removed in the
// meantime are ignored.
func usedDisk(dir string) uint64 {
	var sum uint64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			sum += uint64(info.Size())
		}
		return nil
	})
	return sum
}

// bytesText writes a number of bytes for people.
func bytesText(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// profilePath is where the profile of a phase goes.
func profilePath(dir, phase string) string {
	return filepath.Join(dir, phase+".pprof")
}

// createProfile makes the file of a profile.
func createProfile(dir, phase string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(profilePath(dir, phase))
}
