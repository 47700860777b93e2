package sim

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

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
	l := &life{process: p}
	var err error
	for range 30 {
		l.server, err = server.Open(p.w.ctx, server.Options{
			DataDir: p.w.dir, Store: gate{p.w.db, l}, Now: p.now, NewID: p.w.newID,
			Draw: p.w.drawInt,
			Logger: slog.New(
				slog.NewTextHandler(logLines{p}, &slog.HandlerOptions{Level: slog.LevelWarn}),
			),
			Statements: statements.Options{Files: fileView{p.w.files, l}},
		})
		if err == nil {
			p.life.Store(l)
			return nil
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

// powerOn opens the store and starts all processes.
func (w *world) powerOn() error {
	db, err := engine.Open("data", engine.Options{
		Disk: w.disk, Now: w.now, SweepInterval: -1, CacheSize: 1 << 20, MemTableSize: 256 << 10,
	})
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	w.db = db
	disk := w.disk
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
	w.disk.OnSync(nil)
	return errors.Join(err, w.db.Close())
}

// beforeSync cuts the power if the plan says so: from here on the processes are dead, and the store
// goes on writing to a disk that nobody looks at again.
func (w *world) beforeSync(disk *engine.Disk) {
	cuts := w.faultsAt(faultPower, int(w.syncs.Add(1)))
	if len(cuts) == 0 {
		return
	}
	f := cuts[0]
	for _, p := range w.processes {
		l := p.life.Load()
		if l == nil || l.dead.Load() {
			return // One thing at a time.
		}
	}
	for _, p := range w.processes {
		p.life.Load().dead.Store(true)
	}
	left := disk.CutPower(w.plan.Seed+uint64(f.At), f.N)
	disk.OnSync(nil)
	w.background.Go(func() {
		w.restarting <- struct{}{}
		defer func() { <-w.restarting }()
		err := w.powerOff()
		time.Sleep(restartTime)
		w.disk = left
		err = errors.Join(err, w.powerOn())
		if phase := int(w.phase.Load()); phase != quiet {
			err = errors.Join(err, w.setFaults(phase))
		}
		if err != nil {
			w.fail("power on: %w", err)
		}
	})
}
