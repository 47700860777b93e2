package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

const (
	// previewRows is how many rows a preview shows.
	previewRows = 10
	// troubleRows is how many refused rows and warnings are shown.
	troubleRows = 50
)

// found returns what the file is.
func (u *upload) found() {
	got := u.got
	parts := []string{formatName(got.Format)}
	if got.Encoding != "" {
		parts = append(parts, got.Encoding)
	}
	parts = append(parts, count(got.Rows, "row"))
	if got.From != "" {
		parts = append(parts, fmt.Sprintf("%s to %s", got.From, got.To))
	}
	if m, err := bankfile.ParseMapping(got.Mapping); err == nil && m.Name != "" {
		parts = append(parts, "read as "+m.Name)
	}
	u.app.remark("%s: %s", u.name(), strings.Join(parts, ", "))
	if text := balancesText(got); text != "" {
		u.app.remark("  %s", text)
	}
	for _, doubt := range got.Doubts {
		u.app.remark("  %s", grid.Plain(doubt))
	}
}

// balancesText reports whether the balances of a file fit its rows, and the file before it.
func balancesText(u client.Upload) string {
	var says []string
	switch {
	case u.Checked && u.Agrees && (u.Opening == nil || u.Closing == nil):
		says = append(says, "the balances fit: those beside its rows move by the rows")
	case u.Checked && u.Agrees:
		says = append(says, fmt.Sprintf("the balances fit: %s before the first row, %s after the "+
			"last", decimalText(*u.Opening, u.Currency), decimalText(*u.Closing, u.Currency)))
	case u.Checked && (u.Opening == nil || u.Closing == nil):
		says = append(says, "the balances beside its rows do not fit the rows")
	case u.Checked:
		says = append(says, fmt.Sprintf("the balances do not fit: %s and the rows do not make %s",
			decimalText(*u.Opening, u.Currency), decimalText(*u.Closing, u.Currency)))
	case u.Opening != nil && u.Closing != nil:
		says = append(says, fmt.Sprintf("the balances are %s and %s; not checked: they could not "+
			"be compared with the rows", decimalText(*u.Opening, u.Currency),
			decimalText(*u.Closing, u.Currency)))
	case u.Closing != nil:
		says = append(says, fmt.Sprintf("the closing balance is %s; not checked: the file has no "+
			"opening balance to compare it with", decimalText(*u.Closing, u.Currency)))
	case u.Opening != nil:
		says = append(says, fmt.Sprintf("the opening balance is %s; not checked: the file has no "+
			"closing balance to compare it with", decimalText(*u.Opening, u.Currency)))
	}
	if len(says) == 0 {
		says = append(says, "not checked: the file has no balances to compare the rows with")
	}
	switch u.Continuity {
	case string(statements.Continues):
		says = append(says, "it begins where the file before ended")
	case string(statements.Gap):
		says = append(says, "it does not begin where the file before ended: something is missing between")
	}
	return strings.Join(says, "; ")
}

// fileAmount is the amount of a row of a file, if it could be read.
func fileAmount(d client.FileRow) string {
	if d.Amount == nil {
		return ""
	}
	return decimalText(*d.Amount, d.Currency)
}

// countsText returns what became of rows.
func countsText(c client.UploadCounts) string {
	parts := []string{thousands(c.New) + " new"}
	for _, n := range []struct {
		count int
		what  string
	}{
		{c.Known, "known"}, {c.Merged, "merged"}, {c.Deleted, "deleted by you"},
		{c.Skipped, "skipped"}, {c.Refused, "refused"},
	} {
		if n.count > 0 {
			parts = append(parts, thousands(n.count)+" "+n.what)
		}
	}
	return strings.Join(parts, ", ")
}

// show prints the preview: the first rows, those that were refused, why balances do not fit, and
// the counts.
func (u *upload) show(ctx context.Context, p client.UploadPreview) error {
	if u.app.flags.output != outputTable {
		return nil
	}
	if err := decisionTable(u.app, p.Rows); err != nil {
		return err
	}
	if u.got.Counts.Refused > 0 || u.got.Checked && !u.got.Agrees {
		trouble, err := u.c.UploadRows(ctx, u.account.ID, u.got.ID,
			[]string{string(statements.RowRefused), string(statements.RowWarned)},
			client.PageQuery{Limit: troubleRows})
		if err != nil {
			return err
		}
		for _, d := range trouble.Items {
			fmt.Fprintf(u.app.out, "line %d %s: %s\n", d.Line, d.Verdict, grid.Plain(whyOf(d)))
		}
		if trouble.Next != "" {
			fmt.Fprintf(u.app.out, "and more: exchequer statements uploads %s --rows %s\n",
				quoted(string(u.account.ID)), quoted(u.name()))
		}
	}
	_, err := fmt.Fprintf(u.app.out, "%s: %s\n", u.name(), countsText(u.got.Counts))
	return err
}

// decisionTable prints what rows become.
func decisionTable(a *app, rows []client.FileRow) error {
	if len(rows) == 0 {
		return nil
	}
	t := grid.New(grid.Right("LINE"), grid.Left("BECOMES"), grid.Left("DATE"), grid.Right("AMOUNT"),
		grid.Left("TEXT").UpTo(32), grid.Left("WHY"))
	for _, d := range rows {
		t.Add(fmt.Sprint(d.Line), d.Verdict, string(d.Date), fileAmount(d), firstOf(d.Text, d.Raw),
			whyOf(d))
	}
	return t.Write(a.out, "  ")
}

// whyOf is why a row became what it is, and what else there is to know of it.
func whyOf(d client.FileRow) string {
	return strings.TrimSpace(d.Why + " " + strings.Join(d.Warnings, "; "))
}

func uploadColumns() []column[client.Upload] {
	type file = client.Upload
	return []column[file]{
		col("ID", func(u file) string { return string(u.ID) }),
		col("FILE", func(u file) string { return u.FileName }).upTo(28),
		col("STATUS", func(u file) string { return string(u.Status) }),
		col("FORMAT", func(u file) string { return u.Format }),
		col("FROM", func(u file) string { return string(u.From) }),
		col("TO", func(u file) string { return string(u.To) }),
		num("NEW", func(u file) string { return thousands(u.Counts.New) }),
		num("KNOWN", func(u file) string { return thousands(u.Counts.Known + u.Counts.Deleted) }),
		num("MERGED", func(u file) string { return thousands(u.Counts.Merged) }),
		num("REFUSED", func(u file) string { return thousands(u.Counts.Refused) }),
		col("UPLOADED", func(u file) string { return dayIn(u.UploadedAt) }),
		col("WHY", func(u file) string { return u.Why }).upTo(40),
	}
}

func (a *app) statementsUploads() *cobra.Command {
	var (
		p    pages
		rows string
	)
	command := &cobra.Command{
		Use:   "uploads [ACCOUNT]",
		Short: "List the files that were taken in, or what became of the rows of one",
		Long: `List the files that were taken in to an account, the latest first. With --rows, list what became
of the rows of one of them that were not simply new, page by page.`,
		Example: `  exchequer statements uploads everyday
  exchequer statements uploads lisbon --rows lisbon.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			if rows != "" {
				return a.uploadRows(ctx, m, rows, args, p)
			}
			if p != (pages{}) {
				return usagef("exchequer statements uploads ACCOUNT",
					"--limit, --cursor and --all are for the --rows of an upload; "+
						"the uploads of an account come in one list")
			}
			if len(args) == 0 && len(m.Accounts) > 1 {
				return usagef("exchequer statements uploads with one of "+listed(m.Accounts,
					func(v client.BankAccount) string { return v.Name }), "Say of which account")
			}
			name := append(args, firstAccount(m))[0]
			of, err := m.account(name)
			if err != nil {
				return err
			}
			list, err := m.uploads(ctx, of.ID)
			if err != nil {
				return err
			}
			return page(a, uploadColumns(), whole(list),
				"no files yet: exchequer statements upload FILE --account ACCOUNT")
		}),
	}
	p.add(command)
	command.Flags().StringVar(&rows, "rows", "", "list the rows of this `upload`")
	return command
}

// uploads returns the uploads of an account, the latest first. The store has them in the order of
// their ids, which are made of the contents of files.
func (m *mine) uploads(ctx context.Context, account client.BankAccountID) ([]client.Upload, error) {
	var list []client.Upload
	for u, err := range m.c.AllUploads(ctx, account) {
		if err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	slices.SortStableFunc(list, func(x, y client.Upload) int {
		return y.UploadedAt.Compare(x.UploadedAt)
	})
	return list, nil
}

func firstAccount(m *mine) string {
	if len(m.Accounts) == 0 {
		return ""
	}
	return string(m.Accounts[0].ID)
}

func (a *app) uploadRows(
	ctx context.Context, m *mine, name string, accounts []string, p pages,
) error {
	u, err := m.upload(ctx, name, accounts,
		"exchequer statements uploads ACCOUNT --rows "+name+", for ACCOUNT ")
	if err != nil {
		return err
	}
	type row = client.FileRow
	columns := []column[row]{
		num("LINE", func(d row) string { return fmt.Sprint(d.Line) }),
		col("BECAME", func(d row) string { return d.Verdict }),
		col("DATE", func(d row) string { return string(d.Date) }),
		num("AMOUNT", fileAmount),
		col("TEXT", func(d row) string { return firstOf(d.Text, d.Raw) }).upTo(32),
		col("WHY", whyOf),
	}
	const empty = "every row was new"
	if p.all {
		return all(a, columns, m.c.AllUploadRows(ctx, u.AccountID, u.ID), empty)
	}
	list, err := m.c.UploadRows(ctx, u.AccountID, u.ID, nil, p.query())
	if err != nil {
		return err
	}
	return page(a, columns, list, empty)
}

// upload finds an upload by its id, its beginning or the name of its file; of several files of a
// name in one account, the latest. Where files of several accounts have the name, choose and the
// names of the accounts say how to tell which.
func (m *mine) upload(
	ctx context.Context, name string, accounts []string, choose string,
) (client.Upload, error) {
	of, err := m.accounts(accounts)
	if err != nil {
		return client.Upload{}, err
	}
	if len(of) == 0 {
		for _, a := range m.Accounts {
			of = append(of, a.ID)
		}
	}
	var found []client.Upload
	for _, account := range of {
		uploads, err := m.uploads(ctx, account)
		if err != nil {
			return client.Upload{}, err
		}
		for _, u := range uploads {
			if string(u.ID) == name {
				return u, nil
			}
			if u.FileName == name ||
				len(name) > len("upload-") && strings.HasPrefix(string(u.ID), name) {
				found = append(found, u)
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return client.Upload{}, &failure{exit: exitNotFound,
			text: fmt.Sprintf("There is no upload %q", name),
			try:  "exchequer statements uploads ACCOUNT"}
	case 1:
		return found[0], nil
	}
	return client.Upload{}, usagef(choose+listed(found,
		func(u client.Upload) string { return m.accountName(u.AccountID) }),
		"%q was uploaded to several accounts", name)
}

func (a *app) statementsUndo() *cobra.Command {
	var (
		account, edited string
		yes             bool
	)
	command := &cobra.Command{
		Use:   "undo UPLOAD",
		Short: "Take an import back, whole",
		Long: `Take an import back: the rows that it brought go, and what it merged is again what it was. Rows
that you have worked on since are named first; --edited says what becomes of them. The same file can be
uploaded again, and brings everything back.`,
		Example: `  exchequer statements undo january.ofx
  exchequer statements undo january.ofx --edited keep --yes`,
		Args: cobra.ExactArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			var accounts []string
			if account != "" {
				accounts = []string{account}
			}
			u, err := m.upload(ctx, args[0], accounts, "--account with one of ")
			if err != nil {
				return err
			}
			return a.undo(ctx, m.c, u, edited, yes)
		}),
	}
	f := command.Flags()
	f.StringVar(&account, "account", "", "`account` that the file is of")
	f.StringVar(&edited, "edited", "", "rows that you have worked on: `keep` or remove")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	_ = command.RegisterFlagCompletionFunc("edited", fixed("keep", "remove"))
	return command
}

func (a *app) undo(
	ctx context.Context, c *client.Client, u client.Upload, edited string, yes bool,
) error {
	plan, err := c.PlanUndo(ctx, u.AccountID, u.ID)
	if err != nil {
		return err
	}
	name := firstOf(u.FileName, string(u.ID))
	ask := a.newDialogue()
	if plan.EditedOf > 0 && edited == "" {
		if err := a.editedRows(plan); err != nil {
			return err
		}
		if !ask.there || yes {
			return &failure{exit: exitRefused,
				text: fmt.Sprintf("You have worked on %s of %s since", count(plan.EditedOf, "row"),
					name),
				try: "--edited keep, or --edited remove"}
		}
		ask.say("You have worked on %s since: keep or remove?", count(plan.EditedOf, "row"))
		ask.say("  1) keep")
		ask.say("  2) remove")
		if edited, err = ask.choose(ctx, []string{"keep", "remove"}); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("%s would go, %s would be what they were, %s of later files stay",
		count(plan.New, "row"), thousands(plan.Merged), thousands(plan.Others))
	if ask.there && !yes {
		sure, err := ask.agree(ctx, fmt.Sprintf("Undo %s? %s.", name, what))
		if err != nil || !sure {
			return err
		}
	}
	bar := a.newProgress("undoing", "row", plan.New+plan.Merged)
	done, err := c.UndoImport(ctx, u.AccountID, u.ID, client.Undo{
		Edited: edited, Progress: func(n client.RowsDone) {
			bar.total = n.Of
			bar.set(n.Done, "")
		},
	})
	bar.clear()
	if ctx.Err() != nil {
		return &failure{exit: exitStopped, text: "Stopped while undoing " + name,
			try: "the same command again: it goes on where it stopped"}
	}
	if err != nil {
		return err
	}
	a.remark("%s is undone", name)
	return one(a, uploadColumns(), done)
}

// editedRows names the rows that a person has worked on.
func (a *app) editedRows(p client.UndoPlan) error {
	t := grid.New(grid.Left("DATE"), grid.Left("MERCHANT").UpTo(28), grid.Right("AMOUNT"),
		grid.Left("YOURS"), grid.Left("ID"))
	for i, r := range p.Edited {
		if i == troubleRows {
			break
		}
		t.Add(string(r.Date), r.Merchant, decimalText(r.Amount, r.Currency),
			strings.Join(r.What, ", "), shortID(r.ID))
	}
	return t.Write(a.err, "  ")
}
