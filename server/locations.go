package server

import (
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// buildLocations makes the directory of locations.
func (s *Server) buildLocations(store *singletable.Store) (err error) {
	opts := s.opts.Locations
	opts.Now = s.opts.Now
	s.locations, err = locations.New(store, opts)
	return err
}
