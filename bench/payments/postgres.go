package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// poolSize is the number of connections: enough to share flushes, far from the server's
	// default limit of 100.
	poolSize = 40
	// shortCode is the SQLSTATE that the procedure raises for insufficient funds; the class "EX" is
	// used by nothing else.
	shortCode = "EX001"
)

// Amounts are whole minor units in a bigint: the form PostgreSQL is fastest with.
const postgresSchema = `
CREATE TABLE accounts (
	id uuid PRIMARY KEY, user_id uuid NOT NULL, type text NOT NULL, currency text NOT NULL,
	status text NOT NULL, balance bigint NOT NULL, version bigint NOT NULL, metadata text NOT NULL
);
CREATE INDEX ON accounts (user_id);
CREATE TABLE transactions (
	id uuid PRIMARY KEY, idempotency_key text NOT NULL UNIQUE, type text NOT NULL,
	status text NOT NULL, amount bigint NOT NULL, currency text NOT NULL,
	description text NOT NULL, metadata text NOT NULL, created timestamptz NOT NULL
);
CREATE INDEX ON transactions (status, created);
CREATE TABLE legs (
	transaction_id uuid NOT NULL REFERENCES transactions, leg int NOT NULL,
	account_id uuid NOT NULL REFERENCES accounts, amount bigint NOT NULL,
	balance_after bigint NOT NULL, currency text NOT NULL, note text NOT NULL,
	created timestamptz NOT NULL, PRIMARY KEY (transaction_id, leg)
);
CREATE INDEX ON legs (account_id, created);`

// The procedure is the whole payment in one round trip. It locks accounts in the order of their
// ids, since two payments in opposite directions would otherwise deadlock.
const postgresProcedure = `
CREATE FUNCTION pay(p_id uuid, p_key text, p_debit uuid, p_credit uuid, p_amount bigint,
	p_description text, p_metadata text, p_note text, p_created timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	debit_after bigint;
	credit_after bigint;
BEGIN
	INSERT INTO transactions
		(id, idempotency_key, type, status, amount, currency, description, metadata, created)
	VALUES (p_id, p_key, 'payment', 'completed', p_amount, 'NZD', p_description, p_metadata,
		p_created)
	ON CONFLICT (idempotency_key) DO NOTHING;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	IF p_credit < p_debit THEN
		UPDATE accounts SET balance = balance + p_amount, version = version + 1
		WHERE id = p_credit AND status = 'active' RETURNING balance INTO credit_after;
	END IF;
	UPDATE accounts SET balance = balance - p_amount, version = version + 1
	WHERE id = p_debit AND status = 'active' AND balance >= p_amount
	RETURNING balance INTO debit_after;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'insufficient funds' USING ERRCODE = '` + shortCode + `';
	END IF;
	IF p_credit > p_debit THEN
		UPDATE accounts SET balance = balance + p_amount, version = version + 1
		WHERE id = p_credit AND status = 'active' RETURNING balance INTO credit_after;
	END IF;
	INSERT INTO legs
		(transaction_id, leg, account_id, amount, balance_after, currency, note, created)
	VALUES (p_id, 1, p_debit, -p_amount, debit_after, 'NZD', p_note, p_created),
		(p_id, 2, p_credit, p_amount, credit_after, 'NZD', p_note, p_created);
	RETURN true;
END $$;`

const (
	postgresPay  = `SELECT pay($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	postgresFind = `SELECT idempotency_key, type, status, amount, currency, description, metadata,
		created FROM transactions WHERE id = $1`
	postgresStatement = `SELECT transaction_id, leg, amount, balance_after, currency, note, created
		FROM legs WHERE account_id = $1 ORDER BY created DESC LIMIT $2`
	postgresBooks = `SELECT
		(SELECT sum(balance)::bigint FROM accounts),
		(SELECT count(*) FROM transactions),
		(SELECT count(*) FROM accounts a LEFT JOIN
			(SELECT account_id, sum(amount) AS moved FROM legs GROUP BY account_id) l
			ON l.account_id = a.id WHERE a.balance <> $1 + coalesce(l.moved, 0)),
		(SELECT count(*) FROM transactions t LEFT JOIN
			(SELECT transaction_id, sum(amount) AS total, count(*) AS n FROM legs
				GROUP BY transaction_id) l
			ON l.transaction_id = t.id WHERE l.n IS NULL OR l.n <> 2 OR l.total <> 0)`
)

// postgres is a private PostgreSQL server with default settings: fsync and synchronous_commit are
// on. It is driven by pgx with prepared statements over a Unix socket.
type postgres struct {
	server *postgresServer
	pool   *connections
	ids    []uuid.UUID
}

// connections is a pool that hands out the connection given back last, as pgx's own pool does, so
// that few callers use few server processes.
type connections struct {
	free  chan struct{} // one token for each idle connection
	mutex sync.Mutex
	idle  []*pgx.Conn
}

func newConnections() *connections {
	return &connections{free: make(chan struct{}, poolSize)}
}

// take waits for an idle connection.
func (c *connections) take() *pgx.Conn {
	<-c.free
	c.mutex.Lock()
	defer c.mutex.Unlock()
	last := len(c.idle) - 1
	connection := c.idle[last]
	c.idle = c.idle[:last]
	return connection
}

func (c *connections) give(connection *pgx.Conn) {
	c.mutex.Lock()
	c.idle = append(c.idle, connection)
	c.mutex.Unlock()
	c.free <- struct{}{}
}

// close ends every connection; none may be in use.
func (c *connections) close(ctx context.Context) {
	for len(c.free) > 0 {
		c.take().Close(ctx)
	}
}

func (p *postgres) name() string { return baseline }

func (p *postgres) available() string {
	if _, _, found := postgresPrograms(); !found {
		return postgresHint
	}
	if _, err := unprivileged(); err != nil {
		return err.Error()
	}
	return ""
}

func (p *postgres) open(ctx context.Context, dir string, accounts int) error {
	server, err := startPostgres(ctx, dir)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	*p = postgres{server: server, pool: newConnections(), ids: accountIDs(accounts)}
	if err := p.create(ctx); err != nil {
		return fmt.Errorf("open postgres: %w", errors.Join(err, p.close()))
	}
	return nil
}

func (p *postgres) create(ctx context.Context) error {
	connection, err := p.server.connect(ctx)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	for _, text := range []string{postgresSchema, postgresProcedure} {
		if _, err := connection.Exec(ctx, text); err != nil {
			return err
		}
	}
	text := newMaker(1, 1, 2, false).filler(metadataSize)
	_, err = connection.CopyFrom(ctx, pgx.Identifier{"accounts"},
		[]string{"id", "user_id", "type", "currency", "status", "balance", "version", "metadata"},
		pgx.CopyFromSlice(len(p.ids), func(i int) ([]any, error) {
			return []any{p.ids[i], p.ids[i], "checking", "NZD", "active",
				int64(openingBalance), int64(0), text}, nil
		}))
	if err != nil {
		return err
	}
	// The payments of the measured cases come through connections that are opened here, so the
	// pool is full before the clock runs.
	return p.fillPool(ctx)
}

// fillPool opens every connection at once; the pool never grows or shrinks afterwards.
func (p *postgres) fillPool(ctx context.Context) error {
	problems := make([]error, poolSize)
	var opening sync.WaitGroup
	for i := range poolSize {
		opening.Go(func() {
			connection, err := p.server.connect(ctx)
			if err != nil {
				problems[i] = err
				return
			}
			p.pool.give(connection)
		})
	}
	opening.Wait()
	return errors.Join(problems...)
}

// load calls the procedure once for each payment, many in one pipeline and one commit, then
// refreshes the planner's statistics. They must not be computed while tables are empty, because
// plans for the foreign keys would then scan whole tables. The last payments go through each
// connection, because a session plans its first calls again and a server in use has done that.
func (p *postgres) load(ctx context.Context, older []payment) error {
	const callsToPlan = 10 // PostgreSQL may settle on a generic plan after five.
	last := older[max(0, len(older)-poolSize*callsToPlan):]
	if err := p.loadBulk(ctx, older[:len(older)-len(last)]); err != nil {
		return err
	}
	all := make([]*pgx.Conn, poolSize)
	for i := range all {
		all[i] = p.pool.take()
		defer p.pool.give(all[i])
	}
	for i, one := range last {
		if _, err := all[i%poolSize].Exec(ctx, postgresPay, p.arguments(one)...); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) loadBulk(ctx context.Context, older []payment) error {
	connection := p.pool.take()
	defer p.pool.give(connection)
	for len(older) > 0 {
		group := older[:min(loadGroup, len(older))]
		older = older[len(group):]
		batch := &pgx.Batch{}
		for _, one := range group {
			batch.Queue(postgresPay, p.arguments(one)...)
		}
		if err := connection.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	_, err := connection.Exec(ctx, "ANALYZE")
	return err
}

func (p *postgres) arguments(one payment) []any {
	return []any{one.id, one.key, p.ids[one.debit], p.ids[one.credit], one.amount,
		one.description, one.metadata, one.note, one.at}
}

func (p *postgres) pay(ctx context.Context, one payment) error {
	connection := p.pool.take()
	_, err := connection.Exec(ctx, postgresPay, p.arguments(one)...)
	p.pool.give(connection)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == shortCode {
		return errShort
	}
	return err
}

func (p *postgres) find(ctx context.Context, id uuid.UUID) error {
	connection := p.pool.take()
	defer p.pool.give(connection)
	var key, kind, status, currency, description, metadata string
	var amount int64
	var created time.Time
	return connection.QueryRow(ctx, postgresFind, id).Scan(
		&key, &kind, &status, &amount, &currency, &description, &metadata, &created)
}

func (p *postgres) statement(ctx context.Context, account int) (int, error) {
	connection := p.pool.take()
	defer p.pool.give(connection)
	rows, err := connection.Query(ctx, postgresStatement, p.ids[account], statementRows)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var id uuid.UUID
		var leg int32
		var amount, balance int64
		var currency, note string
		var created time.Time
		err := rows.Scan(&id, &leg, &amount, &balance, &currency, &note, &created)
		if err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

func (p *postgres) check(ctx context.Context, transactions int) error {
	connection := p.pool.take()
	defer p.pool.give(connection)
	var b books
	err := connection.QueryRow(ctx, postgresBooks, int64(openingBalance)).Scan(
		&b.sum, &b.transactions, &b.drifted, &b.unbalanced)
	if err != nil {
		return err
	}
	return b.verify(len(p.ids), transactions)
}

// close ends the connections and the server; the directory is the caller's to remove.
func (p *postgres) close() error {
	p.pool.close(context.Background())
	return p.server.stop()
}
