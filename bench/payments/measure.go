package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// seed makes payments the same in every run, but for their times.
const seed = 20260102

// kind is what a case does.
type kind string

const (
	uniform   kind = "uniform"
	hot       kind = "hot"
	lookUp    kind = "look-up"
	statement kind = "range 100"
)

// kinds are the cases of a mode.
func (s settings) kinds() []kind {
	if s.reads {
		return []kind{lookUp, statement}
	}
	return []kind{uniform, hot}
}

// accountsFor is how many accounts the stores get. A range of 100 rows needs accounts with more
// legs than that: with 200 legs on average, one with fewer than 100 would be a seven-sigma event.
func (s settings) accountsFor() int {
	if !s.reads {
		return s.accounts
	}
	const legsMean, legsPerPayment = 2 * statementRows, 2
	return max(accountsMin, min(s.accounts, s.older*legsPerPayment/legsMean))
}

// scratch makes a directory under parent that a server running as another user can reach into.
func scratch(parent string) (dir string, err error) {
	if dir, err = os.MkdirTemp(parent, "exchequer-payments-"); err != nil {
		return "", err
	}
	const enterable = 0o711
	return dir, os.Chmod(dir, enterable)
}

// measure runs all cases. In each round every case is run on every store in turn, beginning with
// another store each round, so that no store always follows the same one.
func measure(ctx context.Context, s settings, progress io.Writer) (*report, error) {
	asked, err := s.contenders()
	if err != nil {
		return nil, err
	}
	r := newReport(s)
	var stores []store
	for _, one := range asked {
		if reason := one.available(); reason != "" {
			r.missing = append(r.missing, missing{one.name(), reason})
			fmt.Fprintf(progress, "%s is left out: %s\n", one.name(), reason)
			continue
		}
		stores = append(stores, one)
	}
	if s.rounds*len(stores) == 0 {
		return nil, errors.New("no store to measure")
	}
	older := olderPayments(seed, s.accountsFor(), s.older)
	for round := range s.rounds {
		for _, kind := range s.kinds() {
			for _, callers := range s.callers {
				for turn := range stores {
					one := stores[(turn+round)%len(stores)]
					c := caseOf{kind: kind, callers: callers, round: round, older: older}
					began := time.Now()
					sample, err := c.run(ctx, s, one)
					if ctx.Err() != nil {
						return nil, ctx.Err()
					}
					r.add(one.name(), kind, callers, round, sample, err)
					c.tell(progress, s, one, sample, err, time.Since(began))
				}
			}
		}
	}
	return r, nil
}

// caseOf is one case of one round on one store.
type caseOf struct {
	kind    kind
	callers int
	round   int
	older   []payment
}

// run opens the store on a fresh directory, loads it, measures, checks the books and removes all.
func (c caseOf) run(ctx context.Context, s settings, one store) (taken sample, err error) {
	dir, err := scratch(s.dir)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := one.open(ctx, dir, s.accountsFor()); err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, one.close()) }()
	if err := one.load(ctx, c.older); err != nil {
		return sample{}, fmt.Errorf("load: %w", err)
	}
	call, err := c.call(s, one)
	if err != nil {
		return sample{}, err
	}
	taken, err = drive(ctx, pace{c.callers, s.warmUp, s.duration}, call)
	if err != nil || s.reads {
		return taken, err
	}
	if err := one.check(ctx, len(c.older)+taken.acknowledged); err != nil {
		return sample{}, fmt.Errorf("the books are wrong: %w", err)
	}
	return taken, nil
}

// call returns what each caller repeats.
func (c caseOf) call(
	s settings, one store,
) (func(caller int) func(context.Context) error, error) {
	if c.kind == uniform || c.kind == hot {
		return func(caller int) func(context.Context) error {
			m := newMaker(seed, c.stream(caller), s.accountsFor(), c.kind == hot)
			return func(ctx context.Context) error { return one.pay(ctx, m.next()) }
		}, nil
	}
	rows, ok := one.(reader)
	if !ok {
		return nil, fmt.Errorf("%s cannot be read", one.name())
	}
	return func(caller int) func(context.Context) error {
		random := rand.New(rand.NewPCG(seed, c.stream(caller)))
		if c.kind == lookUp {
			return func(ctx context.Context) error {
				return rows.find(ctx, c.older[random.IntN(len(c.older))].id)
			}
		}
		return func(ctx context.Context) error {
			n, err := rows.statement(ctx, random.IntN(s.accountsFor()))
			if err == nil && n != statementRows {
				err = fmt.Errorf("a range of %d rows, want %d", n, statementRows)
			}
			return err
		}
	}, nil
}

// stream numbers the random stream of a caller, another one each round.
func (c caseOf) stream(caller int) uint64 {
	return uint64(c.round)<<16 | uint64(caller)
}

func (c caseOf) tell(
	progress io.Writer, s settings, one store, taken sample, err error, took time.Duration,
) {
	fmt.Fprintf(progress, "round %d/%d  %-14s %-9s %3d callers  ",
		c.round+1, s.rounds, one.name(), c.kind, c.callers)
	if err != nil {
		fmt.Fprintf(progress, "FAILED: %v\n", err)
		return
	}
	fmt.Fprintf(progress, "%9.0f/s  (%.1f s with loading and checks)\n",
		taken.perSecond, took.Seconds())
}
