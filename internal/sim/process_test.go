package sim

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// process is one server. It dies and is started again.
type process struct {
	w      *world
	number int
	skew   atomic.Int64 // Of its clock, in nanoseconds.
	life   atomic.Pointer[life]
}

// life is a process from a start to its end.
type life struct {
	*process
	dead   atomic.Bool
	server *server.Server
}

// now is what the clock of a process shows.
func (p *process) now() time.Time { return p.w.now().Add(time.Duration(p.skew.Load())) }

// logLines writes what a process logs into the history.
type logLines struct{ p *process }

func (l logLines) Write(line []byte) (int, error) {
	l.p.w.event("process %d logs: %s", l.p.number, bytes.TrimSpace(line))
	return len(line), nil
}

// alive returns the life of a process that is not dead, or nil.
func (p *process) alive() *life {
	if l := p.life.Load(); l != nil && !l.dead.Load() {
		return l
	}
	return nil
}

// start starts a process. Faults of the store may be in the way for a while.
func (p *process) start() error {
	w, l := p.w, &life{process: p}
	var err error
	for range 30 {
		l.server, err = server.Open(w.ctx, server.Options{
			DataDir: w.dir, Store: gate{w.db(), l}, Now: p.now, NewID: w.newID,
			Draw: w.drawInt,
			Logger: slog.New(
				slog.NewTextHandler(logLines{p}, &slog.HandlerOptions{Level: slog.LevelWarn}),
			),
			Statements: statements.Options{Files: fileView{w.files, l}},
			Locations:  w.plan.locationOptions(),
		})
		if err == nil {
			p.life.Store(l)
			return nil
		}
		if w.db().Failure() != nil {
			return nil // watchDisk starts it once the disk works.
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("start process %d: %w", p.number, err)
}

// restartTime is how long a process stays away.
const restartTime = 200 * time.Millisecond

// kill lets a process die, and has it started again a while later.
func (p *process) kill() {
	l := p.life.Load()
	if l == nil || !l.dead.CompareAndSwap(false, true) {
		return
	}
	w := p.w
	w.background.Go(func() {
		w.restarting <- struct{}{}
		defer func() { <-w.restarting }()
		if p.life.Load() != l {
			return // The power went off in between.
		}
		err := l.server.Close()
		time.Sleep(restartTime)
		if err = errors.Join(err, p.start()); err != nil {
			w.fail("restart: %w", err)
		}
	})
}

// machine is the store that the processes share, while its power is on.
type machine struct {
	disk   *engine.Disk
	db     *engine.DB
	closed chan struct{} // Closed by close, when the power goes off.
	close  func()
}

// db returns the store.
func (w *world) db() *engine.DB { return w.machine.Load().db }

// powerOn opens the store on a disk and starts all processes.
func (w *world) powerOn(disk *engine.Disk) error {
	db, err := engine.Open("data", engine.Options{
		Disk: disk, Now: w.steady, SweepInterval: -1, CacheSize: 1 << 20, MemTableSize: 256 << 10,
	})
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	closed := make(chan struct{})
	m := &machine{disk, db, closed, sync.OnceFunc(func() { close(closed) })}
	w.machine.Store(m)
	go w.watchDisk(m)
	disk.OnSync(func() { w.beforeSync(disk) })
	for _, p := range w.processes {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

// powerOff stops all processes and closes the store.
func (w *world) powerOff() error {
	var err error
	for _, p := range w.processes {
		if l := p.life.Load(); l != nil {
			l.dead.Store(true)
			err = errors.Join(err, l.server.Close())
			p.life.Store(nil)
		}
	}
	m := w.machine.Load()
	m.disk.OnSync(nil)
	m.close()
	var failed *dynamo.StoreFailedError
	if closing := m.db.Close(); !errors.As(closing, &failed) {
		return errors.Join(err, closing)
	}
	return err
}

// watchDisk stops all processes once the store has failed, as their supervisors do, and starts them
// again on the same disk, which works by then. Until the stop they go on to answer.
func (w *world) watchDisk(m *machine) {
	select {
	case <-m.closed:
		return
	case <-m.db.Failed():
	}
	w.event("the store has failed: %v", m.db.Failure())
	w.count("store failed", "")
	w.background.Go(func() {
		time.Sleep(w.draw(50 * time.Millisecond))
		w.restarting <- struct{}{}
		defer func() { <-w.restarting }()
		if w.machine.Load() != m {
			return // The power went off in between.
		}
		err := w.powerOff()
		time.Sleep(restartTime)
		m.disk.Heal()
		if err = errors.Join(err, w.powerOn(m.disk), w.resumeFaults()); err != nil {
			w.fail("restart after the disk failed: %w", err)
		}
	})
}

// resumeFaults gives a store that was opened again the faults of the phase.
func (w *world) resumeFaults() error {
	if phase := int(w.phase.Load()); phase != quiet {
		return w.setFaults(phase)
	}
	return nil
}

// beforeSync lets the disk fail, or cuts the power, if the plan says so. After a cut the processes
// are dead, and the store goes on writing to a disk that nothing reads again.
func (w *world) beforeSync(disk *engine.Disk) {
	n := int(w.syncs.Add(1))
	for _, f := range w.faultsAt(faultDisk, n) {
		disk.Fail(diskFaults[f.N%len(diskFaults)])
	}
	for _, f := range w.faultsAt(faultPower, n) {
		w.cutPower(disk, f)
	}
}

// cutPower cuts the power, unless something is dead already.
func (w *world) cutPower(disk *engine.Disk, f fault) {
	m := w.machine.Load()
	for _, p := range w.processes {
		l := p.life.Load()
		if l == nil || l.dead.Load() {
			return // One thing at a time.
		}
	}
	for _, p := range w.processes {
		p.life.Load().dead.Store(true)
	}
	w.count("power cut", "")
	left := disk.CutPower(w.plan.Seed+uint64(f.At), f.N)
	disk.OnSync(nil)
	w.background.Go(func() {
		w.restarting <- struct{}{}
		defer func() { <-w.restarting }()
		if w.machine.Load() != m {
			return // The store failed and was opened again in between.
		}
		err := w.powerOff()
		time.Sleep(restartTime)
		left.Heal() // It may have failed in the moment before the cut.
		if err = errors.Join(err, w.powerOn(left), w.resumeFaults()); err != nil {
			w.fail("power on: %w", err)
		}
	})
}
