package sim

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// bankModel is what is known of a person's bank accounts. The lock of the world guards it.
type bankModel struct {
	uploads map[client.UploadID]*bankUpload
	sent    []*bankUpload // Those that were acknowledged, in that order.
	tags    []client.TagID
	texts   map[client.TagID][]string // That a tag was asked to have.
	rules   map[client.RuleID]bool    // Those that were asked for, and whether that is certain.
}

// bankUpload is a file that was sent.
type bankUpload struct {
	id       client.UploadID
	account  client.BankAccountID
	file     int
	sure     bool // It was acknowledged.
	imported bool // Importing it was acknowledged, at the time.
	at       time.Duration
	undoing  bool // A client asked to undo it.
	undone   bool // That was acknowledged.
	brought  int  // Rows that its import counts as new, once all is quiet.
}

var bankDeeds = map[string]deed{
	"send file": sendFile, "import file": importFile, "undo import": undoImport,
	"import at once": importAtOnce, "undo twice": undoTwice,
	"create tag": createTag, "rename tag": renameTag, "create rule": createRule,
	"apply rules": applyRules, "list rows": listRows, "month totals": monthTotals,
	"list uploads": listUploads,
}

var bankTheme = []weight{
	{"send file", 8}, {"import file", 10}, {"import at once", 2}, {"undo import", 5},
	{"create tag", 2}, {"rename tag", 4}, {"create rule", 2}, {"apply rules", 3},
	{"list rows", 4}, {"month totals", 3},
	{"list uploads", 2},
}

const (
	bankFiles    = 5
	bankFileRows = 6
	bankTags     = 3
)

var bankAccounts = []client.BankAccountID{"everyday", "card"}

// bankRow is a row of a file: one half of each file's rows is in the next file too.
type bankRow struct {
	id, date, amount, name string
}

func bankRows(file int) (rows []bankRow) {
	for n := file * bankFileRows / 2; n < file*bankFileRows/2+bankFileRows; n++ {
		day := time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 5*n)
		r := bankRow{fmt.Sprintf("R%03d", n), day.Format("20060102"), fmt.Sprintf("-%d.25", n+1),
			fmt.Sprintf("SHOP %c", 'A'+n%4)}
		if n%3 == 0 {
			r.amount, r.name = fmt.Sprintf("%d.75", n+10), "WORK"
		}
		rows = append(rows, r)
	}
	return rows
}

// bankFile returns a file in the form of OFX.
func bankFile(file int) []byte {
	var b bytes.Buffer
	b.WriteString("OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\n" +
		"CHARSET:1252\nCOMPRESSION:NONE\nOLDFILEUID:NONE\nNEWFILEUID:NONE\n\n" +
		"<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>\n" +
		"<STMTRS><CURDEF>NZD\n<BANKACCTFROM><BANKID>12<ACCTID>12-1<ACCTTYPE>CHECKING" +
		"</BANKACCTFROM>\n<BANKTRANLIST><DTSTART>20260101<DTEND>20260630\n")
	for _, r := range bankRows(file) {
		fmt.Fprintf(&b, "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>%s<TRNAMT>%s<FITID>%s\n<NAME>%s\n"+
			"</STMTTRN>\n", r.date, r.amount, r.id, r.name)
	}
	b.WriteString("</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n")
	return b.Bytes()
}

func (w *world) setUpBanking(c *caller) error {
	for n, id := range bankAccounts {
		if _, err := c.CreateBankAccount(w.ctx, client.NewBankAccount{ID: id, Name: string(id),
			Currency: "NZD"}); err != nil {
			return err
		}
		c.sendFile(step{ID: -300 - n, Do: "send file", A: n, B: 2 * n})
	}
	for n := range bankTags {
		createTag(c, step{ID: -310 - n, Do: "create tag", A: n})
	}
	createRule(c, step{ID: -320, Do: "create rule", A: 0})
	return nil
}

func sendFile(c *caller, s step) { c.sendFile(s) }

// sendFile sends a file and returns what is known of it.
func (c *caller) sendFile(s step) *bankUpload {
	w := c.w
	x := &bankUpload{id: client.UploadID(fmt.Sprintf("u%d", s.ID+1000)),
		account: bankAccounts[s.A%len(bankAccounts)], file: s.B % bankFiles}
	w.mu.Lock()
	w.bank.uploads[x.id] = x
	w.mu.Unlock()
	data := bankFile(x.file)
	o := c.call(s, fmt.Sprintf("send file %d to %s as %s", x.file, x.account, x.id),
		func(ctx context.Context) (string, error) {
			got, err := c.Upload(ctx, x.account, client.NewUpload{ID: x.id, FileName: "statement",
				Body: bytes.NewReader(data), Size: int64(len(data))})
			if err == nil && len(got.Questions) > 0 {
				w.fail("%v: upload %s has questions: %+v", s, x.id, got.Questions)
			}
			return string(got.Upload.Status), err
		})
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.sure = o.ok(); x.sure {
		w.bank.sent = append(w.bank.sent, x)
	}
	return x
}

// importAtOnce sends a file, imports it, and undoes that while the import is at work, or stalls. In
// some of the steps it is imported again after that.
func importAtOnce(c *caller, s step) {
	stalling := s
	s.Stall = 0
	x := c.sendFile(s)
	if !x.sure {
		return
	}
	if stalling.Stall == 0 && s.C%2 == 0 {
		stalling.Stall, stalling.StallFor = 6+s.C/2%24, 100+s.C
	}
	var both sync.WaitGroup
	both.Go(func() { c.importUpload(stalling, x) })
	both.Go(func() {
		for range undoTries {
			time.Sleep(c.w.draw(20 * time.Millisecond))
			if o := c.undoUpload(s, x); o.code() != "upload_status_wrong" {
				break // Until then the import has not begun to write.
			}
		}
		if s.C%3 == 0 {
			c.importUpload(s, x)
		}
	})
	both.Wait()
}

// undoTwice imports a file and undoes that twice at the same time. One of both stalls, and in the
// meantime the file is imported again.
func undoTwice(c *caller, s step) {
	stalling := s
	s.Stall = 0
	x := c.sendFile(s)
	if !x.sure {
		return
	}
	c.importUpload(s, x)
	stalling.Stall, stalling.StallFor = 3+s.C%14, 200+s.C
	var both sync.WaitGroup
	both.Go(func() { c.undoUpload(stalling, x) })
	both.Go(func() {
		time.Sleep(c.w.draw(60 * time.Millisecond))
		c.undoUpload(s, x)
		c.importUpload(s, x)
	})
	both.Wait()
}

// undoTries is how often an import that has not begun yet is tried to be undone.
const undoTries = 8

// upload returns one of the uploads that were acknowledged, or nil.
func (w *world) upload(n int) *bankUpload {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bank.sent) == 0 {
		return nil
	}
	return w.bank.sent[n%len(w.bank.sent)]
}

func importFile(c *caller, s step) {
	if x := c.w.upload(s.A); x != nil {
		c.importUpload(s, x)
	}
}

func (c *caller) importUpload(s step, x *bankUpload) {
	o := c.call(s, fmt.Sprintf("import %s, file %d, into %s", x.id, x.file, x.account),
		func(ctx context.Context) (string, error) {
			got, err := c.ImportUpload(ctx, x.account, x.id, client.Import{})
			return fmt.Sprintf("%s %+v", got.Status, got.Counts), err
		})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if o.ok() && !x.imported {
		x.imported, x.at = true, o.end
	}
}

func undoImport(c *caller, s step) {
	if x := c.w.upload(s.A); x != nil {
		c.undoUpload(s, x)
	}
}

func (c *caller) undoUpload(s step, x *bankUpload) outcome {
	c.w.mu.Lock()
	x.undoing = true
	c.w.mu.Unlock()
	o := c.call(s, fmt.Sprintf("undo %s, file %d, of %s", x.id, x.file, x.account),
		func(ctx context.Context) (string, error) {
			got, err := c.UndoImport(ctx, x.account, x.id, client.Undo{Edited: "remove"})
			return fmt.Sprintf("%s %+v", got.Status, got.Counts), err
		})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	x.undone = x.undone || o.ok()
	return o
}

func createTag(c *caller, s step) {
	text := fmt.Sprintf("tag %d", s.A%bankTags)
	var got client.TagReceipt
	o := c.call(s, "create "+text, func(ctx context.Context) (string, error) {
		var err error
		got, err = c.CreateTag(ctx, text)
		return fmt.Sprintf("%s %q", got.ID, got.Text), err
	})
	if !o.ok() {
		return
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.bank.texts[got.ID] == nil {
		c.w.bank.tags = append(c.w.bank.tags, got.ID)
	}
	c.w.bank.texts[got.ID] = append(c.w.bank.texts[got.ID], text)
}

// tag returns one of the tags, or "".
func (w *world) tag(n int) client.TagID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bank.tags) == 0 {
		return ""
	}
	return w.bank.tags[n%len(w.bank.tags)]
}

// renameTag renames a tag and does the work on its rows, which can be stopped at any place.
func renameTag(c *caller, s step) {
	id, text := c.w.tag(s.A), fmt.Sprintf("name %d", s.ID)
	if id == "" {
		return
	}
	c.w.mu.Lock()
	c.w.bank.texts[id] = append(c.w.bank.texts[id], text)
	c.w.mu.Unlock()
	c.call(s, fmt.Sprintf("rename tag %s to %q", id, text),
		func(ctx context.Context) (string, error) {
			got, job, err := c.RenameTag(ctx, id, 0, text)
			if err != nil || job == nil || s.C%4 == 0 {
				return got.Text, err
			}
			done, err := c.RunJob(ctx, job.ID, nil)
			return fmt.Sprintf("%s, %d rows", got.Text, done.Changed), err
		})
}

// createRule makes a rule that gives rows of one shop a tag.
func createRule(c *caller, s step) {
	id := c.w.tag(s.A)
	if id == "" {
		return
	}
	shop := fmt.Sprintf("SHOP %c", 'A'+s.B%4)
	rule := client.RuleID(fmt.Sprintf("r%d", s.ID+1000))
	c.w.mu.Lock()
	c.w.bank.rules[rule] = false
	c.w.mu.Unlock()
	o := c.call(s, fmt.Sprintf("rule: %s gets tag %s", shop, id),
		func(ctx context.Context) (string, error) {
			got, err := c.CreateRule(ctx, client.NewRule{
				ID: rule,
				RuleFields: client.RuleFields{Name: shop, Conditions: []client.RuleCondition{
					{Field: "text", Op: "contains", Text: shop}},
					Set: client.RuleSetting{TagIDs: []client.TagID{id}}}})
			return string(got.ID), err
		})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.bank.rules[rule] = o.ok()
}

func applyRules(c *caller, s step) {
	c.call(s, "apply rules", func(ctx context.Context) (string, error) {
		job, err := c.ApplyRules(ctx, client.RuleScope{From: "2026-01-01", To: "2026-12-31"})
		if err != nil || s.C%4 == 0 {
			return string(job.ID), err
		}
		done, err := c.RunJob(ctx, job.ID, nil)
		return fmt.Sprintf("%d rows", done.Changed), err
	})
}

// listRows follows the rows of an account to their end while others import.
func listRows(c *caller, s step) {
	w, account := c.w, bankAccounts[s.A%len(bankAccounts)]
	until := time.Since(w.began) - lagMax
	expected := map[string]client.UploadID{}
	w.mu.Lock()
	undoing := false
	for _, x := range w.bank.uploads {
		if x.account != account {
			continue
		}
		undoing = undoing || x.undoing
		if x.imported && x.at < until {
			for _, r := range bankRows(x.file) {
				expected[r.id] = x.id
			}
		}
	}
	w.mu.Unlock()
	seen := map[string]bool{}
	o := c.call(s, fmt.Sprintf("rows of %s", account), func(ctx context.Context) (string, error) {
		clear(seen)
		q := client.DaysQuery{From: "2026-01-01", To: "2026-12-31", Latest: s.B%2 == 0,
			PageQuery: client.PageQuery{Limit: 1 + s.C%9}}
		for r, err := range c.AllBankTransactions(ctx, account, q) {
			if err != nil {
				return "", err
			}
			if seen[r.BankID] {
				return "", fmt.Errorf("row %s is listed twice", r.BankID)
			}
			seen[r.BankID] = true
		}
		return fmt.Sprintf("%d rows", len(seen)), nil
	})
	if o.err != nil && strings.Contains(o.err.Error(), "listed twice") {
		w.fail("%v: %w", s, o.err)
	}
	w.mu.Lock()
	for _, x := range w.bank.uploads {
		undoing = undoing || x.account == account && x.undoing
	}
	w.mu.Unlock()
	for id, upload := range expected {
		if o.ok() && !undoing && !seen[id] {
			w.fail("%v: row %s is not in the list of %s, and importing %s was acknowledged", s, id,
				account, upload)
		}
	}
}

func monthTotals(c *caller, s step) {
	account := bankAccounts[s.A%len(bankAccounts)]
	c.call(s, fmt.Sprintf("months of %s", account), func(ctx context.Context) (string, error) {
		got, err := c.MonthTotals(ctx, account, "", "")
		return fmt.Sprintf("%d months", len(got)), err
	})
}

// listUploads follows the uploads of an account to their end while others send files.
func listUploads(c *caller, s step) {
	w, account := c.w, bankAccounts[s.A%len(bankAccounts)]
	var expected []client.UploadID
	w.mu.Lock()
	for _, x := range w.bank.sent {
		if x.account == account {
			expected = append(expected, x.id)
		}
	}
	w.mu.Unlock()
	seen := map[client.UploadID]bool{}
	o := c.call(s, fmt.Sprintf("uploads of %s", account),
		func(ctx context.Context) (string, error) {
			clear(seen)
			for u, err := range c.AllUploads(ctx, account) {
				if err != nil {
					return "", err
				}
				seen[u.ID] = true
			}
			return fmt.Sprintf("%d uploads", len(seen)), nil
		})
	for _, id := range expected {
		if o.ok() && !seen[id] {
			w.fail("%v: upload %s was acknowledged and is not in the list", s, id)
		}
	}
}
