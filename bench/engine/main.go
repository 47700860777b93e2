package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const (
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is the shell's word for a program ended by Ctrl-C.
	exitInterrupted = 130
)

// settings are the flags.
type settings struct {
	callers            []int
	duration, warmUp   time.Duration
	rounds             int
	dir                string
	dynoxide, dynalite string
	only               string
	cases              string
}

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		if err := serve(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "engine:", err)
			os.Exit(exitFailed)
		}
		return
	}
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
		fmt.Fprintln(progress, "engine:", err)
		return exitUsage
	}
	r, err := measure(ctx, s, progress)
	if err == nil {
		err = r.write(out)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(progress, "engine: interrupted; servers and files are removed")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(progress, "engine:", err)
		return exitFailed
	}
	return 0
}

func parse(args []string, output io.Writer) (settings, error) {
	var s settings
	var callers string
	flags := flag.NewFlagSet("engine", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&callers, "callers", "1,32", "numbers of concurrent callers")
	flags.DurationVar(&s.duration, "duration", 3*time.Second, "measured time of a case")
	flags.DurationVar(&s.warmUp, "warmup", time.Second, "time before a case is measured")
	flags.IntVar(&s.rounds, "rounds", 3, "repetitions; figures are medians over them")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "directory on the disk to measure")
	flags.StringVar(&s.dynoxide, "dynoxide", "", "the program of dynoxide")
	flags.StringVar(&s.dynalite, "dynalite", "", "the program of dynalite")
	flags.StringVar(&s.only, "stores", "", "measure only stores whose name has this in it")
	flags.StringVar(&s.cases, "cases", "", "measure only cases whose name has this in it")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for text := range strings.SplitSeq(callers, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return s, fmt.Errorf("-callers %q: want positive numbers, like 1,32", callers)
		}
		s.callers = append(s.callers, n)
	}
	for _, program := range []*string{&s.dynoxide, &s.dynalite} {
		if *program == "" {
			continue
		}
		path, err := filepath.Abs(*program)
		if err != nil {
			return s, err
		}
		if _, err := os.Stat(path); err != nil {
			return s, fmt.Errorf("a peer's program: %w", err)
		}
		*program = path
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.duration <= 0 || s.warmUp < 0 || s.rounds < 1:
		return s, errors.New("-duration and -rounds must be positive, -warmup not negative")
	}
	return s, nil
}

// measure runs all cases on all stores, one store at a time, in every round.
func measure(ctx context.Context, s settings, progress io.Writer) (*report, error) {
	all, missing := targets(s)
	r := newReport(s, missing)
	for round := range s.rounds {
		for _, t := range all {
			if !strings.Contains(t.name, s.only) {
				continue
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, s.rounds, t.name)
			if err := measureOne(ctx, s, t, r, uint64(round)); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return r, nil
}

func measureOne(ctx context.Context, s settings, t *target, r *report, round uint64) (err error) {
	dir, err := os.MkdirTemp(s.dir, "bench-engine-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := t.open(ctx, t, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	if err := prepare(ctx, t); err != nil {
		return err
	}
	if t.child != nil {
		idle, _ := t.child.memory()
		r.process(t, idle)
	}
	for i, k := range cases() {
		if !strings.Contains(k.name, s.cases) {
			continue
		}
		for _, callers := range s.callers {
			p := pace{callers: callers, warmUp: s.warmUp, duration: s.duration}
			seed := round<<16 | uint64(i)<<8 | uint64(callers)
			got, err := drive(ctx, t, k, p, seed)
			if unknown(err) {
				continue // the peer has no such call
			}
			if err != nil {
				return fmt.Errorf("%s with %d callers: %w", k.name, callers, err)
			}
			r.add(t, k.name, callers, got)
		}
	}
	if t.child != nil {
		_, most := t.child.memory()
		r.peak(t, most)
	}
	return nil
}

// prepare makes the tables and fills them, but for stores that have their own ways.
func prepare(ctx context.Context, t *target) error {
	if t.admin == nil || t.name == nameCeiling {
		return nil
	}
	for _, in := range tables() {
		if _, err := t.admin.CreateTable(ctx, in); err != nil {
			return fmt.Errorf("create table %s: %w", in.TableName, err)
		}
		for {
			d, err := t.admin.DescribeTable(ctx, in.TableName)
			if err != nil {
				return fmt.Errorf("describe table %s: %w", in.TableName, err)
			}
			if d.TableStatus == dynamo.StatusActive {
				break
			}
			time.Sleep(pollEvery)
		}
	}
	return fill(ctx, t.db)
}

// unknown means that a store does not have an operation.
func unknown(err error) bool {
	var e *dynamo.Error
	return errors.As(err, &e) && e.Code == "UnknownOperationException"
}
