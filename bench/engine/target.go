package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// target is a store to measure.
type target struct {
	name string
	// note is a remark, such as that it is not durable.
	note string
	// open starts it with its data below dir; stop ends it.
	open func(ctx context.Context, t *target, dir string) error

	db    dynamo.DB
	admin dynamo.Admin
	child *child // nil in this process
	stop  func() error
}

// usage returns the CPU time used so far by the store's process and by this one.
func (t *target) usage() usage {
	u := usage{client: machine.ProcessorTime()}
	if t.child != nil {
		u.server = t.child.cpu()
	}
	return u
}

type usage struct{ server, client time.Duration }

func (u usage) since(before usage) usage {
	return usage{u.server - before.server, u.client - before.client}
}

// The names of those that others are compared with.
const (
	nameFloor    = "Pebble alone (floor)"
	nameCeiling  = "a store that does nothing, HTTP (ceiling)"
	nameDynoxide = "dynoxide, HTTP, disk"
)

// targets are the stores that can be measured here, and why the others cannot.
func targets(s settings) (all []*target, missing []string) {
	all = []*target{
		{name: nameFloor, open: openFloor},
		{name: "exchequer, in process, disk", open: openEngine(false)},
		{name: "exchequer, in process, memory", note: "not durable", open: openEngine(true)},
		{name: nameCeiling, open: openChild(selfCommand(roleIdle))},
		{name: "exchequer, HTTP, disk", open: openChild(selfCommand(roleDisk))},
		{name: "exchequer, HTTP, memory", note: "not durable",
			open: openChild(selfCommand(roleMemory))},
	}
	if s.dynoxide != "" {
		all = append(all,
			&target{name: nameDynoxide, open: openChild(func(dir, port string) []string {
				return []string{s.dynoxide, "--port", port, "--db-path",
					filepath.Join(dir, "dynoxide.db")}
			})},
			&target{name: "dynoxide, HTTP, memory", note: "not durable",
				open: openChild(func(_, port string) []string {
					return []string{s.dynoxide, "--port", port}
				})})
	} else {
		missing = append(missing, "dynoxide: give its program with -dynoxide")
	}
	if s.dynalite != "" {
		all = append(all, &target{name: "dynalite, HTTP, disk", note: "does not sync its writes",
			open: openChild(func(dir, port string) []string {
				return []string{s.dynalite, "--port", port, "--path", dir}
			})})
	} else {
		missing = append(missing, "dynalite: give its program with -dynalite")
	}
	return all, missing
}

func openEngine(memory bool) func(context.Context, *target, string) error {
	return func(_ context.Context, t *target, dir string) (err error) {
		var db *engine.DB
		if memory {
			db, err = engine.OpenMemory(engine.Options{})
		} else {
			db, err = engine.Open(dir, engine.Options{})
		}
		if err != nil {
			return err
		}
		t.db, t.admin, t.stop = db, db, db.Close
		return nil
	}
}

// readyTimeout bounds how long a server may take to start.
const readyTimeout = 20 * time.Second

// openChild starts a server as a separate process and calls it with the AWS SDK.
func openChild(command func(dir, port string) []string) func(context.Context, *target,
	string) error {
	return func(ctx context.Context, t *target, dir string) error {
		port, err := freePort()
		if err != nil {
			return err
		}
		begin := time.Now()
		c, err := startChild(command(dir, port), dir)
		if err != nil {
			return err
		}
		address := "127.0.0.1:" + port
		if err := c.await(address, readyTimeout); err != nil {
			return errors.Join(fmt.Errorf("start %s: %w", t.name, err), c.stop())
		}
		c.started = time.Since(begin)
		store, err := awssdk.Open(ctx, awssdk.Options{
			Region: "us-east-1", Endpoint: "http://" + address,
		})
		if err != nil {
			return errors.Join(err, c.stop())
		}
		t.db, t.admin, t.child, t.stop = store, store, c, c.stop
		return nil
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// The parts that this program plays as a server, named in an environment variable.
const (
	roleVariable = "EXCHEQUER_BENCH_SERVER"
	roleIdle     = "idle"
	roleDisk     = "disk"
	roleMemory   = "memory"
)

// selfCommand makes this program a server: an environment assignment, then its path.
func selfCommand(role string) func(dir, port string) []string {
	return func(dir, port string) []string {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return []string{roleVariable + "=" + role, self, port, dir}
	}
}
