package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/server/rest"
)

// ErrOpenAddress refuses to let the network in without authentication.
var ErrOpenAddress = errors.New("this address can be reached from other machines, and " +
	"authentication is off: listen on 127.0.0.1, or turn authentication on (keys or oidc)")

// Listen listens on an address, AddressDefault if it is empty. Without authentication it refuses
// any that is not of the loopback interface.
func (s *Server) Listen(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		address = AddressDefault
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if err := s.admit(listener); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// admit checks where a listener listens: what it is really bound to, not what it was called.
func (s *Server) admit(listener net.Listener) error {
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if s.opts.asks() || ok && tcp.IP.IsLoopback() || listener.Addr().Network() == "unix" {
		return nil
	}
	return fmt.Errorf("listen on %s: %w", listener.Addr(), ErrOpenAddress)
}

// Serve answers requests from a listener until the context ends or the store fails. Then it takes
// no more, waits for those in progress for at most Limits.Drain, and returns nil if all were
// answered. The error of a store that has failed is a [dynamo.StoreFailedError]: the process is to
// be started again. It closes the listener. With Options.RunPayments it settles payments in the
// meantime, and with Options.FetchRates it fetches exchange rates. It may be called once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if err := s.admit(listener); err != nil {
		return errors.Join(err, listener.Close())
	}
	// Requests do not end with ctx, because those in progress are to be answered. Their contexts
	// end only after the time to drain.
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h := &http.Server{
		Handler:           s.api,
		ReadHeaderTimeout: s.opts.Limits.Read,
		ReadTimeout:       s.opts.Limits.Read,
		WriteTimeout:      s.opts.Limits.Read + s.opts.Limits.Answer,
		IdleTimeout:       s.opts.Limits.Idle,
		MaxHeaderBytes:    s.opts.Limits.Header,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	}
	work, finish := context.WithCancel(ctx)
	settled := s.settlePayments(work)
	defer settled()
	fetched := s.fetchRates(work)
	defer fetched()
	defer finish()
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(listener) }()
	s.opts.Logger.Info("listening", "address", listener.Addr().String(),
		"auth", string(s.opts.Auth))
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-s.storeFailed():
		finish() // what the workers ask of the store from here on fails
		return errors.Join(s.storeFailure(), s.drain(h, stop))
	case <-ctx.Done():
	}
	return s.drain(h, stop)
}

// streamsShare is the part of the time to drain that long answers get: three quarters. The rest is
// for what their handlers still do.
const (
	streamsShare   = 3
	streamsShareOf = 4
)

// drain waits for requests in progress. Downloads and other long responses that are not finished in
// that time are broken off; the client detects that the response is incomplete.
func (s *Server) drain(h *http.Server, stop context.CancelFunc) error {
	s.draining.Store(true)
	s.opts.Logger.Info("draining", "for", s.opts.Limits.Drain)
	limited, cancel := context.WithTimeout(context.Background(), s.opts.Limits.Drain)
	defer cancel()
	s.api.EndStreams(time.Now().Add(s.opts.Limits.Drain / streamsShareOf * streamsShare))
	err := h.Shutdown(limited)
	if err == nil {
		s.opts.Logger.Info("stopped")
		return nil
	}
	stop()
	return errors.Join(
		fmt.Errorf("drain: requests were still in work after %s: %w", s.opts.Limits.Drain, err),
		h.Close())
}

// ListenAndServe is Listen and Serve.
func (s *Server) ListenAndServe(ctx context.Context, address string) error {
	listener, err := s.Listen(ctx, address)
	if err != nil {
		return err
	}
	return s.Serve(ctx, listener)
}

// done writes a line about a request into the log, and measures it.
func (s *Server) done(x rest.Exchange) {
	s.metrics.exchange(x)
	level := slog.LevelInfo
	switch {
	case x.Status == http.StatusInternalServerError:
		level = slog.LevelError
	case x.Status > http.StatusInternalServerError:
		level = slog.LevelWarn // Too busy, or too slow: it passes.
	case x.Route == healthRoute || x.Route == readyRoute || x.Route == metricsRoute:
		level = slog.LevelDebug // They come every few seconds.
	}
	ctx := context.Background()
	if !s.opts.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", x.ID), slog.String("method", x.Method), slog.String("path", x.Path),
		slog.Int("status", x.Status), slog.String("took", x.Took.String()),
		slog.Int64("bytes", x.Bytes),
		slog.Int("calls", x.Calls), slog.Float64("read", x.Read), slog.Float64("write", x.Write),
	}
	if x.Key != "" {
		attrs = append(attrs, slog.String("key", x.Key))
	}
	if x.Err != nil {
		attrs = append(attrs, slog.String("code", string(x.Code)),
			slog.String("err", x.Err.Error()))
	}
	s.opts.Logger.LogAttrs(ctx, level, "request", attrs...)
}

// The routes that watch the server.
const (
	healthRoute  = "/healthz"
	readyRoute   = "/readyz"
	metricsRoute = "/metrics"
)
