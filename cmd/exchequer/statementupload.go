package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

const statementsUploadLong = `Take in files that a bank gave: OFX, QFX, QIF, CSV, MT940, MT942, camt.052,
camt.053 or camt.054. Which it is, and how it is written, is seen from its content.

For each file, the command says what it found, shows what each row would become, and asks before
anything is imported; --yes answers that question, and --preview stops there. What nothing in the file
decides is asked as well: at a terminal in words, otherwise the command ends with status 3 and shows
the --answer that decides it. An --answer or a --column counts also where nothing is asked, as long as
the file is not imported; of one that is, undo the import first. How a CSV file was read is remembered
with the account, and not asked again.

Rows are new, known (imported before, from whichever file), merged (became one with a transaction that
was pending or added by hand), deleted (you deleted it, so it stays away), skipped (no transaction of
this account) or refused (could not be read). Refused rows are shown with their lines; the others are
imported all the same, and the exit status is 3 unless --allow-refused is given.

The command can be stopped at any time, by Ctrl-C or harder, and given again: no row is there twice.`

// uploading are the flags of an upload.
type uploading struct {
	account                    string
	answers, columns           []string
	yes, preview, allowRefused bool
}

func (a *app) statementsUpload() *cobra.Command {
	var u uploading
	command := &cobra.Command{
		Use:   "upload FILE...",
		Short: "Take in files that a bank gave, each row once",
		Long:  statementsUploadLong,
		Example: `  exchequer statements upload january.ofx --account everyday
  exchequer statements upload *.csv --account card --yes
  exchequer statements upload lisbon.csv --account lisbon --answer dateOrder=day-month-year
  exchequer statements upload card.csv --account card --column debit=4 --column credit=5`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			return a.uploadFiles(ctx, c, u, args)
		}),
	}
	f := command.Flags()
	f.StringVar(
		&u.account,
		"account",
		"",
		"`account` that the files are of (required if there are several)",
	)
	f.StringArrayVar(&u.answers, "answer", nil,
		"`topic=value` that a file leaves open or that was read wrongly, such as "+
			"dateOrder=day-month-year; also encoding=..., statement=NUMBER, invert=true")
	f.StringArrayVar(
		&u.columns,
		"column",
		nil,
		"`role=column` of a CSV file, by its number, from 1, or its name, such as debit=4 or name=Vendor",
	)
	f.BoolVarP(&u.yes, "yes", "y", false, "import without asking")
	f.BoolVar(&u.preview, "preview", false, "show what would be imported, and import nothing")
	f.BoolVar(&u.allowRefused, "allow-refused", false,
		"end with status 0 even if rows were refused")
	command.MarkFlagsMutuallyExclusive("yes", "preview")
	return command
}

func (a *app) uploadFiles(
	ctx context.Context, c *client.Client, u uploading, paths []string,
) error {
	given := map[string]string{}
	for _, text := range u.answers {
		topic, value, ok := strings.Cut(text, "=")
		if !ok {
			return usagef("--answer dateOrder=day-month-year", "--answer is %q, without a value",
				text)
		}
		given[topic] = value
	}
	for _, text := range u.columns {
		role, column, ok := strings.Cut(text, "=")
		if !ok || !bankfile.Role(role).Known() {
			return usagef("--column debit=4; the roles are "+
				strings.Join(bankfile.RoleNames(), ", "), "--column is %q", text)
		}
		given[string(bankfile.ColumnTopic(bankfile.Role(role)))] = column
	}
	m, err := mineOf(ctx, c)
	if err != nil {
		return err
	}
	if u.account == "" {
		if len(m.Accounts) != 1 {
			return usagef("--account with one of "+firstOf(listed(m.Accounts,
				func(v client.BankAccount) string { return v.Name }),
				"those that \"exchequer statements accounts add\" makes"),
				"Say which account the files are of")
		}
		u.account = string(m.Accounts[0].ID)
	}
	account, err := m.account(u.account)
	if err != nil {
		return err
	}
	refused := 0
	ask := a.newDialogue()
	for _, path := range paths {
		up := &upload{app: a, c: c, account: account, path: path, flags: u, given: given, ask: ask}
		if err := up.do(ctx); err != nil {
			return err
		}
		refused += up.got.Counts.Refused
	}
	if refused > 0 && !u.allowRefused && !u.preview {
		return &failure{exit: exitRefused, text: count(refused, "row") + " refused",
			try: "put them right in the file and upload it again (the other rows are known then), or " +
				"give --allow-refused"}
	}
	return nil
}

// upload is one file on its way.
type upload struct {
	app     *app
	c       *client.Client
	account client.BankAccount
	path    string
	flags   uploading
	given   map[string]string
	ask     *dialogue
	got     client.Upload
}

func (u *upload) do(ctx context.Context) error {
	received, err := u.send(ctx)
	if err != nil {
		return err
	}
	u.got = received.Upload
	switch u.got.Status {
	case client.UploadProcessed:
		if topic := u.otherAnswer(); topic != "" {
			return &failure{exit: exitConflict,
				text: fmt.Sprintf("%s is imported already, with another answer to %s", u.name(),
					topic),
				try: "exchequer statements undo " + quoted(u.name()) +
					", then the same command again"}
		}
		on := dayIn(u.got.ImportedAt)
		if on != "" {
			on = ", on " + on
		}
		u.app.remark("%s is imported already%s: %s", u.name(), on, countsText(u.got.Counts))
		u.got.Counts.Refused = 0 // Told the first time.
		return u.print()
	case client.UploadReverting:
		return &failure{exit: exitConflict, text: u.name() + " is being undone",
			try: "exchequer statements undo " + string(u.got.ID)}
	case client.UploadImporting: // An import that was stopped: it goes on.
		return u.doImport(ctx, "")
	}
	if err := u.decide(ctx, received); err != nil {
		return err
	}
	if u.got.Status == client.UploadFailed {
		return &failure{exit: exitUsage,
			text: fmt.Sprintf("%s cannot be read: %s", u.name(), u.got.Why),
			try:  "download it again from the bank, or in another format"}
	}
	u.found()
	preview, err := u.c.PreviewUpload(ctx, u.account.ID, u.got.ID, previewRows)
	if err != nil {
		return err
	}
	u.got = preview.Upload
	if err := u.show(ctx, preview); err != nil {
		return err
	}
	if u.flags.preview {
		return u.print()
	}
	agreed, err := u.agreed(ctx)
	if err != nil || !agreed {
		return err
	}
	return u.doImport(ctx, u.got.Digest)
}

func (u *upload) name() string { return filepath.Base(u.path) }

// send brings the file to the server. Its id is made of its content, so that the same file for the
// same account is always the same upload.
func (u *upload) send(ctx context.Context) (client.ReceivedFile, error) {
	file, err := os.Open(u.path)
	if err != nil {
		return client.ReceivedFile{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return client.ReceivedFile{}, err
	}
	switch {
	case info.IsDir():
		return client.ReceivedFile{}, usagef("the files in it, such as "+u.path+"/*",
			"%s is a folder", u.path)
	case info.Size() > statements.FileSizeMax:
		return client.ReceivedFile{}, usagef("split it, by year for example",
			"%s has more than %d bytes", u.path, statements.FileSizeMax)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return client.ReceivedFile{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return client.ReceivedFile{}, err
	}
	receipt, err := u.c.Upload(ctx, u.account.ID, client.NewUpload{
		ID: uploadID(sum.Sum(nil)), FileName: u.name(), Body: file, Size: info.Size(),
	})
	return receipt.ReceivedFile, err
}

// uploadID names a file by its content.
func uploadID(sum []byte) client.UploadID {
	return client.UploadID("upload-" + hex.EncodeToString(sum[:16]))
}

// decide answers what the file leaves open: by the flags, else by asking. What the flags say counts
// whether or not it is asked.
func (u *upload) decide(ctx context.Context, received client.ReceivedFile) (err error) {
	if len(u.given) > 0 {
		received, err = u.c.AnswerQuestions(ctx, u.account.ID, u.got.ID, u.given)
		if err != nil {
			return err
		}
	}
	for len(received.Questions) > 0 && received.Upload.Status == client.UploadUploaded {
		answers := map[string]string{}
		for _, q := range received.Questions {
			if !u.ask.there {
				return u.open(received.Questions)
			}
			if answers[q.Topic], err = u.question(ctx, q); err != nil {
				return err
			}
		}
		received, err = u.c.AnswerQuestions(ctx, u.account.ID, u.got.ID, answers)
		if err != nil {
			return err
		}
	}
	u.got = received.Upload
	return nil
}

// otherAnswer returns a topic about which the flags say something else than the import did, or
// nothing.
func (u *upload) otherAnswer() string {
	m, err := bankfile.ParseMapping(u.got.Mapping)
	if err != nil {
		return ""
	}
	for _, topic := range slices.Sorted(maps.Keys(u.given)) {
		value, same := u.given[topic], true
		switch bankfile.Topic(topic) {
		case statements.AskInvert:
			same = value == fmt.Sprint(m.Invert)
		case statements.AskEncoding:
			encoding, _ := bankfile.ParseEncoding(value)
			same = encoding == bankfile.Encoding(u.got.Encoding)
		case statements.AskStatement: // The number of the account is the upload's.
		default:
			same = m.Says(bankfile.Topic(topic), value)
		}
		if !same {
			return topic
		}
	}
	return ""
}

// question asks in words.
func (u *upload) question(ctx context.Context, q client.FileQuestion) (string, error) {
	u.ask.say("%s: %s", u.name(), q.Text)
	for _, example := range q.Examples {
		u.ask.say("  %s", example)
	}
	var values []string
	for i, choice := range q.Choices {
		u.ask.say("  %d) %s: %s", i+1, choice.Value, choice.Meaning)
		values = append(values, choice.Value)
	}
	return u.ask.choose(ctx, values)
}

// open returns what must be answered by whoever gives the command again.
func (u *upload) open(questions []client.FileQuestion) error {
	var texts, flags []string
	for _, q := range questions {
		lines := q.Examples
		for _, choice := range q.Choices {
			lines = append(lines, fmt.Sprintf("--answer %s means %s",
				quoted(q.Topic+"="+choice.Value), choice.Meaning))
		}
		if u.app.flags.output != outputJSON {
			u.ask.say("%s: %s", u.name(), q.Text)
			for _, line := range lines {
				u.ask.say("  %s", line)
			}
		}
		texts = append(texts, q.Text)
		if len(q.Choices) > 0 {
			flags = append(flags, "--answer "+quoted(q.Topic+"="+q.Choices[0].Value))
		}
	}
	return &failure{exit: exitRefused,
		text: u.name() + " leaves something open: " + strings.Join(texts, " "),
		try:  "the same command with " + strings.Join(flags, " ") + ", if that is right"}
}

// agreed asks whether to import.
func (u *upload) agreed(ctx context.Context) (bool, error) {
	c := u.got.Counts
	switch {
	case u.flags.yes:
		return true, nil
	case c.New+c.Merged == 0 && c.Refused == 0:
		return true, nil // Nothing changes, but the upload is done then.
	case !u.ask.there:
		return false, usagef("--yes, or --preview if that is all",
			"Nothing was imported from %s yet", u.name())
	}
	yes, err := u.ask.agree(ctx, fmt.Sprintf("Import %s into %s?", count(c.New+c.Merged, "row"),
		u.account.Name))
	if err == nil && !yes {
		u.app.remark("nothing was imported from %s", u.name())
	}
	return yes, err
}

func (u *upload) doImport(ctx context.Context, digest string) error {
	bar := u.app.newProgress("importing", "row", u.got.Rows)
	got, err := u.c.ImportUpload(ctx, u.account.ID, u.got.ID, client.Import{
		Digest: digest, Progress: func(n client.RowsDone) {
			bar.total = n.Of
			bar.set(n.Done, "")
		},
	})
	bar.clear()
	if ctx.Err() != nil {
		return &failure{exit: exitStopped, text: "Stopped in the middle of " + u.name(),
			try: "the same command again: it goes on where it stopped"}
	}
	if errors.Is(err, statements.ErrPreviewStale) {
		return &failure{exit: exitConflict,
			text: "Something else was written to the account since the preview of " + u.name(),
			try:  "the same command again"}
	}
	if err != nil {
		return err
	}
	u.got = got
	u.app.remark("%s is imported into %s: %s", u.name(), u.account.Name, countsText(got.Counts))
	return u.print()
}

// print prints the upload where the output is for programs.
func (u *upload) print() error {
	switch u.app.flags.output {
	case outputJSON:
		return u.app.json(u.got)
	case outputCSV:
		return one(u.app, uploadColumns(), u.got)
	}
	return nil
}

// formatName is what people call a format.
func formatName(format string) string {
	switch bankfile.Format(format) {
	case bankfile.OFX, bankfile.QIF, bankfile.CSV:
		return strings.ToUpper(format)
	case "":
		return "no format that is known"
	}
	return format
}
