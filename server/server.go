package server

import (
	"context"
	"net"
	"net/http"
)

// Server is an open store with the ledger and the API on it. It is safe for concurrent use.
type Server struct {
	opts Options
}

// Open opens the store and builds the systems on it. With [TablesCreate] it creates the tables that
// are missing; a table that differs from what the systems need is an error that names each
// difference.
func Open(ctx context.Context, opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{opts: opts}, nil
}

// Handler returns the handler of everything that the server answers.
func (s *Server) Handler() http.Handler { return nil }

// Transport returns a way to the handler without a socket, for the client package. It is trusted:
// neither a key nor the name of a host is asked for. Streams arrive as they are written.
func (s *Server) Transport() http.RoundTripper { return nil }

// Listen listens on an address, AddressDefault if it is empty. Without authentication it refuses
// any that is not of the loopback interface.
func (s *Server) Listen(ctx context.Context, address string) (net.Listener, error) {
	return nil, nil
}

// Serve answers requests from a listener until the context ends. Then it takes no more, waits for
// those in work for at most Limits.Drain, and returns nil if all were answered. It closes the
// listener. It may be called once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return nil
}

// ListenAndServe is Listen and Serve.
func (s *Server) ListenAndServe(ctx context.Context, address string) error {
	listener, err := s.Listen(ctx, address)
	if err != nil {
		return err
	}
	return s.Serve(ctx, listener)
}

// Close closes the store. Call it after Serve has returned.
func (s *Server) Close() error { return nil }
