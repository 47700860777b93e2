package server

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// buildLocations makes the directory of locations.
func (s *Server) buildLocations(store *singletable.Store) (err error) {
	opts := s.opts.Locations
	opts.Now = s.opts.Now
	s.locations, err = locations.New(store, opts)
	return err
}

// locationExists reports to the ledger whether a location exists. Deleted ones exist, because
// references to them stay valid.
func (s *Server) locationExists(ctx context.Context, id ledger.LocationID) (bool, error) {
	_, err := s.locations.Location(ctx, locations.ID(id))
	if errors.Is(err, locations.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
