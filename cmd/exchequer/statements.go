package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

func (a *app) statementsCommand() *cobra.Command {
	command := group("statements", "Bank statements: where did the money go?",
		`Bank statements: where did the money go?

Files that banks give (OFX, QFX, QIF, CSV, MT940, MT942, camt) become transactions of accounts, each
row once, whatever was imported before. Money out is negative. Accounts and tags may be named by id or
by name, transactions by id or by its beginning, uploads by id or by the name of the file.

All of it is about one person: with --server the one that the token or the key stands for, otherwise
the one person of this machine.`,
		a.statementsUpload(), a.statementsUploads(), a.statementsUndo(),
		a.statementsAccounts(), a.statementsProfile(), a.statementsTags(), a.statementsRules(),
		a.statementsList(), a.statementsMonth(), a.statementsShow(), a.statementsAdd(),
		a.statementsEdit(), a.statementsSplit(), a.statementsAnnotate(), a.statementsDelete(),
		a.statementsSearch(), a.statementsReport(),
		a.statementsExport(), a.statementsArchive(), a.statementsRestore(), a.statementsCheck(),
		a.statementsForgetMe())
	command.GroupID = groupMoney
	return command
}

// mine is what names are looked up in: the person's accounts and tags.
type mine struct {
	client.Start
	c *client.Client
}

func mineOf(ctx context.Context, c *client.Client) (*mine, error) {
	start, err := c.Start(ctx)
	return &mine{start, c}, err
}

// withMine is with for commands that look names up in what the person has.
func (a *app) withMine(
	do func(ctx context.Context, m *mine, args []string) error,
) func(*cobra.Command, []string) error {
	return a.with(func(ctx context.Context, c *client.Client, args []string) error {
		m, err := mineOf(ctx, c)
		if err != nil {
			return err
		}
		return do(ctx, m, args)
	})
}

// account returns the account that a person means: by its id, its name or its number in whatever
// case, or the beginning of its name if only one has it.
func (m *mine) account(name string) (client.BankAccount, error) {
	found, some := named(m.Accounts, name, func(a client.BankAccount) (string, []string) {
		return string(a.ID), []string{a.Name, a.Number}
	})
	if found != nil {
		return *found, nil
	}
	names := func(of []client.BankAccount) string {
		return listed(of, func(a client.BankAccount) string { return a.Name })
	}
	switch {
	case len(some) > 0:
		return client.BankAccount{}, usagef("its id: exchequer statements accounts list",
			"%q may be any of the accounts %s", name, names(some))
	case len(m.Accounts) == 0:
		return client.BankAccount{}, &failure{exit: exitNotFound,
			text: fmt.Sprintf("There is no account %q, and none at all", name),
			try:  "exchequer statements accounts add " + quoted(name) + " --currency NZD"}
	}
	return client.BankAccount{}, &failure{exit: exitNotFound,
		text: fmt.Sprintf("There is no account %q", name),
		try:  "one of " + names(m.Accounts)}
}

// accounts returns the ids of accounts that were named.
func (m *mine) accounts(names []string) ([]client.BankAccountID, error) {
	var ids []client.BankAccountID
	for _, name := range names {
		found, err := m.account(name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found.ID)
	}
	return ids, nil
}

// tag returns the tag that a person means.
func (m *mine) tag(name string) (client.Tag, error) {
	found, some := named(m.Tags, name, func(t client.Tag) (string, []string) {
		return string(t.ID), []string{t.Text}
	})
	if found != nil {
		return *found, nil
	}
	texts := func(of []client.Tag) string {
		return listed(of, func(t client.Tag) string { return t.Text })
	}
	if len(some) > 0 {
		return client.Tag{}, usagef("the whole text", "%q may be any of the tags %s", name,
			texts(some))
	}
	try := "exchequer statements tags add " + quoted(name)
	if len(m.Tags) > 0 {
		try += ", or one of " + texts(m.Tags)
	}
	return client.Tag{}, &failure{exit: exitNotFound, text: fmt.Sprintf("There is no tag %q", name),
		try: try}
}

// tags returns the ids of tags that were named; with add those that are not there are made.
func (m *mine) tags(
	ctx context.Context, names []string, add bool,
) ([]client.TagID, error) {
	ids := []client.TagID{}
	for _, name := range names {
		found, err := m.tag(name)
		var f *failure
		if errors.As(err, &f) && f.exit == exitNotFound && add {
			var made client.TagReceipt
			if made, err = m.c.CreateTag(ctx, name); err == nil {
				found = made.Tag
				m.Tags = append(m.Tags, found)
			}
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, found.ID)
	}
	return ids, nil
}

// accountName is how people know an account.
func (m *mine) accountName(id client.BankAccountID) string {
	for _, a := range m.Accounts {
		if a.ID == id {
			return a.Name
		}
	}
	return string(id)
}

// named finds what has an id or a name. Without an exact one, those whose names begin so may be
// meant: the only one, or it is not clear which.
func named[T any](all []T, name string, of func(T) (string, []string)) (found *T, some []T) {
	var exact []T
	for _, item := range all {
		id, names := of(item)
		if id == name {
			return &item, nil
		}
		for _, own := range names {
			if own == "" || len(own) < len(name) {
				continue
			}
			if strings.EqualFold(own, name) {
				exact = append(exact, item)
				break
			}
			if strings.EqualFold(own[:len(name)], name) {
				some = append(some, item)
				break
			}
		}
	}
	if len(exact) > 0 {
		some = exact
	}
	if len(some) == 1 {
		return &some[0], nil
	}
	return nil, some
}

// listedMax is how many names a sentence lists.
const listedMax = 8

func listed[T any](items []T, name func(T) string) string {
	var names []string
	for i, item := range items {
		if i == listedMax {
			names = append(names, fmt.Sprintf("%d more", len(items)-i))
			break
		}
		names = append(names, quoted(name(item)))
	}
	return strings.Join(names, ", ")
}

// quoted writes a text as a shell takes it, with quotation marks where they are needed.
func quoted(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\n\"'\\$`*?[](){}<>|&;#~!") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// dayFlags are the flags of a range of days.
type dayFlags struct{ from, to, month string }

func (d *dayFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&d.from, "from", "", "first `day` or month, such as 2026-01-15 or 2026-01")
	f.StringVar(&d.to, "to", "", "last `day` or month, which is included (default: today)")
	f.StringVar(&d.month, "month", "", "all days of one `month`, such as 2026-01")
	command.MarkFlagsMutuallyExclusive("month", "from")
	command.MarkFlagsMutuallyExclusive("month", "to")
}

// days returns the first and the last day, and without a first one that of so many months before
// the last one's.
func (d *dayFlags) days(m *mine, months int) (from, to client.Date, err error) {
	if d.month != "" {
		if _, err := time.Parse(monthLayout, d.month); err != nil {
			return "", "", noMonth("--month", d.month)
		}
		d.from, d.to = d.month, d.month
	}
	last := m.today()
	if d.to != "" {
		if last, err = dayOf("--to", d.to, true); err != nil {
			return "", "", err
		}
	}
	first := time.Date(last.Year(), last.Month()-time.Month(months-1), 1, 0, 0, 0, 0, time.UTC)
	if d.from != "" {
		if first, err = dayOf("--from", d.from, false); err != nil {
			return "", "", err
		}
	}
	if first.After(last) {
		return "", "", usagef("--from with the earlier day", "%s is after %s",
			first.Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return client.Date(first.Format(time.DateOnly)), client.Date(last.Format(time.DateOnly)), nil
}

const monthLayout = "2006-01"

func noMonth(what, text string) error {
	return usagef("a month such as 2026-01", "%s is %q, which is no month", what, text)
}

// dayOf reads a day, or a month as its first or last day.
func dayOf(flag, text string, last bool) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	month, err := time.Parse(monthLayout, text)
	if err != nil {
		return month, usagef(flag+" 2026-01-31", "%s is %q, which is no day and no month", flag,
			text)
	}
	if last {
		month = month.AddDate(0, 1, -1)
	}
	return month, nil
}

// today is the day in the person's time zone.
func (m *mine) today() time.Time {
	zone := time.Local
	if m.Profile != nil && m.Profile.Preferences.TimeZone != "" {
		if z, err := time.LoadLocation(m.Profile.Preferences.TimeZone); err == nil {
			zone = z
		}
	}
	y, month, day := time.Now().In(zone).Date()
	return time.Date(y, month, day, 0, 0, 0, 0, time.UTC)
}

// transaction finds a transaction by its id, or by the beginning of its id, which tells the month
// in which the bank booked it.
func (m *mine) transaction(
	ctx context.Context, id, account string,
) (client.BankTransaction, error) {
	accounts := m.Accounts
	if account != "" {
		only, err := m.account(account)
		if err != nil {
			return client.BankTransaction{}, err
		}
		accounts = []client.BankAccount{only}
	}
	for _, a := range accounts {
		t, err := m.c.BankTransaction(ctx, a.ID, client.BankTransactionID(id))
		if problem.KindOf(err) != problem.NotFound {
			return t, err
		}
	}
	if t, found, err := m.beginning(ctx, id, accounts); found || err != nil {
		return t, err
	}
	return client.BankTransaction{}, &failure{exit: exitNotFound,
		text: fmt.Sprintf("There is no transaction %q", id),
		try:  "exchequer statements list, which shows the beginnings of ids"}
}

// shortIDLength is how much of an id lists show: "txn-202601-" and 6 characters, of which there
// are a billion.
const shortIDLength = len("txn-202601-") + 6

func shortID(id client.BankTransactionID) string {
	return string(id[:min(len(id), shortIDLength)])
}

// beginning finds the transaction whose id begins so, among those of the month that it names.
func (m *mine) beginning(
	ctx context.Context, id string, accounts []client.BankAccount,
) (t client.BankTransaction, ok bool, err error) {
	rest, ok := strings.CutPrefix(id, "txn-")
	if !ok || len(rest) < len("202601-0") {
		return t, false, nil
	}
	month, err := time.Parse("200601", rest[:len("202601")])
	if err != nil {
		return t, false, nil
	}
	q := client.DaysQuery{
		From:      client.Date(month.Format(time.DateOnly)),
		To:        client.Date(month.AddDate(0, 1, -1).Format(time.DateOnly)),
		PageQuery: client.PageQuery{Limit: statements.PageMax},
	}
	var found []client.BankTransaction
	for _, a := range accounts {
		for t, err := range m.c.AllBankTransactions(ctx, a.ID, q) {
			if err != nil {
				return t, false, err
			}
			if strings.HasPrefix(string(t.ID), id) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return t, false, nil
	case 1:
		return found[0], true, nil
	}
	return t, false, usagef("more of it", "%d transactions begin with %s: %s", len(found), id,
		listed(found, func(t client.BankTransaction) string { return string(t.ID) }))
}

// splitWords takes words that were given with commas between or in flags of their own.
func splitWords(words []string) []string {
	var out []string
	for _, word := range words {
		for part := range strings.SplitSeq(word, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
	}
	return out
}
