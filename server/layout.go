package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The names of the systems whose operations can be refused separately; see [api.Options].
const (
	systemLedger     = "ledger"
	systemPayments   = "payments"
	systemLocations  = "locations"
	systemRates      = "rates"
	systemStatements = "statements"
)

// system is what of a system decides where its rows are.
type system struct {
	name string
	// tables are those without which it cannot work, the ones of other systems included.
	tables []*singletable.Table
	// check compares settings with what is stored; nil if there are none.
	check func(context.Context) error
}

func (s *Server) systems() []system {
	books := s.ledger.Model().Tables()
	return []system{
		{systemLedger, books, s.ledger.CheckLayout},
		{systemPayments, append(s.payments.Model().Tables(), books...), s.payments.CheckLayout},
		{systemLocations, s.locations.Model().Tables(), s.locations.CheckLayout},
		{systemRates, s.rates.Model().Tables(), nil},
		{systemStatements, s.statements.Model().Tables(), nil},
	}
}

// fitOptions takes over what the tables that exist have decided: optional indexes and projections.
func (s *Server) fitOptions(ctx context.Context) error {
	fitted, missing, err := s.opts.Locations.Fit(ctx, s.db)
	if err != nil {
		return busy(err)
	}
	for _, name := range missing {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "the table of locations lacks an index",
			slog.String("index", name), slog.String("next", "exchequer tables create"))
	}
	s.wanted, s.opts.Locations = fitted.Indexed(s.opts.Locations), fitted
	s.opts.Payments, err = s.opts.Payments.Fit(ctx, s.db)
	if layout, differs := errors.AsType[*singletable.LayoutError](err); differs {
		s.refuse(systemPayments, layout)
		return nil
	}
	return busy(err)
}

// checkLayout compares the tables, and the settings that decide where rows are, with what is
// stored. A system that differs refuses its operations; the other systems go on.
func (s *Server) checkLayout(ctx context.Context) error {
	for _, system := range s.systems() {
		broken := false
		for _, table := range system.tables {
			if drift := s.tables.drift[table.Name()]; drift != nil {
				s.refuse(system.name, drift)
				broken = true
			}
		}
		if broken || system.check == nil {
			continue
		}
		err := system.check(ctx)
		var layout *singletable.LayoutError
		switch {
		case errors.As(err, &layout):
			s.refuse(system.name, err)
		case errors.Is(err, dynamo.ErrResourceNotFound):
			// A command that takes the tables as they are; there is nothing to differ from.
		case err != nil:
			return err
		}
	}
	for _, system := range s.systems() {
		// Of tables, Check names each difference itself.
		var layout *singletable.LayoutError
		if err := s.layout[system.name]; errors.As(err, &layout) {
			s.tables.layout[system.tables[0].Name()] = layout
		}
	}
	return nil
}

// refuse notes why a system cannot be used; the first reason is kept.
func (s *Server) refuse(system string, err error) {
	if s.layout == nil {
		s.layout = map[string]error{}
	}
	if s.layout[system] == nil {
		s.layout[system] = err
	}
}

// systemLayout returns why a system cannot be used.
func (s *Server) systemLayout(system string) error { return s.layout[system] }

// CheckLayout returns an error if a table is not as the systems need it, or if a setting of the
// options differs from what is stored with the data, such as the number of status shards. The
// stored values hold; operations of the systems concerned are refused with the codes table_differs
// and layout_differs.
func (s *Server) CheckLayout() error {
	var all []error
	tables := map[string]bool{}
	for _, system := range slices.Sorted(maps.Keys(s.layout)) {
		err := s.layout[system]
		if drift, ok := errors.AsType[*singletable.DriftError](err); ok {
			if tables[drift.Table] {
				continue // Two systems need the table.
			}
			tables[drift.Table] = true
			err = &tableError{drift}
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// tableError is the error of a table that differs, with a line for each difference.
type tableError struct{ drift *singletable.DriftError }

func (e *tableError) Error() string {
	return fmt.Sprintf("table %s is not as this server needs it:\n  %s\n"+
		"check the name of the table, or use the version that created it",
		e.drift.Table, strings.Join(e.drift.Differences, "\n  "))
}

func (e *tableError) Unwrap() error { return e.drift }
