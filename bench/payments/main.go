package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is the shell's word for a program ended by Ctrl-C.
	exitInterrupted = 130
)

// accountsMin leaves a payment two accounts to choose from.
const accountsMin = 2

// settings are the flags.
type settings struct {
	callers  []int
	duration time.Duration
	warmUp   time.Duration
	rounds   int
	accounts int
	older    int
	stores   []string
	dir      string
	reads    bool
	json     bool
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
		fmt.Fprintln(progress, "payments:", err)
		return exitUsage
	}
	report, err := measure(ctx, s, progress)
	if err == nil {
		err = report.write(out, s.json)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(progress, "payments: interrupted; servers and files are removed")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(progress, "payments:", err)
		return exitFailed
	case report.failed():
		return exitFailed
	}
	return 0
}

func parse(args []string, output io.Writer) (settings, error) {
	var s settings
	var callers, names string
	flags := flag.NewFlagSet("payments", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&callers, "callers", "1,32,256", "numbers of concurrent callers")
	flags.DurationVar(&s.duration, "duration", 3*time.Second, "measured time of a case")
	flags.DurationVar(&s.warmUp, "warmup", time.Second, "time before a case is measured")
	flags.IntVar(&s.rounds, "rounds", 3, "repetitions; figures are medians over them")
	flags.IntVar(&s.accounts, "accounts", 1000, "accounts that money moves between")
	flags.IntVar(&s.older, "older", 20_000, "payments that are in the store beforehand")
	flags.StringVar(&names, "stores", "", "stores to run, separated by commas (default all)")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "directory on the disk to measure")
	flags.BoolVar(&s.reads, "reads", false, "measure look-ups and ranges in place of payments")
	flags.BoolVar(&s.json, "json", false, "print JSON in place of the table")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for _, text := range strings.Split(callers, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return s, fmt.Errorf("-callers %q: want positive numbers, like 1,32,256", callers)
		}
		s.callers = append(s.callers, n)
	}
	if names != "" {
		for _, name := range strings.Split(names, ",") {
			s.stores = append(s.stores, strings.TrimSpace(name))
		}
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.duration <= 0 || s.warmUp < 0 || s.rounds < 1 || s.older < 1:
		return s, errors.New("-duration, -rounds and -older must be positive, -warmup not negative")
	case s.accounts < accountsMin:
		return s, fmt.Errorf("-accounts %d: a payment needs at least %d", s.accounts, accountsMin)
	}
	_, err := s.contenders()
	return s, err
}

// contenders are the stores asked for, in the order of the table.
func (s settings) contenders() ([]store, error) {
	all := contenders(s.reads)
	if s.stores == nil {
		return all, nil
	}
	var names []string
	var asked []store
	for _, one := range all {
		names = append(names, one.name())
		if slices.Contains(s.stores, one.name()) {
			asked = append(asked, one)
		}
	}
	for _, name := range s.stores {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("-stores: no %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	return asked, nil
}
