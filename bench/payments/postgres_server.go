package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// serverStartMax is how long a fresh cluster may take to answer; it needs about 0.2 s.
	serverStartMax = 30 * time.Second
	// serverStopMax is how long an orderly stop, with its checkpoint, may take before a kill.
	serverStopMax = 30 * time.Second
	// logTailSize is how much of the server's log an error quotes.
	logTailSize = 2000

	databaseUser = "exchequer"
)

const postgresHint = "no initdb and postgres on PATH or under /usr/lib/postgresql: PostgreSQL is " +
	"not installed (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql)"

// postgresServer is a private PostgreSQL cluster with default settings in its own directory. It
// listens on a Unix socket only, so that no port can clash and no other user can connect.
type postgresServer struct {
	command *exec.Cmd
	log     *os.File
	sockets string
	ended   chan error
}

// postgresPrograms finds initdb and postgres, the newest version where several are installed.
func postgresPrograms() (initdb, postgres string, found bool) {
	var folders []string
	if path, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	if installed, err := filepath.Glob("/usr/lib/postgresql/*/bin"); err == nil {
		slices.Reverse(installed)
		folders = append(folders, installed...)
	}
	for _, folder := range folders {
		initdb, errInit := exec.LookPath(filepath.Join(folder, "initdb"))
		postgres, errServer := exec.LookPath(filepath.Join(folder, "postgres"))
		if errInit == nil && errServer == nil {
			return initdb, postgres, true
		}
	}
	return "", "", false
}

// startPostgres makes a cluster under dir and starts it. The parents of dir must be open to the
// user the server runs as.
func startPostgres(ctx context.Context, dir string) (_ *postgresServer, err error) {
	initdb, program, found := postgresPrograms()
	if !found {
		return nil, errors.New(postgresHint)
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if err := owner.own(dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	// The C locale is the fastest for text keys; syncing the empty cluster only costs time.
	create := exec.CommandContext(ctx, initdb, "--pgdata", data, "--username", databaseUser,
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	owner.run(create)
	create.Dir = dir
	if output, err := create.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(output))
	}

	s := &postgresServer{ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	// Socket paths may have about 100 bytes, so the folder sits next to no deep directory.
	if s.sockets, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}
	if err := owner.own(s.sockets); err != nil {
		return nil, err
	}
	if s.log, err = os.Create(filepath.Join(dir, "postgres.log")); err != nil {
		return nil, err
	}
	s.command = exec.Command(program, "-D", data, "-k", s.sockets, "-c", "listen_addresses=")
	owner.run(s.command)
	s.command.Dir, s.command.Stdout, s.command.Stderr = dir, s.log, s.log
	if err := s.command.Start(); err != nil {
		s.command = nil
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	go func() { s.ended <- s.command.Wait() }()
	return s, s.ready(ctx)
}

// ready waits until the server takes connections.
func (s *postgresServer) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serverStartMax)
	defer cancel()
	const pause = 20 * time.Millisecond
	for {
		connection, err := s.connect(ctx)
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case ended := <-s.ended:
			s.ended <- ended // stop reads it again.
			return fmt.Errorf("postgres ended at start: %w\n%s", ended, s.logTail())
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w\n%s", err, s.logTail())
		case <-time.After(pause):
		}
	}
}

func (s *postgresServer) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf(
		"host='%s' port=5432 user=%s database=postgres sslmode=disable", s.sockets, databaseUser))
}

func (s *postgresServer) logTail() []byte {
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(text[max(0, len(text)-logTailSize):])
}

// stop ends the server in order, or by force when it does not obey, and waits for it.
func (s *postgresServer) stop() error {
	var problems []error
	if s.command != nil {
		// An interrupt is PostgreSQL's fast shutdown: sessions are cut, then a checkpoint is made.
		if err := s.command.Process.Signal(os.Interrupt); err != nil {
			problems = append(problems, ignoreDone(err), s.command.Process.Kill())
		}
		select {
		case <-s.ended:
		case <-time.After(serverStopMax):
			problems = append(problems, s.command.Process.Kill())
			<-s.ended
		}
	}
	if s.log != nil {
		problems = append(problems, s.log.Close())
	}
	if s.sockets != "" {
		problems = append(problems, os.RemoveAll(s.sockets))
	}
	return errors.Join(problems...)
}

// ignoreDone drops the complaint that a process to be stopped has ended already.
func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
