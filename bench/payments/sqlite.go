package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // Registers the driver "sqlite".
)

const (
	// groupSize is how many payments may share one commit in the grouped variant.
	groupSize = 64
	// groupQueue lets a whole second group gather while the first one is being committed.
	groupQueue = 4 * groupSize
	// sqliteReaders is the number of connections in addition to the writer; more would only compete
	// for cores.
	sqliteReaders = 4
	// loadGroup is how many older payments one commit takes.
	loadGroup = 1000
)

// Amounts are whole minor units and ids are 16 raw bytes: the forms SQLite is fastest with.
const sqliteSchema = `
CREATE TABLE accounts (
	id BLOB PRIMARY KEY, user_id BLOB NOT NULL, type TEXT NOT NULL, currency TEXT NOT NULL,
	status TEXT NOT NULL, balance INTEGER NOT NULL, version INTEGER NOT NULL, metadata TEXT NOT NULL
);
CREATE INDEX accounts_by_user ON accounts (user_id);
CREATE TABLE transactions (
	id BLOB PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
	status TEXT NOT NULL, amount INTEGER NOT NULL, currency TEXT NOT NULL,
	description TEXT NOT NULL, metadata TEXT NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX transactions_by_status ON transactions (status, created);
CREATE TABLE legs (
	transaction_id BLOB NOT NULL REFERENCES transactions, leg INTEGER NOT NULL,
	account_id BLOB NOT NULL REFERENCES accounts, amount INTEGER NOT NULL,
	balance_after INTEGER NOT NULL, currency TEXT NOT NULL, note TEXT NOT NULL,
	created INTEGER NOT NULL, PRIMARY KEY (transaction_id, leg)
);
CREATE INDEX legs_by_account ON legs (account_id, created);`

const (
	sqliteHeader = `INSERT INTO transactions
		(id, idempotency_key, type, status, amount, currency, description, metadata, created)
		VALUES (?, ?, 'payment', 'completed', ?, 'NZD', ?, ?, ?)
		ON CONFLICT (idempotency_key) DO NOTHING`
	sqliteDebit = `UPDATE accounts SET balance = balance - ?1, version = version + 1
		WHERE id = ?2 AND status = 'active' AND balance >= ?1 RETURNING balance`
	sqliteCredit = `UPDATE accounts SET balance = balance + ?1, version = version + 1
		WHERE id = ?2 AND status = 'active' RETURNING balance`
	sqliteLegs = `INSERT INTO legs
		(transaction_id, leg, account_id, amount, balance_after, currency, note, created)
		VALUES (?1, 1, ?2, -?3, ?4, 'NZD', ?5, ?6), (?1, 2, ?7, ?3, ?8, 'NZD', ?5, ?6)`
	sqliteFind = `SELECT idempotency_key, type, status, amount, currency, description, metadata,
		created FROM transactions WHERE id = ?`
	sqliteStatement = `SELECT transaction_id, leg, amount, balance_after, currency, note, created
		FROM legs WHERE account_id = ? ORDER BY created DESC LIMIT ?`
	sqliteBooks = `SELECT
		(SELECT sum(balance) FROM accounts),
		(SELECT count(*) FROM transactions),
		(SELECT count(*) FROM accounts a LEFT JOIN
			(SELECT account_id, sum(amount) AS moved FROM legs GROUP BY account_id) l
			ON l.account_id = a.id WHERE a.balance <> ? + coalesce(l.moved, 0)),
		(SELECT count(*) FROM transactions t LEFT JOIN
			(SELECT transaction_id, sum(amount) AS total, count(*) AS n FROM legs
				GROUP BY transaction_id) l
			ON l.transaction_id = t.id WHERE l.n IS NULL OR l.n <> 2 OR l.total <> 0)`
)

// sqlite is SQLite in process with WAL and synchronous=FULL: one fsync a commit. There is one
// writer at a time in SQLite; callers wait for it in Go, which is faster than its busy handler.
type sqlite struct {
	// grouped lets up to groupSize waiting payments share one commit, each in its own savepoint so
	// that one refusal does not undo its neighbours.
	grouped bool

	ids    []uuid.UUID
	db     *sql.DB
	writer *sql.Conn

	mutex                             sync.Mutex // guards writer and its statements
	begin, commit, rollback           *sql.Stmt
	savepoint, release, undo          *sql.Stmt
	header, debit, credit, legs       *sql.Stmt
	findStatement, statementStatement *sql.Stmt
	queue                             chan sqliteRequest
	drained                           chan struct{}
}

// sqliteRequest is a payment that waits for its group's commit.
type sqliteRequest struct {
	ctx     context.Context
	payment payment
	done    chan<- error
}

func (s *sqlite) name() string {
	if s.grouped {
		return "sqlite grouped"
	}
	return "sqlite"
}

func (s *sqlite) available() string { return "" }

func (s *sqlite) open(ctx context.Context, dir string, accounts int) error {
	pragmas := url.Values{"_pragma": {
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "busy_timeout(5000)",
	}}
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db")+"?"+pragmas.Encode())
	if err != nil {
		return fmt.Errorf("open sqlite: %w", err)
	}
	db.SetMaxOpenConns(1 + sqliteReaders)
	db.SetMaxIdleConns(1 + sqliteReaders)
	*s = sqlite{grouped: s.grouped, ids: accountIDs(accounts), db: db}
	if s.writer, err = db.Conn(ctx); err == nil {
		err = s.create(ctx)
	}
	if err != nil {
		return fmt.Errorf("open sqlite: %w", errors.Join(err, db.Close()))
	}
	if s.grouped {
		s.queue, s.drained = make(chan sqliteRequest, groupQueue), make(chan struct{})
		go s.commitGroups()
	}
	return nil
}

func (s *sqlite) create(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, sqliteSchema); err != nil {
		return err
	}
	for _, it := range []struct {
		statement **sql.Stmt
		text      string
	}{
		{&s.begin, "BEGIN IMMEDIATE"}, {&s.commit, "COMMIT"}, {&s.rollback, "ROLLBACK"},
		{&s.savepoint, "SAVEPOINT one"}, {&s.release, "RELEASE one"}, {&s.undo, "ROLLBACK TO one"},
		{&s.header, sqliteHeader}, {&s.debit, sqliteDebit}, {&s.credit, sqliteCredit},
		{&s.legs, sqliteLegs},
	} {
		var err error
		if *it.statement, err = s.writer.PrepareContext(ctx, it.text); err != nil {
			return fmt.Errorf("prepare %s: %w", it.text, err)
		}
	}
	var err error
	if s.findStatement, err = s.db.PrepareContext(ctx, sqliteFind); err != nil {
		return err
	}
	if s.statementStatement, err = s.db.PrepareContext(ctx, sqliteStatement); err != nil {
		return err
	}
	return s.inTransaction(ctx, func() error {
		text := newMaker(1, 1, 2, false).filler(metadataSize)
		for _, id := range s.ids {
			if _, err := s.writer.ExecContext(ctx, `INSERT INTO accounts VALUES
				(?, ?, 'checking', 'NZD', 'active', ?, 0, ?)`,
				id[:], id[:], openingBalance, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// inTransaction runs work between BEGIN and COMMIT and rolls back when it fails. The caller holds
// the mutex or is alone.
func (s *sqlite) inTransaction(ctx context.Context, work func() error) error {
	if _, err := s.begin.ExecContext(ctx); err != nil {
		return err
	}
	err := work()
	if err == nil {
		_, err = s.commit.ExecContext(ctx)
	}
	if err != nil {
		// A cancelled context must not leave the transaction open.
		_, rollback := s.rollback.ExecContext(context.WithoutCancel(ctx))
		return errors.Join(err, rollback)
	}
	return nil
}

func (s *sqlite) load(ctx context.Context, older []payment) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(older) > 0 {
		group := older[:min(loadGroup, len(older))]
		older = older[len(group):]
		err := s.inTransaction(ctx, func() error {
			for _, p := range group {
				if err := s.write(ctx, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	_, err := s.writer.ExecContext(ctx, "ANALYZE")
	return err
}

func (s *sqlite) pay(ctx context.Context, p payment) error {
	if !s.grouped {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return s.inTransaction(ctx, func() error { return s.write(ctx, p) })
	}
	done := make(chan error, 1)
	s.queue <- sqliteRequest{ctx: ctx, payment: p, done: done}
	return <-done
}

// write posts one payment inside the open transaction.
func (s *sqlite) write(ctx context.Context, p payment) error {
	created := p.at.UnixMilli()
	debit, credit := s.ids[p.debit], s.ids[p.credit]
	header, err := s.header.ExecContext(
		ctx, p.id[:], p.key, p.amount, p.description, p.metadata, created)
	if err != nil {
		return err
	}
	if n, err := header.RowsAffected(); err != nil || n == 0 {
		return err // No row: the key was used before, and nothing is to be done.
	}
	var debitAfter, creditAfter int64
	err = s.debit.QueryRowContext(ctx, p.amount, debit[:]).Scan(&debitAfter)
	if errors.Is(err, sql.ErrNoRows) {
		return errShort
	}
	if err != nil {
		return err
	}
	if err := s.credit.QueryRowContext(ctx, p.amount, credit[:]).Scan(&creditAfter); err != nil {
		return err
	}
	_, err = s.legs.ExecContext(ctx,
		p.id[:], debit[:], p.amount, debitAfter, p.note, created, credit[:], creditAfter)
	return err
}

// commitGroups takes what waits in the queue, up to groupSize, and commits it at once. It never
// waits for a group to fill: under load the next group gathers while this one is being synced.
func (s *sqlite) commitGroups() {
	defer close(s.drained)
	for first := range s.queue {
		group := append(make([]sqliteRequest, 0, groupSize), first)
	gather:
		for len(group) < groupSize {
			select {
			case next, open := <-s.queue:
				if !open {
					break gather
				}
				group = append(group, next)
			default:
				break gather
			}
		}
		s.commitGroup(group)
	}
}

func (s *sqlite) commitGroup(group []sqliteRequest) {
	// The group belongs to no single caller: one that cancels must not undo the others.
	ctx := context.WithoutCancel(group[0].ctx)
	answers := make([]error, len(group))
	err := s.inTransaction(ctx, func() error {
		for i, request := range group {
			if _, err := s.savepoint.ExecContext(ctx); err != nil {
				return err
			}
			if answers[i] = s.write(ctx, request.payment); answers[i] != nil {
				if _, err := s.undo.ExecContext(ctx); err != nil {
					return err
				}
			}
			if _, err := s.release.ExecContext(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	for i, request := range group {
		if err != nil {
			request.done <- err
			continue
		}
		request.done <- answers[i]
	}
}

func (s *sqlite) find(ctx context.Context, id uuid.UUID) error {
	var key, kind, status, currency, description, metadata string
	var amount, created int64
	return s.findStatement.QueryRowContext(ctx, id[:]).Scan(
		&key, &kind, &status, &amount, &currency, &description, &metadata, &created)
}

func (s *sqlite) statement(ctx context.Context, account int) (int, error) {
	rows, err := s.statementStatement.QueryContext(ctx, s.ids[account][:], statementRows)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var id []byte
		var leg, amount, balance, created int64
		var currency, note string
		err := rows.Scan(&id, &leg, &amount, &balance, &currency, &note, &created)
		if err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

func (s *sqlite) check(ctx context.Context, transactions int) error {
	var b books
	err := s.db.QueryRowContext(ctx, sqliteBooks, openingBalance).Scan(
		&b.sum, &b.transactions, &b.drifted, &b.unbalanced)
	if err != nil {
		return err
	}
	return b.verify(len(s.ids), transactions)
}

func (s *sqlite) close() error {
	if s.grouped {
		close(s.queue)
		<-s.drained
	}
	return errors.Join(s.writer.Close(), s.db.Close())
}
