package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/problem"
)

var errNobody = problems.Define(problem.NotFound, "account_not_found",
	"There is no such account", "")

// diary is the plainest scheduler that there is: it knows every account but nobody's.
type diary struct {
	mu       sync.Mutex
	payments map[string]client.NewPayment
	onCall   func(call int) error
	calls    int
}

func newDiary() *diary { return &diary{payments: map[string]client.NewPayment{}} }

func (d *diary) SchedulePayment(
	ctx context.Context, n client.NewPayment,
) (client.PaymentReceipt, error) {
	if err := ctx.Err(); err != nil {
		return client.PaymentReceipt{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.onCall != nil {
		if err := d.onCall(d.calls); err != nil {
			return client.PaymentReceipt{}, err
		}
	}
	if n.AccountID == "nobody" {
		return client.PaymentReceipt{}, errNobody
	}
	key := string(n.AccountID) + "/" + n.IdempotencyKey
	receipt := client.PaymentReceipt{ScheduledPayment: client.ScheduledPayment{
		ID: client.PaymentID("payment " + key),
	}}
	if first, there := d.payments[key]; there {
		receipt.Replayed = true
		if !cmp.Equal(first, n) {
			return receipt, errBody
		}
		return receipt, nil
	}
	d.payments[key] = n
	return receipt, nil
}

// scheduled imports a text, and returns what became of its rows.
func scheduled(
	t *testing.T, ctx context.Context, d *diary, content string,
) (bulk.Result, []string) {
	t.Helper()
	f, err := bulk.OpenPaymentsReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var outcomes []string
	result, err := bulk.ImportPayments(ctx, d, f, bulk.Options{
		Concurrency: 8,
		Report: func(o bulk.Outcome) error {
			text := fmt.Sprint(o.Row.Line, " ", o.Status)
			switch {
			case o.Problem != nil:
				text += " " + string(o.Problem.Code) + ": " + o.Problem.Sentence
			case o.PaymentID != client.PaymentID(
				"payment "+string(o.Row.Payment.AccountID)+"/"+o.Row.Key()):
				t.Errorf("line %d became %s", o.Row.Line, o.PaymentID)
			}
			outcomes = append(outcomes, text)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, outcomes
}

const paymentsFile = `At,key,account,payee,merchant,amount,currency,description,data,colour
2026-01-31T09:00:00Z,a,alice,bob,,5.50,NZD,"Rent,
of January",aGk=,red
2026-01-31T22:00:00+13:00,,alice,,cafe,1,NZD,,,
2026-01-31T09:00:00Z,a,alice,bob,,5.50,NZD,"Rent,
of January",aGk=,blue
2026-01-31T09:00:00Z,a,carol,bob,,5.50,NZD,Rent,,
2026-01-31T09:00:00Z,a,alice,bob,,6.50,NZD,Rent,,
2026-01-31T09:00:00Z,,nobody,bob,,1,NZD,,,
tomorrow,,alice,bob,,1,NZD,,,
2026-01-31T09:00:00Z,,,bob,,1,NZD,,,
,,alice,bob,,1,NZD,,,
2026-01-31T09:00:00Z,,alice,bob,,"1,5",NZD,,,
2026-01-31T09:00:00Z,,alice,bob,,1,NZD,,?,
2026-01-31T09:00:00Z,,alice
`

func TestRowsBecomePayments(t *testing.T) {
	d := newDiary()
	result, got := scheduled(t, t.Context(), d, paymentsFile)
	want := []string{
		"2 posted", "4 posted", "5 there", "7 posted",
		"8 refused idempotency_conflict: Another body",
		"9 refused account_not_found: There is no such account",
		`10 refused row_invalid: The row has the time "tomorrow", which is not one such as ` +
			"2026-01-31T09:00:00Z, 2026-01-31 or 2026-01-31T09:00: it has no year of 4 digits",
		`11 refused row_invalid: The row names no account in "account"`,
		"12 refused row_invalid: The row has no time",
		`13 refused row_invalid: The row cannot be read: "1,5" is not a plain decimal number, ` +
			"such as 5.50 or -12",
		"14 refused row_invalid: The row has data that are not base64: illegal base64 data at " +
			"input byte 0",
		"15 refused row_invalid: The row has 3 cells where the header has 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if result.Posted != 3 || result.There != 1 || result.Refused != 8 {
		t.Errorf("%+v", result)
	}
	first := d.payments["alice/a"]
	if first.Amount.String() != "5.50 NZD" || first.PayeeID != "bob" ||
		string(first.Data) != "hi" ||
		first.Description != "Rent,\nof January" ||
		first.Due != "2026-01-31T09:00:00Z" {
		t.Errorf("the first row became %+v", first)
	}
	again, _ := scheduled(t, t.Context(), d, paymentsFile)
	if again.Posted != 0 || again.There != 4 || len(d.payments) != 3 {
		t.Errorf("imported again: %+v, %d payments", again, len(d.payments))
	}
}

func TestLinesOfJSONBecomePayments(t *testing.T) {
	d := newDiary()
	result, _ := scheduled(t, t.Context(), d,
		`{"account":"alice","merchant":"cafe","amount":5.5,"currency":"NZD","at":"2026-01-31T09:00:00Z"}
{"key":"k","account":"alice","payee":"bob","amount":"1.00","currency":"NZD","at":"2026-01-31T09:00:00Z","legs":[]}
`)
	if result.Posted != 2 {
		t.Errorf("%+v", result)
	}
	if p := d.payments["alice/k"]; p.PayeeID != "bob" || p.Amount.String() != "1.00 NZD" {
		t.Errorf("the second line became %+v", p)
	}
}

func TestFilesOfPaymentsNeedTheirColumns(t *testing.T) {
	for _, name := range []string{"account", "amount", "currency", "at"} {
		head := strings.Replace("account,payee,amount,currency,at", name, "other", 1)
		_, err := bulk.OpenPaymentsReader(strings.NewReader(head + "\n"))
		var wrong *bulk.FileError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Wrong, `no column "`+name+`"`) ||
			!strings.HasSuffix(wrong.Try, "key,account,payee,merchant,amount,currency,at,description,data") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestAStoppedImportOfPaymentsGoesOn(t *testing.T) {
	const rows = 400
	var content strings.Builder
	content.WriteString("account,payee,amount,currency,at\n")
	for i := range rows {
		fmt.Fprintf(&content, "a%d,bob,1,NZD,2026-01-31T09:00:00Z\n", i%3)
	}
	d := newDiary()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d.onCall = func(call int) error {
		if call == rows/2 {
			cancel()
		}
		return nil
	}
	first, _ := scheduled(t, ctx, d, content.String())
	if !first.Stopped || first.Posted == 0 || first.Posted == rows {
		t.Errorf("the first import: %+v", first)
	}
	second, _ := scheduled(t, t.Context(), d, content.String())
	if second.There != first.Posted || first.Posted+second.Posted != rows ||
		len(d.payments) != rows {
		t.Errorf("the second import: %+v after %+v, %d payments", second, first, len(d.payments))
	}
}
