package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/exchequer-dev/exchequer/bench/machine"
)

const (
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is the shell's word for a program ended by Ctrl-C.
	exitInterrupted = 130
)

// Defaults of the flags.
const (
	paymentsDefault = 1_000_000
	// Enough that the flushes of the disk are shared by many writes. A payment is inserted by two
	// writes, each of which waits for the disk, and nothing else: that takes more callers.
	callersDefault   = 128
	insertersDefault = 1024
	payersDefault    = 5_000
)

// settings are the flags.
type settings struct {
	payments  int
	callers   int
	inserters int
	payers    int
	data      string
	floor     bool
	heat      bool
	profile   string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code when everything it started has ended.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	s, err := parse(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(progress, "payday:", err)
		return exitUsage
	}
	if !s.heat {
		err = measure(ctx, s, out, progress)
	}
	if err == nil {
		err = reportHeat(ctx, out)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(progress, "payday: interrupted; the files are removed")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(progress, "payday:", err)
		return exitFailed
	}
	return 0
}

func parse(args []string, output io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("payday", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&s.payments, "payments", paymentsDefault, "payments of the day")
	flags.IntVar(&s.callers, "callers", callersDefault, "callers that settle and look up at a time")
	flags.IntVar(&s.inserters, "inserters", insertersDefault, "callers that insert at a time")
	flags.IntVar(&s.payers, "payers", payersDefault, "accounts that pay")
	flags.StringVar(&s.data, "data", os.TempDir(), "directory on the disk to measure")
	flags.BoolVar(&s.floor, "floor", true, "measure bare Pebble beside it")
	flags.BoolVar(&s.heat, "heat", false, "run the model of DynamoDB's partitions alone")
	flags.StringVar(&s.profile, "profile", "",
		"directory for a profile of the processor in each phase")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.payments < 1 || s.callers < 1 || s.inserters < 1 || s.payers < 1:
		return s, errors.New("-payments, -callers, -inserters and -payers must be at least 1")
	}
	return s, nil
}

// measure runs the floor and the day, each in a new directory that is removed.
func measure(ctx context.Context, s settings, out, progress io.Writer) error {
	if err := s.checkDisk(out); err != nil {
		return err
	}
	r := &report{settings: s, load: machine.Load()}
	for _, sync := range []bool{false, true} {
		if !s.floor {
			break
		}
		name := floorName(sync)
		err := within(s.data, func(dir string) error {
			g := newGauge(name, s.payments, dir, progress)
			err := writeFloor(ctx, s, dir, sync, g)
			r.add(g.end())
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	err := within(s.data, func(dir string) error {
		d, err := openDay(ctx, s, dir)
		if err != nil {
			return err
		}
		return errors.Join(d.pass(ctx, r, progress), d.close())
	})
	r.write(out, err == nil) // What was measured before a failure is worth seeing too.
	return err
}

// within calls do with a new directory, which is removed afterwards.
func within(parent string, do func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, "payday")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}

// Disk that a payment takes at the peak: its item in both tables, what it leaves in the ledger, and
// the versions that were replaced and are not collected yet. It is what 30,000 payments took, where
// hardly any were; of more payments a greater part is.
const (
	diskPerPayment = 32 << 10
	diskSpare      = 1 << 30
)

// checkDisk prints how much disk space the run needs, and fails if there is less.
func (s settings) checkDisk(out io.Writer) error {
	need := uint64(s.payments)*diskPerPayment + diskSpare
	free, known := machine.FreeDisk(s.data)
	if !known {
		fmt.Fprintf(out, "This needs %s of disk in %s; how much is free cannot be told here.\n",
			bytesText(need), s.data)
		return nil
	}
	fmt.Fprintf(out, "This needs %s of disk in %s, where %s are free.\n", bytesText(need), s.data,
		bytesText(free))
	if free < need {
		return fmt.Errorf("%d payments need %s of disk and there are %s: name another disk with "+
			"-data, or fewer -payments", s.payments, bytesText(need), bytesText(free))
	}
	return nil
}
