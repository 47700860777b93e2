package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

const benchCurrency = money.Currency("USD")

// exchequer is this project's ledger on its embedded engine, with the options that a program gets
// which sets none.
type exchequer struct {
	db       *engine.DB
	ledger   *ledger.Ledger
	ids      []ledger.AccountID
	accounts int
	loaded   sync.Map // from the ids of preloaded payments to those of their transactions
}

func (e *exchequer) name() string      { return "exchequer" }
func (e *exchequer) available() string { return "" }

func (e *exchequer) open(ctx context.Context, dir string, accounts int) error {
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		return err
	}
	e.db, e.accounts = db, accounts
	e.ledger, err = ledger.New(singletable.NewStore(db, singletable.Options{}), ledger.Options{})
	if err != nil {
		return err
	}
	if _, err := db.CreateTable(ctx, e.ledger.Table().CreateTableInput()); err != nil {
		return err
	}
	e.ids = e.ids[:0]
	for i, id := range accountIDs(accounts) {
		e.ids = append(e.ids, ledger.AccountID(id.String()))
		if err := e.openAccount(ctx, e.ids[i], i); err != nil {
			return err
		}
	}
	return nil
}

// openAccount opens an account and gives it its opening balance, by a transaction of its own.
func (e *exchequer) openAccount(ctx context.Context, id ledger.AccountID, i int) error {
	_, err := e.ledger.OpenAccount(ctx, ledger.NewAccount{
		ID: id, UserID: ledger.UserID(strconv.Itoa(i / 3)), AccountType: "checking",
		Currency: benchCurrency,
	})
	if err != nil {
		return err
	}
	amount, err := money.FromMinor(openingBalance, benchCurrency)
	if err != nil {
		return err
	}
	_, err = e.ledger.Post(ctx, ledger.TransferBetween(ledger.Opening, id, amount))
	return err
}

func (e *exchequer) load(ctx context.Context, older []payment) error {
	return loadByPaying(ctx, loading{e}, older)
}

// loading is the ledger while it is preloaded: it notes which transaction each payment became,
// as the ledger makes a transaction's id from the key of its request.
type loading struct{ *exchequer }

func (e loading) pay(ctx context.Context, p payment) error {
	posting, err := e.posting(p)
	if err != nil {
		return err
	}
	receipt, err := e.ledger.Post(ctx, posting)
	e.loaded.Store(p.id, receipt.Transaction.ID)
	return err
}

func (e *exchequer) pay(ctx context.Context, p payment) error {
	posting, err := e.posting(p)
	if err != nil {
		return err
	}
	_, err = e.ledger.Post(ctx, posting)
	if errors.Is(err, ledger.ErrInsufficientFunds) {
		return errShort
	}
	return err
}

// posting is a transfer with about 400 bytes in its header; the legs come to that by themselves.
func (e *exchequer) posting(p payment) (ledger.Posting, error) {
	amount, err := money.FromMinor(p.amount, benchCurrency)
	if err != nil {
		return ledger.Posting{}, err
	}
	posting := ledger.TransferBetween(e.ids[p.debit], e.ids[p.credit], amount)
	posting.IdempotencyKey = p.key
	posting.Description = p.description
	posting.Metadata = map[string]string{"reference": p.metadata}
	return posting, nil
}

func (e *exchequer) check(ctx context.Context, transactions int) error {
	today := time.Now().UTC()
	report, err := e.ledger.Reconcile(ctx, ledger.ReconcileQuery{
		From: ledger.Date(today.AddDate(0, 0, -1).Format(time.DateOnly)),
		To:   ledger.Date(today.Format(time.DateOnly)),
	})
	if err != nil {
		return err
	}
	if !report.Balanced() {
		return fmt.Errorf("the books are %s: %+v, %+v", report.Verdict(), report.Divergences,
			report.Undecided)
	}
	b := books{transactions: report.Transactions - e.accounts} // each has an opening
	for _, id := range e.ids {
		a, err := e.ledger.Account(ctx, id)
		if err != nil {
			return err
		}
		minor, err := a.Balance.Minor()
		if err != nil {
			return err
		}
		if b.sum > math.MaxInt64-minor {
			return errors.New("the sum of balances is out of range")
		}
		b.sum += minor
	}
	return b.verify(e.accounts, transactions)
}

func (e *exchequer) close() error { return e.db.Close() }

func (e *exchequer) find(ctx context.Context, id uuid.UUID) error {
	transaction, ok := e.loaded.Load(id)
	if !ok {
		return errors.New("no such payment was loaded")
	}
	_, err := e.ledger.Transaction(ctx, transaction.(ledger.TransactionID))
	return err
}

func (e *exchequer) statement(ctx context.Context, account int) (int, error) {
	page, err := e.ledger.LegsOfAccount(ctx, ledger.LegsQuery{
		AccountID: e.ids[account], PageQuery: ledger.PageQuery{Size: statementRows},
	})
	return len(page.Items), err
}
