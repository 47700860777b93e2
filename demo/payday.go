package demo

import (
	"bytes"
	"context"
	_ "embed" // The files are inside the binary.
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
)

//go:embed payday.csv
var paydayCSV []byte

//go:embed payday.json
var paydayJSON []byte

// paydayCurrency is that of everything in the payday's files.
const paydayCurrency = money.Currency("NZD")

// noFunds is why payments fail that are replayed once there is money.
const noFunds = "insufficient_funds"

// expectedPayday is what must come of the payday's file.
type expectedPayday struct {
	Day       client.Date `json:"day"`
	Rows      int         `json:"rows"`
	Scheduled int         `json:"scheduled"`
	Repeats   int         `json:"repeats"`
	// Refused counts the rows that are not scheduled because they can never be paid.
	Refused   map[string]int `json:"refused"`
	Cancelled []struct {
		Account client.AccountID `json:"account"`
		Key     string           `json:"key"`
	} `json:"cancelled"`
	Processed int            `json:"processed"`
	Failed    map[string]int `json:"failed"`
	Totals    []struct {
		Status client.PaymentStatus `json:"status"`
		Count  int                  `json:"count"`
		Sum    string               `json:"sum"`
	} `json:"totals"`
	Balances map[client.AccountID]string `json:"balances"`
	Payers   []struct {
		ID    client.AccountID `json:"id"`
		User  client.UserID    `json:"user"`
		Funds string           `json:"funds"`
		Later string           `json:"later"`
	} `json:"payers"`
}

// deposits is how many transactions bring the payers their money.
func (e *expectedPayday) deposits() (n int) {
	for _, p := range e.Payers {
		if p.Funds != "" {
			n++
		}
		if p.Later != "" {
			n++
		}
	}
	return n
}

// processed is how many payments are settled in the end.
func (e *expectedPayday) processed() int {
	for _, t := range e.Totals {
		if t.Status == client.PaymentProcessed {
			return t.Count
		}
	}
	return 0
}

// payday schedules a file of payments, and settles what is due.
func (s *story) payday(ctx context.Context) error {
	s.title("Payday: a file of payments is scheduled, and what is due is settled by the ledger")
	want := &s.world.payday
	if err := json.Unmarshal(paydayJSON, want); err != nil {
		return fmt.Errorf("payday.json: %w", err)
	}
	if err := s.fund(ctx); err != nil {
		return err
	}
	result, ids, took, err := s.schedule(ctx)
	if err != nil {
		return err
	}
	s.say("   %s rows in %s: %s scheduled, %s already there, %s refused: their payee is closed.",
		thousands(result.Rows()), seconds(took), thousands(result.Posted), thousands(result.There),
		thousands(result.Refused))
	if result.Posted != want.Scheduled || result.There != want.Repeats {
		s.differ("%d payments were scheduled and %d there, not %d and %d", result.Posted,
			result.There, want.Scheduled, want.Repeats)
	}
	for _, c := range want.Cancelled {
		if _, err := s.client.CancelPayment(ctx, ids[string(c.Account)+c.Key], 0); err != nil {
			return err
		}
	}
	s.say("   %d of them were a mistake, and are cancelled in time.", len(want.Cancelled))
	began := time.Now()
	report, err := s.client.RunPayments(ctx, client.PaymentRun{})
	if err != nil {
		return err
	}
	s.say("   A run settles %s payments in %s, each in one write with its transaction; %d fail:",
		thousands(report.Processed), seconds(time.Since(began)), report.Failed)
	if report.Processed != want.Processed {
		s.differ("%d payments were processed, not %d", report.Processed, want.Processed)
	}
	if err := s.replay(ctx); err != nil {
		return err
	}
	s.command("payments import demo/payday.csv")
	s.command("payments run")
	s.command("payments failed")
	return nil
}

// fund opens the payers' accounts, with money in those that have some in time.
func (s *story) fund(ctx context.Context) error {
	for _, p := range s.world.payday.Payers {
		_, err := s.client.OpenAccount(ctx, client.NewAccount{
			ID: p.ID, UserID: p.User, AccountType: "payroll", Currency: paydayCurrency,
		})
		if err == nil && p.Funds != "" {
			err = s.deposit(ctx, p.ID, p.Funds, "funds")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *story) deposit(ctx context.Context, to client.AccountID, text, what string) error {
	amount, err := money.Parse(text, paydayCurrency)
	if err != nil {
		return fmt.Errorf("payday.json: %w", err)
	}
	_, err = s.client.Post(ctx, client.Posting{
		IdempotencyKey: "payday-" + what + "-" + string(to), Type: client.Deposit, To: to,
		Amount: amount,
	})
	return err
}

// schedule imports the file, and returns the ids of payments by account and key.
func (s *story) schedule(ctx context.Context) (
	result bulk.Result, ids map[string]client.PaymentID, took time.Duration, err error,
) {
	file, err := bulk.OpenPaymentsReader(bytes.NewReader(paydayCSV))
	if err != nil {
		return result, nil, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	ids, refused := make(map[string]client.PaymentID, file.Rows), map[string]int{}
	begin := time.Now()
	result, err = bulk.ImportPayments(ctx, s.client, file, bulk.Options{
		Report: func(o bulk.Outcome) error {
			if o.Status == bulk.Refused {
				refused[string(o.Problem.Code)]++
			}
			ids[string(o.Row.Payment.AccountID)+o.Row.Key()] = o.PaymentID
			return nil
		},
	})
	if err == nil && result.Stopped {
		err = context.Cause(ctx)
	}
	if err == nil && !maps.Equal(refused, s.world.payday.Refused) {
		s.differ("rows of the payday were refused for %v, not for %v", refused,
			s.world.payday.Refused)
	}
	return result, ids, time.Since(begin), err
}

// replay shows why payments failed, lets money come in for those that want it, and pays them.
func (s *story) replay(ctx context.Context) error {
	want, failed := s.world.payday, map[string]int{}
	var again []client.PaymentID
	t := grid.New(grid.Right("PAYMENTS"), grid.Left("FAILED FOR"),
		grid.Left("FOR EXAMPLE").UpTo(exampleMax))
	examples := map[string]string{}
	for p, err := range s.client.AllPayments(ctx, client.PaymentsQuery{
		Status: client.PaymentFailed, Date: want.Day,
	}) {
		if err != nil {
			return err
		}
		failed[p.Reason]++
		examples[p.Reason] = p.ReasonText
		if p.Reason == noFunds {
			again = append(again, p.ID)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(failed)) {
		t.Add(thousands(failed[reason]), reason, shorter(examples[reason]))
	}
	s.table(t)
	if !maps.Equal(failed, want.Failed) {
		s.differ("payments failed for %v, not for %v", failed, want.Failed)
	}
	for _, p := range want.Payers {
		if p.Later == "" {
			continue
		}
		if err := s.deposit(ctx, p.ID, p.Later, "later"); err != nil {
			return err
		}
	}
	for _, id := range again {
		if _, err := s.client.ReplayPayment(ctx, id); err != nil {
			return err
		}
	}
	report, err := s.client.RunPayments(ctx, client.PaymentRun{})
	if err != nil {
		return err
	}
	s.say("   Money comes in for %d of them: they are replayed, and %d are paid.", len(again),
		report.Processed)
	if report.Processed != len(again) || report.Failed != 0 {
		s.differ("of %d replayed payments %d were processed", len(again), report.Processed)
	}
	return nil
}

// endOfDay moves the payday into the history, and compares it with the ledger.
func (s *story) endOfDay(ctx context.Context) error {
	s.title("The day is moved into the history, and agrees with the ledger to the cent")
	want := s.world.payday
	begin := time.Now()
	day, err := s.client.MovePaymentDay(ctx, want.Day, "", nil)
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("STATUS"), grid.Right("PAYMENTS"), grid.Right("SUM"))
	var got, must []string
	for _, total := range day.Totals {
		t.Add(string(total.Status), thousands(total.Count), total.Sum.String())
		got = append(got, fmt.Sprintf("%d %s %s", total.Count, total.Status, total.Sum.Text()))
	}
	s.table(t)
	for _, total := range want.Totals {
		must = append(must, fmt.Sprintf("%d %s %s", total.Count, total.Status, total.Sum))
	}
	if !day.Moved || !slices.Equal(got, must) {
		s.differ("the day has %v in the history, not %v; moved: %t", got, must, day.Moved)
	}
	s.say("   %s moved in %s: %s copied, counted and added up on both sides, and then removed.",
		want.Day, seconds(time.Since(begin)), thousands(day.Copied))
	if err := s.compareWithLedger(ctx, day); err != nil {
		return err
	}
	result, _, took, err := s.schedule(ctx)
	if err != nil {
		return err
	}
	s.say("   The whole file is sent once more, in %s: %s scheduled, %s already there.",
		seconds(took), thousands(result.Posted), thousands(result.There))
	if result.Posted != 0 {
		s.differ("%d payments were scheduled again after they were archived", result.Posted)
	}
	s.command("payments move %s", want.Day)
	s.command("payments history --date %s", want.Day)
	return nil
}

// compareWithLedger adds up what left the payers' accounts, and looks at what is left on them.
func (s *story) compareWithLedger(ctx context.Context, day client.MovedDay) error {
	want := s.world.payday
	var (
		processed, out money.Amount
		legs, agree    int
		last           client.Leg
		err            error
	)
	for _, t := range day.Totals {
		if t.Status == client.PaymentProcessed {
			processed = t.Sum
		}
	}
	for _, p := range want.Payers {
		for l, err := range s.client.AllLegsOfAccount(ctx, p.ID) {
			if err != nil {
				return err
			}
			if l.Type != client.Debit {
				continue
			}
			legs, last = legs+1, l
			if out, err = out.Add(l.Amount); err != nil {
				return err
			}
		}
		a, err := s.client.Account(ctx, p.ID)
		if err != nil {
			return err
		}
		if a.Balance.Text() == want.Balances[p.ID] {
			agree++
		} else {
			s.differ("payer %s has a balance of %s, not %s", p.ID, a.Balance, want.Balances[p.ID])
		}
	}
	s.say("   %s debits of the payers in the ledger add up to %s, and %d of %d balances agree.",
		thousands(legs), out, agree, len(want.Payers))
	if out != processed || legs != want.processed() {
		s.differ("%d debits of %s are in the ledger, and %d payments of %s are processed", legs, out,
			want.processed(), processed)
	}
	paid, err := s.client.PaymentByTransaction(ctx, last.TransactionID)
	if err != nil {
		return err
	}
	if paid.Amount != last.Amount || paid.AccountID != last.AccountID {
		s.differ("transaction %s settled the payment %s of %s", last.TransactionID, paid.ID,
			paid.Amount)
	}
	s.command("payments get --transaction %s", last.TransactionID)
	return nil
}
