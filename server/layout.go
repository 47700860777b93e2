package server

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
)

// checkLayout compares the settings that decide where rows are with what is stored with the data. A
// system whose settings differ refuses its operations; the other systems go on.
func (s *Server) checkLayout(ctx context.Context) error {
	for _, system := range []struct {
		name, table string
		check       func(context.Context) error
	}{
		{"ledger", s.ledger.Table().Name(), s.ledger.CheckLayout},
	} {
		err := system.check(ctx)
		var layout *singletable.LayoutError
		switch {
		case errors.As(err, &layout):
			s.refuse(system.name, system.table, err)
		case errors.Is(err, dynamo.ErrResourceNotFound):
			// A command that takes the tables as they are; there is nothing to differ from.
		case err != nil:
			return err
		}
	}
	return nil
}

// refuse notes why a system cannot be used.
func (s *Server) refuse(system, table string, err error) {
	if s.layout == nil {
		s.layout, s.tables.layout = map[string]error{}, map[string]error{}
	}
	s.layout[system] = err
	s.tables.layout[table] = err
}

// systemLayout returns why a system cannot be used.
func (s *Server) systemLayout(system string) error { return s.layout[system] }

// CheckLayout returns an error if a setting of the options differs from what is stored with the
// data, such as the number of status shards. The stored values hold; operations of the system
// concerned are refused with the code layout_differs.
func (s *Server) CheckLayout() error {
	var all []error
	for _, system := range slices.Sorted(maps.Keys(s.layout)) {
		all = append(all, s.layout[system])
	}
	return errors.Join(all...)
}
