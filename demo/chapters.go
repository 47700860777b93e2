package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

func (s *story) tables(ctx context.Context) error {
	s.title("One table holds the books, and every question is one key condition")
	if _, err := s.client.CreateTables(ctx); err != nil {
		return err
	}
	tables, err := s.client.Tables(ctx)
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("TABLE"), grid.Left("INDEX"), grid.Left("KEY"))
	key := func(partition, sort string) string {
		return strings.TrimSuffix(partition+", "+sort, ", ")
	}
	for _, table := range tables {
		t.Add(table.Name, "", key(table.PartitionKey, table.SortKey))
		for _, x := range table.Indexes {
			t.Add("", x.Name, key(x.PartitionKey, x.SortKey))
		}
	}
	s.table(t)
	s.command("tables describe FinancialTransactions")
	s.command("patterns list")
	return nil
}

func (s *story) people(ctx context.Context) error {
	s.title("People open accounts, and shops say where their money goes")
	users := make(map[client.UserID]bool)
	for _, a := range s.world.accounts {
		users[a.UserID] = true
		if _, err := s.client.OpenAccount(ctx, a.NewAccount); err != nil {
			return fmt.Errorf("open account %s: %w", a.ID, err)
		}
		var err error
		switch a.status {
		case client.AccountFrozen:
			_, err = s.client.FreezeAccount(ctx, a.ID)
		case client.AccountClosed:
			_, err = s.client.CloseAccount(ctx, a.ID)
		}
		if err != nil {
			return err
		}
	}
	for _, m := range s.world.merchants {
		if _, err := s.client.CreateMerchant(ctx, m); err != nil {
			return fmt.Errorf("create merchant %s: %w", m.ID, err)
		}
	}
	s.say("   %d accounts of %d owners, and %d merchants. One account is frozen, one closed, and one",
		len(s.world.accounts), len(users), len(s.world.merchants))
	s.say("   may go below zero. All balances are zero.")
	s.command("ledger accounts list --user %s", s.world.accounts[0].UserID)
	return nil
}

func (s *story) payments(ctx context.Context) error {
	s.title("Three months of payments arrive in one file, as messy as files are")
	result, refused, took, err := s.load(ctx)
	if err != nil {
		return err
	}
	s.say("   %s rows in %s: %s.", thousands(result.Rows()), seconds(took), outcomes(result))
	s.say("   Each posted row is one transaction on disk: a header, two legs and two balances.")
	t := grid.New(grid.Right("ROWS"), grid.Left("REFUSED AS"),
		grid.Left("FOR EXAMPLE").UpTo(exampleMax))
	for _, code := range slices.SortedFunc(maps.Keys(result.Reasons), func(a, b problem.Code) int {
		return result.Reasons[b] - result.Reasons[a]
	}) {
		at := slices.IndexFunc(refused, func(o bulk.Outcome) bool {
			return o.Problem.Code == code
		})
		example := refused[at]
		t.Add(thousands(result.Reasons[code]), string(code),
			fmt.Sprintf("line %d: %s", example.Row.Line, shorter(example.Problem.Sentence)))
	}
	s.table(t)
	s.command("ledger import demo/payments.csv --report refused.csv")
	s.compare(result, refused)
	return s.compareBalances(ctx)
}

// exampleMax keeps the table of refusals within the width of a screen.
const exampleMax = 64

// wholeID finds ids in sentences.
var wholeID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// shorter shortens the ids in a sentence.
func shorter(sentence string) string {
	return wholeID.ReplaceAllStringFunc(sentence, short[string])
}

// load imports the payments.
func (s *story) load(
	ctx context.Context,
) (result bulk.Result, refused []bulk.Outcome, took time.Duration, err error) {
	file, err := bulk.OpenReader(bytes.NewReader(s.world.payments))
	if err != nil {
		return result, nil, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	begin, done := time.Now(), 0
	result, err = bulk.Import(ctx, s.client, file, bulk.Options{Report: func(o bulk.Outcome) error {
		if o.Status == bulk.Refused {
			refused = append(refused, o)
		}
		if done++; s.opts.Progress != nil {
			s.opts.Progress(done, file.Rows)
		}
		return nil
	}})
	if err == nil && result.Stopped {
		err = context.Cause(ctx)
	}
	return result, refused, time.Since(begin), err
}

// compare notes where the outcome of the import is not the one that must come out.
func (s *story) compare(got bulk.Result, refused []bulk.Outcome) {
	want := s.world.expected
	for _, n := range []struct {
		what      string
		got, want int
	}{
		{"rows", got.Rows(), want.Rows},
		{"rows posted", got.Posted, want.Posted},
		{"rows already there", got.There, want.Repeats},
	} {
		if n.got != n.want {
			s.differ("%d %s, not %d", n.got, n.what, n.want)
		}
	}
	codes := make(map[int]problem.Code, len(want.RefusedRows))
	for _, row := range want.RefusedRows {
		codes[row.Line] = row.Code
	}
	for _, o := range refused {
		if code := codes[o.Row.Line]; code != o.Problem.Code {
			s.differ("line %d was refused as %q, not %q", o.Row.Line, o.Problem.Code, code)
		}
		delete(codes, o.Row.Line)
	}
	for _, line := range slices.Sorted(maps.Keys(codes)) {
		s.differ("line %d was not refused as %q", line, codes[line])
	}
	if len(s.differences) == 0 {
		s.say("   Every count, and the reason of every refused line, is the one worked out beforehand.")
	}
}

// compareBalances notes which balances are not those that must come out.
func (s *story) compareBalances(ctx context.Context) error {
	agree, balances := 0, s.world.expected.Balances
	for _, id := range slices.Sorted(maps.Keys(balances)) {
		want := balances[id]
		a, err := s.client.Account(ctx, id)
		switch {
		case problem.KindOf(err) == problem.NotFound && strings.Trim(want, "0.") == "":
			agree++ // One of the ledger's own that was never needed.
		case err != nil:
			return err
		case a.Balance.Text() != want:
			s.differ("account %s has a balance of %s, not %s", id, a.Balance, want)
		default:
			agree++
		}
	}
	s.say("   %d of %d balances agree with it to the last cent.", agree, len(balances))
	return nil
}

func (s *story) again(ctx context.Context) error {
	s.title("The whole file is sent once more, and nothing moves")
	result, _, took, err := s.load(ctx)
	if err != nil {
		return err
	}
	s.say("   %s rows in %s: %s.", thousands(result.Rows()), seconds(took), outcomes(result))
	s.say("   Stop an import anywhere, by kill -9 if you like, and give the same command again.")
	if result.Posted != 0 {
		s.differ("%d rows of the file were posted twice", result.Posted)
	}
	return nil
}

// callers is how many callers race.
const callers = 100

func (s *story) race(ctx context.Context) error {
	s.title("A hundred callers send one payment at the same moment")
	from := s.world.find("checking", "NZD")
	request := client.Posting{
		IdempotencyKey: "demo-race", Type: client.Payment, From: from.ID,
		MerchantID: s.world.merchants[0].ID, Amount: money.MustParse("5.50", "NZD"),
		Description: "Flat white", Metadata: map[string]string{"table": "4"},
	}
	before, err := s.client.Account(ctx, from.ID)
	if err != nil {
		return err
	}
	var (
		group    sync.WaitGroup
		receipts [callers]client.Receipt
		errs     [callers]error
		start    = make(chan struct{})
	)
	for i := range callers {
		group.Go(func() {
			<-start
			receipts[i], errs[i] = s.client.Post(ctx, request)
		})
	}
	close(start)
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	posted := 0
	for _, r := range receipts {
		if !r.Replayed {
			posted++
		}
		if r.Transaction.ID != receipts[0].Transaction.ID {
			s.differ("two callers got different transactions for one key")
		}
	}
	after, err := s.client.Account(ctx, from.ID)
	if err != nil {
		return err
	}
	s.say("   %d transaction, and %d times the same answer. The balance went from %s to %s.",
		posted, callers-posted, before.Balance, after.Balance)
	s.command(`ledger pay --key demo-race --amount 5.50 --description "Flat white" \`)
	s.say("       --from %s --merchant %s", from.ID, request.MerchantID)
	if paid, err := before.Balance.Sub(after.Balance); err != nil || posted != 1 ||
		paid != request.Amount {
		s.differ("%d of %d equal requests were posted, and %s was paid", posted, callers, paid)
	}
	s.shown = receipts[0].Transaction
	return nil
}

// shownRows is how many rows of a list the story shows.
const shownRows = 8

func (s *story) statement(ctx context.Context) error {
	s.title("A statement reads the account's legs, each with the balance after it")
	a := s.world.find("checking", "NZD")
	today := time.Now().UTC()
	q := client.StatementQuery{
		AccountID: a.ID,
		From:      client.Date(today.AddDate(0, 0, -1).Format(time.DateOnly)),
		To:        client.Date(today.AddDate(0, 0, 1).Format(time.DateOnly)),
		PageQuery: client.PageQuery{Limit: shownRows},
	}
	st, err := s.client.Statement(ctx, q)
	if err != nil {
		return err
	}
	if len(st.Legs) == 0 {
		return errNothing
	}
	s.say("   %s: opening %s, closing %s. The newest first:", a.UserID, st.Opening, st.Closing)
	t := grid.New(grid.Left("TRANSACTION"), grid.Left("WHAT").UpTo(34), grid.Right("OUT"),
		grid.Right("IN"), grid.Right("BALANCE"))
	for _, l := range st.Legs {
		about, err := s.client.Transaction(ctx, l.TransactionID)
		if err != nil {
			return err
		}
		out, in := l.Amount.Text(), ""
		if l.Type == client.Credit {
			out, in = in, out
		}
		t.Add(short(l.TransactionID), firstLine(about), out, in, l.BalanceAfter.Text())
	}
	s.table(t)
	s.command("ledger statement %s", a.ID)
	return nil
}

// firstLine returns the purpose of a transaction.
func firstLine(t client.Transaction) string {
	line, _, _ := strings.Cut(t.Description, "\n")
	if line == "" {
		return string(t.Type)
	}
	return line
}

func (s *story) transaction(ctx context.Context) error {
	s.title("A transaction and its legs come back from one query")
	e, err := s.client.Entry(ctx, s.shown.ID)
	if err != nil {
		return err
	}
	s.say("   %s %s at %s, %s", e.Transaction.Type, e.Transaction.Amount,
		s.world.merchant(e.Transaction.MerchantID), e.Transaction.Status)
	t := grid.New(grid.Left("ACCOUNT"), grid.Right("DEBIT"), grid.Right("CREDIT"),
		grid.Right("BALANCE AFTER"))
	for _, l := range e.Legs {
		debit, credit := l.Amount.Text(), ""
		if l.Type == client.Credit {
			debit, credit = credit, debit
		}
		t.Add(string(l.AccountID), debit, credit, l.BalanceAfter.Text())
	}
	s.table(t)
	s.command("ledger get %s --legs", e.Transaction.ID)
	s.command("ledger find --key %s", e.Transaction.IdempotencyKey)
	return nil
}

func (s *story) status(ctx context.Context) error {
	s.title("A mistake is reversed, and lists by status tell")
	reversal, err := s.client.Reverse(ctx, client.Reversing{TransactionID: s.shown.ID})
	if err != nil {
		return err
	}
	again, err := s.client.Reverse(ctx, client.Reversing{TransactionID: s.shown.ID})
	if err != nil {
		return err
	}
	if again.Transaction.ID != reversal.Transaction.ID || !again.Replayed {
		s.differ("a transaction was reversed twice")
	}
	t := grid.New(grid.Left("STATUS"), grid.Left("CREATED"), grid.Left("TRANSACTION"),
		grid.Left("TYPE"), grid.Left("WHAT").UpTo(30), grid.Right("AMOUNT"))
	for _, list := range []struct {
		status client.TransactionStatus
		rows   int
	}{{client.Reversed, 1}, {client.Completed, 3}} {
		page, err := s.client.TransactionsByStatus(ctx, client.StatusQuery{
			Status: list.status, NewestFirst: true, PageQuery: client.PageQuery{Limit: list.rows},
		})
		if err != nil {
			return err
		}
		for _, found := range page.Items {
			t.Add(string(found.Status), found.CreatedAt.UTC().Format("15:04:05.000"),
				short(found.ID), string(found.Type), firstLine(found),
				found.Amount.String())
		}
	}
	s.table(t)
	s.command("ledger reverse %s", s.shown.ID)
	s.command("ledger list --status completed --newest --limit 3")
	return nil
}

func (s *story) reconcile(ctx context.Context) error {
	s.title("The books are checked from end to end")
	r, err := s.client.Reconcile(ctx, client.ReconcileQuery{})
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("CURRENCY"), grid.Right("DEBITS"), grid.Right("CREDITS"),
		grid.Right("SUM OF BALANCES"))
	for _, total := range r.Totals {
		t.Add(string(total.Currency), total.Debits.Text(), total.Credits.Text(),
			total.Balances.Text())
		if total.Debits != total.Credits || !total.Balances.IsZero() {
			s.differ("the totals in %s do not balance", total.Currency)
		}
	}
	s.table(t)
	s.say("   %s transactions, %s legs, %s accounts: %d divergences.", thousands(r.Transactions),
		thousands(r.Legs), thousands(r.Accounts), r.Found)
	s.command("ledger reconcile")
	for _, d := range r.Divergences {
		s.differ("%s of %s%s%s: %s, not %s", d.Kind, d.TransactionID, d.AccountID, d.LegID,
			d.Got, d.Want)
	}
	// The race, its reversal, what was measured, the payday and the journey came on top of it.
	payday := s.world.payday.deposits() + s.world.payday.processed()
	want := s.world.expected.Posted + 2 + measured + payday + journey
	if !r.Balanced || r.Transactions != want {
		s.differ("%d transactions were reconciled, not %d; balanced: %t", r.Transactions, want,
			r.Balanced)
	}
	return nil
}
