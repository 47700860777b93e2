package server

//go:generate go test . -run TestGeneratedPages -update

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/internal/tempfile"
	ledgerapi "github.com/exchequer-dev/exchequer/server/ledger"
	ratesapi "github.com/exchequer-dev/exchequer/server/rates"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// Server is an open store with the ledger and the API on it. It is safe for concurrent use.
type Server struct {
	opts       Options
	db         store
	ledger     *ledger.Ledger
	locations  *locations.Directory
	payments   *payments.Scheduler
	rates      *rates.Board
	statements *statements.Books
	files      *files        // Nil where there is no place for any.
	fetcher    *worker.Rates // Nil where no rates are fetched.
	keys       *apikey.Keyring
	tables     *tables
	metrics    *metrics
	users      *oidc.Verifier // Nil where no tokens of users are taken.
	api        *rest.API
	layout     map[string]error  // Why a system cannot be used, by its name: see checkLayout.
	wanted     locations.Options // With the optional indexes that were asked for.
	draining   atomic.Bool
	inside     requests // Of this process.
}

// Open opens the store and builds the systems on it. With [TablesCreate] it creates the tables that
// are missing. A table that differs from what a system needs stops the operations of that system
// alone; see [Server.CheckLayout].
func Open(ctx context.Context, opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open server: %w", err)
	}
	db, err := openStore(ctx, opts)
	if err != nil {
		return nil, err
	}
	// A kill of earlier versions, and of any on Windows, left the archives that it was restoring.
	tempfile.Clean("", rest.RestorePattern, 0)
	s := &Server{opts: opts, db: db, metrics: newMetrics(db)}
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// build makes the systems and the API.
func (s *Server) build(ctx context.Context) error {
	cursorKey, err := s.cursorKey()
	if err != nil {
		return err
	}
	store := singletable.NewStore(s.db, singletable.Options{
		Now: s.opts.Now, CursorKey: cursorKey, OnCall: s.metrics.call, Draw: s.opts.Draw,
	})
	if err := s.fitOptions(ctx); err != nil {
		return err
	}
	if err := s.buildLocations(store); err != nil {
		return err
	}
	s.ledger, err = ledger.New(store, ledger.Options{
		TableName: s.opts.TableName, Tenant: s.opts.Tenant, StatusShards: s.opts.StatusShards,
		Zone: s.opts.Zone, Now: s.opts.Now, NewID: s.opts.NewID,
		LocationExists: s.locationExists,
	})
	if err != nil {
		return err
	}
	if err := s.buildPayments(store); err != nil {
		return err
	}
	if err := s.buildRates(store); err != nil {
		return err
	}
	if err := s.buildStatements(ctx, store); err != nil {
		return err
	}
	s.keys = apikey.NewKeyring(store, s.opts.Now)
	models := []*singletable.Model{s.rates.Model()}
	s.tables = &tables{
		db: s.db, designs: []*singletable.Table{s.keys.Table()},
		drift: map[string]*singletable.DriftError{}, layout: map[string]error{},
	}
	wanted, err := locations.New(store, s.wanted)
	if err != nil {
		return err
	}
	s.tables.wanted = []*singletable.Table{wanted.Table()}
	personal := []*singletable.Model{s.statements.Model()}
	own := []*singletable.Model{s.locations.Model(), s.ledger.Model(), s.payments.Model()}
	for _, m := range slices.Concat(models, personal, own) {
		s.tables.designs = append(s.tables.designs, m.Tables()...)
	}
	if s.opts.Tables == TablesCreate {
		if err := s.tables.ensure(ctx); err != nil {
			return err
		}
		// Without the table of keys no request is allowed.
		if drift := s.tables.drift[s.keys.Table().Name()]; drift != nil {
			return &tableError{drift}
		}
	}
	if err := s.checkLayout(ctx); err != nil {
		return err
	}
	if err := s.buildUsers(ctx); err != nil {
		return err
	}
	s.api = s.serveAPI(rest.Deps{
		Ledger: s.ledger, Payments: s.payments, Locations: s.locations,
		Statements: s.statements,
		Keys:       s.keys, Store: store, Models: models, Personal: personal, Tables: s.tables,
	})
	return nil
}

// serveAPI returns the API with the operations of all systems.
func (s *Server) serveAPI(deps rest.Deps) *rest.API {
	router := rest.NewRouter(s.keys, rest.Options{
		Version: s.opts.Version, Now: s.opts.Now, AskForKeys: s.opts.asks(),
		Authenticate: s.authenticate(),
		Hosts:        s.opts.Hosts, User: s.opts.User,
		BodyMax: s.opts.Limits.Body, UploadMax: s.opts.Limits.Upload,
		ArchiveMax: s.opts.Limits.Archive,
		BodyTime:   s.opts.Limits.Read,
		SpoolMax:   s.opts.Limits.Spool, SpoolRoom: s.spoolRoom,
		StreamsMax: s.opts.Limits.Streams, StallTime: s.opts.Limits.Stall,
		AnswerTime: s.opts.Limits.Answer, Done: s.done,
		Paid:   s.metrics.paid,
		Layout: s.systemLayout,
		Ready:  s.ready, Metrics: s.metrics.handler(),
	})
	ledgerapi.Mount(router, s.ledger, s.ledgerOptions())
	ratesapi.Mount(router, s.rates, ratesapi.Options{Fetch: s.fetch(), Fetches: s.rateFetches()})
	return rest.New(router, deps)
}

// spoolRoom returns why there is no room for an archive that is brought back: archives are kept in
// the folder for temporary files, which may be on the disk of the books.
func (s *Server) spoolRoom() error {
	temp := &localFiles{root: os.TempDir(), disk: realDisk{}, reserve: s.opts.Limits.FreeDisk}
	return temp.room()
}

// Handler returns the handler of everything that the server answers.
func (s *Server) Handler() http.Handler { return s.api }

// ready reports whether the server can answer: it reads something from the store.
func (s *Server) ready(ctx context.Context) error {
	if s.draining.Load() {
		return rest.ErrDraining
	}
	limited, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	_, err := s.tables.List(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return rest.ErrStoreUnavailable.Wrap(fmt.Errorf("no answer within %s: %w", readyTime, err))
	}
	return err
}

// readyTime bounds the time in which the store must answer a look at whether it does. Those who
// ask do so every few seconds.
const readyTime = 2 * time.Second

// Close closes the store. Call it after Serve has returned. It waits for requests of this process
// that their caller left, for at most Limits.Drain: a run of payments finishes those in hand.
func (s *Server) Close() error {
	done := make(chan struct{})
	go func() {
		s.inside.close()
		close(done)
	}()
	timer := time.NewTimer(s.opts.Limits.Drain)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	s.rates.Close()
	s.closeUsers()
	return errors.Join(s.files.Close(), s.db.Close())
}
