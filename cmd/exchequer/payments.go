package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/when"
)

func paymentColumns() []column[client.ScheduledPayment] {
	type payment = client.ScheduledPayment
	return []column[payment]{
		col("ID", func(p payment) string { return string(p.ID) }),
		col("DUE", func(p payment) string { return instant(p.At) }),
		col("STATUS", func(p payment) string { return string(p.Status) }),
		col("ACCOUNT", func(p payment) string { return string(p.AccountID) }),
		col("TO", func(p payment) string {
			return firstOf(string(p.PayeeID), string(p.MerchantID))
		}),
		cash("AMOUNT", func(p payment) money.Amount { return p.Amount }),
		col("DESCRIPTION", func(p payment) string { return p.Description }).upTo(textMax),
	}
}

// failedColumns are those of payments that failed: why stands in place of what for.
func failedColumns() []column[client.ScheduledPayment] {
	type payment = client.ScheduledPayment
	columns := paymentColumns()
	return append(columns[:len(columns)-1],
		num("ATTEMPTS", func(p payment) string { return strconv.Itoa(p.Attempts) }),
		col("REASON", func(p payment) string { return p.Reason }))
}

// paymentDetails are the columns for one payment.
func paymentDetails() []column[client.ScheduledPayment] {
	type payment = client.ScheduledPayment
	details := paymentColumns()
	details[len(details)-1].Max = 0
	return append(details,
		col("DATA", func(p payment) string {
			if len(p.Data) == 0 {
				return ""
			}
			return count(len(p.Data), "byte")
		}),
		col("ZONE", func(p payment) string { return p.Zone }),
		num("VERSION", func(p payment) string { return strconv.FormatUint(p.Version, 10) }),
		num("ATTEMPTS", func(p payment) string { return strconv.Itoa(p.Attempts) }),
		col("UNTIL", func(p payment) string { return instant(p.Until) }),
		col("REASON", func(p payment) string { return p.Reason }),
		col("REASON TEXT", func(p payment) string { return p.ReasonText }),
		col("TRANSACTION", func(p payment) string { return string(p.TransactionID) }),
		col("CREATED", func(p payment) string { return instant(p.CreatedAt) }),
		col("UPDATED", func(p payment) string { return instant(p.UpdatedAt) }))
}

const paymentsLong = `Payments at a time of their own: schedule them, change one's mind, settle what is due through the
ledger, and move days that are over into the history.

A payment is SCHEDULED until it is claimed, PENDING while it is settled or waits for its next attempt,
and then PROCESSED, with the ledger's transaction, or FAILED, with the reason. Until it is claimed it
can be changed and CANCELLED. A failed one can be replayed.

Nothing is paid by itself: "exchequer payments run" does it, or "exchequer serve --run-payments".`

func (a *app) paymentsCommand() *cobra.Command {
	payments := group("payments", "Payments at a time: schedule, settle, archive", paymentsLong,
		a.paymentsSchedule(), a.paymentsImport(), a.paymentsGet(), a.paymentsList(),
		a.paymentsDue(), a.paymentsHistory(), a.paymentsFailed(), a.paymentsChange(),
		a.paymentsCancel(), a.paymentsReplay(), a.paymentsPay(), a.paymentsRun(),
		a.paymentsMove(), a.paymentsShards(), a.paymentsGrow(), a.paymentsPlan())
	payments.GroupID = groupMoney
	return payments
}

// ordering are the flags that say what a payment is.
type ordering struct {
	key, from, to, merchant    string
	amount, currency, at, data string
	description                string
}

func (o *ordering) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&o.to, "to", "", "`account` that is paid")
	f.StringVar(&o.merchant, "merchant", "", "`id` of the merchant that is paid")
	f.StringVar(&o.amount, "amount", "", "exact `amount` in major units, such as 5.50")
	f.StringVar(&o.at, "at", "",
		"`time` when it is due: 2026-01-31T09:00:00Z, 2026-01-31, 2026-01-31T09:00, or 36h "+
			"from now")
	f.StringVar(&o.description, "description", "", "`text` for people")
	command.MarkFlagsMutuallyExclusive("to", "merchant")
}

func (a *app) paymentsSchedule() *cobra.Command {
	var o ordering
	command := &cobra.Command{
		Use:   "schedule",
		Short: "Schedule a payment, once for its account and key",
		Long: `Schedule a payment. Given again with the same --key, at any later time, the command shows what
became of the payment and schedules nothing.

A day and a time without an offset are those of the account's zone. A day is its first instant. A
local time that does not exist, because the clocks are put forward over it, is the first instant after
the change; one that exists twice is the first. A time such as 36h counts from the first time that the
command was given with its --key. What is due in the past is paid by the next run.

A payment that can never be paid is refused: status 4 if an account or the merchant does not exist, 3
if one is closed or has another currency.`,
		Example: `  exchequer payments schedule --from alice --to bob --amount 420 --at 2026-10-01 --key rent-2026-10
  exchequer payments schedule --from alice --to bob --amount 9 --at 2026-10-01T09:00
  exchequer payments schedule --from alice --merchant cafe --amount 5.50 --at 36h`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			n, err := a.order(ctx, c, o)
			if err != nil {
				return err
			}
			receipt, err := c.SchedulePayment(ctx, n)
			if err != nil {
				return err
			}
			if err := one(a, paymentDetails(), receipt.ScheduledPayment); err != nil {
				return err
			}
			if receipt.Replayed {
				a.remark("the key was used before: this is the first payment as it is now")
			}
			return nil
		}),
	}
	o.add(command)
	f := command.Flags()
	f.StringVar(&o.from, "from", "", "`account` that pays (required)")
	f.StringVar(&o.key, "key", "", "idempotency `key`, which makes a repeat safe at any time")
	f.StringVar(&o.currency, "currency", "", "`code` of ISO 4217; without it that of the account")
	f.StringVar(&o.data, "data-file", "",
		"`file` with at most 6,900 bytes to keep with the payment")
	require(command, "from", "amount", "at")
	command.MarkFlagsOneRequired("to", "merchant")
	return command
}

// order returns the payment that the flags ask for.
func (a *app) order(
	ctx context.Context, c *client.Client, o ordering,
) (client.NewPayment, error) {
	n := client.NewPayment{
		IdempotencyKey: o.key, AccountID: client.AccountID(o.from), PayeeID: client.AccountID(o.to),
		MerchantID: client.MerchantID(o.merchant), Description: o.description,
	}
	var err error
	if n.Due, n.After, err = parseDue(o.at); err != nil {
		return n, err
	}
	currency := money.Currency(o.currency)
	if currency == "" {
		account, err := c.Account(ctx, n.AccountID)
		if err != nil {
			return n, err
		}
		currency = account.Balance.Currency()
	}
	if n.Amount, err = optionalAmount("--amount", o.amount, currency); err != nil {
		return n, err
	}
	if o.data != "" {
		n.Data, err = os.ReadFile(o.data)
	}
	return n, err
}

// parseDue reads when a payment is due: a time, or how long from now.
func parseDue(text string) (due string, after *time.Duration, err error) {
	if ahead, err := time.ParseDuration(text); err == nil && ahead >= 0 {
		if ahead%time.Second != 0 {
			return "", nil, usagef("--at 36h", "--at %q is not a number of whole seconds", text)
		}
		return "", &ahead, nil
	}
	t, err := when.Parse(text)
	if err != nil {
		return "", nil, usagef("--at 2026-01-31T09:00:00Z, 2026-01-31, 2026-01-31T09:00 or 36h",
			"--at %q is no time: it %v", text, err)
	}
	return t.Text(), nil, nil
}

func (a *app) paymentsGet() *cobra.Command {
	var transaction string
	command := &cobra.Command{
		Use:   "get [PAYMENT]",
		Short: "Show a payment, by its id or by the transaction that settled it",
		Example: `  exchequer payments get 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55
  exchequer payments get --transaction 5f2c6d1e-9a0b-5c3d-8e4f-0123456789ab`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			if (len(args) == 0) == (transaction == "") {
				return usagef("exchequer payments get PAYMENT, or --transaction TRANSACTION",
					"Give either the id of a payment or --transaction")
			}
			var (
				p   client.ScheduledPayment
				err error
			)
			if transaction != "" {
				p, err = c.PaymentByTransaction(ctx, client.TransactionID(transaction))
			} else {
				p, err = c.Payment(ctx, client.PaymentID(args[0]))
			}
			if err != nil {
				return err
			}
			return one(a, paymentDetails(), p)
		}),
	}
	command.Flags().StringVar(&transaction, "transaction", "",
		"`id` of the ledger's transaction that settled it")
	return command
}

func (a *app) paymentsChange() *cobra.Command {
	var (
		o       ordering
		version uint64
	)
	command := &cobra.Command{
		Use:   "change PAYMENT",
		Short: "Change amount, payee, time or description of a payment until it is claimed",
		Example: `  exchequer payments change 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55 --amount 430
  exchequer payments change 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55 --at 2026-10-02 --version 1`,
		Args: cobra.ExactArgs(1),
	}
	command.RunE = a.with(func(ctx context.Context, c *client.Client, args []string) error {
		id := client.PaymentID(args[0])
		change := client.PaymentChange{Version: version}
		set := command.Flags().Changed
		if set("to") {
			change.PayeeID = new(client.AccountID(o.to))
		}
		if set("merchant") {
			change.MerchantID = new(client.MerchantID(o.merchant))
		}
		if set("description") {
			change.Description = &o.description
		}
		if set("at") {
			var after *time.Duration
			var err error
			if change.Due, after, err = parseDue(o.at); err != nil {
				return err
			}
			if after != nil {
				at := time.Now().Add(*after)
				change.At = &at
			}
		}
		if set("amount") {
			p, err := c.Payment(ctx, id)
			if err != nil {
				return err
			}
			amount, err := optionalAmount("--amount", o.amount, p.Amount.Currency())
			if err != nil {
				return err
			}
			change.Amount = &amount
		}
		p, err := c.ChangePayment(ctx, id, change)
		if err != nil {
			return err
		}
		return one(a, paymentDetails(), p)
	})
	o.add(command)
	addVersion(command, &version)
	command.MarkFlagsOneRequired("to", "merchant", "amount", "at", "description")
	return command
}

func addVersion(command *cobra.Command, version *uint64) {
	command.Flags().Uint64Var(version, "version", 0,
		"only if it is at this `version`, as \"get\" showed it")
}

func (a *app) paymentsCancel() *cobra.Command {
	var version uint64
	command := &cobra.Command{
		Use:   "cancel PAYMENT",
		Short: "Take a payment back until it is claimed",
		Long: `Take a payment back until it is claimed. Of a cancellation and a claim at once one wins: the command
ends with status 5 when the payment is being paid right now, and with 3 when it came to its end.`,
		Example: "  exchequer payments cancel 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			p, err := c.CancelPayment(ctx, client.PaymentID(args[0]), version)
			if err != nil {
				return err
			}
			return one(a, paymentDetails(), p)
		}),
	}
	addVersion(command, &version)
	return command
}

func (a *app) paymentsReplay() *cobra.Command {
	var reason string
	command := &cobra.Command{
		Use:   "replay [PAYMENT]...",
		Short: "Schedule failed payments again, some or all of one reason",
		Example: `  exchequer payments replay 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55
  exchequer payments replay --reason insufficient_funds`,
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			if (len(args) == 0) == (reason == "") {
				return usagef("exchequer payments failed, for those that there are",
					"Give either ids of payments or --reason")
			}
			return a.replay(ctx, c, args, reason)
		}),
	}
	command.Flags().StringVar(&reason, "reason", "",
		"all that failed for this `code`, as \"failed\" shows it")
	return command
}

// replay schedules payments again, those that are named or those that failed for a reason.
func (a *app) replay(
	ctx context.Context, c *client.Client, ids []string, reason string,
) error {
	if reason != "" {
		q := client.PaymentsQuery{Status: client.PaymentFailed}
		for p, err := range c.AllPayments(ctx, q) {
			if err != nil {
				return err
			}
			if p.Reason == reason {
				ids = append(ids, string(p.ID))
			}
		}
		if len(ids) == 0 {
			a.remark("no payments failed for %s", reason)
			return nil
		}
	}
	items := func(yield func(client.ScheduledPayment, error) bool) {
		for _, id := range ids {
			p, err := c.ReplayPayment(ctx, client.PaymentID(id))
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
	return all(a, paymentColumns(), items, "")
}

// nothingPaid is the result of an attempt that did nothing.
func nothingPaid(p client.ScheduledPayment, outcome client.PaymentOutcome) error {
	f := &failure{exit: exitConflict, try: "exchequer payments get " + string(p.ID)}
	switch outcome {
	case client.OutcomeNotDue:
		f.text = "Nothing was paid: the payment is not due until " + instant(p.At)
		f.try = "pay it then, or exchequer payments change " + string(p.ID) + " --at TIME"
	case client.OutcomeWaiting:
		f.text = "Nothing was paid: the payment waits for its next attempt at " + instant(p.Until) +
			": " + strings.TrimSpace(p.ReasonText)
		f.try = "put the reason right and wait"
	case client.OutcomeCancelled:
		f.text, f.try = "Nothing was paid: the payment is cancelled", "schedule a new payment"
	default:
		f.text = "Nothing was paid by this command: another worker has the payment at this moment"
	}
	return f
}

func (a *app) paymentsPay() *cobra.Command {
	return &cobra.Command{
		Use:   "pay PAYMENT",
		Short: "Settle one payment that is due, now",
		Long: `Settle one payment that is due, now. The exit status is 3 when it could not be paid: the reason is
shown with it. It is 5 when nothing was done, because the payment is not due, waits for its next attempt,
was cancelled, or another worker has it.`,
		Example: "  exchequer payments pay 0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			p, outcome, err := c.PayPayment(ctx, client.PaymentID(args[0]))
			if err != nil {
				return err
			}
			if err := one(a, paymentDetails(), p); err != nil {
				return err
			}
			switch outcome {
			case client.OutcomeProcessed:
				return nil
			case client.OutcomeFailed, client.OutcomePostponed:
			default:
				return nothingPaid(p, outcome)
			}
			try := "put the reason right, then exchequer payments replay " + string(p.ID)
			if outcome == client.OutcomePostponed {
				try = "put the reason right: it is tried again at " + instant(p.Until)
			}
			return &failure{
				exit: exitRefused, try: try,
				text: "The payment was " + string(outcome) + ": " + strings.TrimSpace(p.ReasonText),
			}
		}),
	}
}
