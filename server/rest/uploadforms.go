package rest

import (
	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of uploads.
type (
	upload struct {
		ID         string                  `json:"id" example:"upload-01k3zj8q0v9x2c4r6t8w0y2a4b"`
		AccountID  string                  `json:"accountId" example:"everyday"`
		Status     statements.UploadStatus `json:"status,omitempty" enum:"uploaded,parsed,previewed,importing,processed,failed,reverting,reverted"`
		Why        string                  `json:"why,omitempty" doc:"Why it failed"`
		FileName   string                  `json:"fileName,omitempty" example:"August.csv"`
		FileGone   bool                    `json:"fileGone,omitempty" doc:"Whether the file was deleted"`
		Size       int64                   `json:"size" doc:"In bytes"`
		SHA256     string                  `json:"sha256,omitempty" doc:"Of the file, in hex"`
		Format     bankfile.Format         `json:"format,omitempty" enum:"ofx,qif,csv,mt940,camt"`
		Encoding   string                  `json:"encoding,omitempty" example:"utf-8"`
		Mapping    *fileMapping            `json:"mapping,omitempty" doc:"How the file is read, answers included"`
		Number     string                  `json:"number,omitempty" doc:"The account of the file whose statements are taken in"`
		Rows       int                     `json:"rows" doc:"How many rows the file has"`
		Counts     uploadCounts            `json:"counts" doc:"What became of the rows, or would by the last preview"`
		From       bankDate                `json:"from,omitempty" doc:"The first day in the file" example:"2025-08-01"`
		To         bankDate                `json:"to,omitempty" doc:"The last day in the file" example:"2025-08-31"`
		Months     []string                `json:"months" nullable:"false" doc:"In which the bank booked what the file has"`
		Digest     string                  `json:"digest,omitempty" doc:"Names what the last preview decided; give it to the import"`
		Currency   money.Currency          `json:"currency,omitempty" doc:"Of the balances"`
		Opening    string                  `json:"opening,omitempty" doc:"The balance that the file begins with"`
		Closing    string                  `json:"closing,omitempty" doc:"The balance that it ends with"`
		Checked    bool                    `json:"checked" doc:"Whether opening, rows and closing could be compared"`
		Agrees     bool                    `json:"agrees" doc:"Whether they fit"`
		Continuity statements.Continuity   `json:"continuity,omitempty" enum:"continues,gap" doc:"Whether it begins where the upload before it ended"`
		After      string                  `json:"after,omitempty" doc:"The id of the upload before it"`
		Doubts     []string                `json:"doubts" nullable:"false" doc:"What a person should see about the whole file"`
		Version    uint64                  `json:"version" doc:"Counts the changes"`
		UploadedAt instant                 `json:"uploadedAt,omitzero"`
		ImportedAt instant                 `json:"importedAt,omitzero"`
		UpdatedAt  instant                 `json:"updatedAt,omitzero"`
	}

	uploadCounts struct {
		New     int `json:"new"`
		Known   int `json:"known" doc:"There already"`
		Merged  int `json:"merged" doc:"Part of a transaction that was there before"`
		Deleted int `json:"deleted" doc:"Known, and deleted by the person"`
		Skipped int `json:"skipped" doc:"No entries of this account"`
		Refused int `json:"refused" doc:"Could not be read"`
	}

	receivedFile struct {
		Upload    upload         `json:"upload"`
		Questions []fileQuestion `json:"questions" nullable:"false" doc:"What a person must answer before the file can be read"`
		Earlier   *upload        `json:"earlier,omitempty" doc:"Another upload of the same file"`
	}

	fileQuestion struct {
		Topic    bankfile.Topic `json:"topic" example:"dateOrder"`
		Text     string         `json:"text" doc:"The question in words"`
		Choices  []fileChoice   `json:"choices" nullable:"false" doc:"The likelier first"`
		Examples []string       `json:"examples" nullable:"false" doc:"Cells that leave it open, with their lines"`
	}

	fileChoice struct {
		Value   string `json:"value" doc:"The answer" example:"day-month-year"`
		Meaning string `json:"meaning" doc:"What it means for the first example"`
	}

	answers struct {
		Answers map[string]string `json:"answers" doc:"By topic"`
	}

	uploadPreview struct {
		Upload upload     `json:"upload" doc:"With the counts and the digest"`
		Rows   []decision `json:"rows" nullable:"false" doc:"The first rows"`
	}

	decision struct {
		Line        int                `json:"line" doc:"In the file" example:"2"`
		Verdict     statements.Verdict `json:"verdict" enum:"new,known,merged,deleted,skipped,refused,warned"`
		ID          string             `json:"id,omitempty" doc:"Of the transaction that the row becomes, or became"`
		Why         string             `json:"why,omitempty" doc:"In words"`
		Date        bankDate           `json:"date,omitempty" example:"2025-08-15"`
		Amount      string             `json:"amount,omitempty" example:"-5.50"`
		Currency    money.Currency     `json:"currency,omitempty"`
		Text        string             `json:"text,omitempty"`
		Warnings    []string           `json:"warnings" nullable:"false"`
		Raw         string             `json:"raw,omitempty" doc:"The row as the file has it, where it could not be read"`
		Transaction *bankTransaction   `json:"transaction,omitempty" doc:"What a new row will be, before rules; in a preview"`
	}

	rowsDone struct {
		Done int `json:"done"`
		Of   int `json:"of"`
	}

	undoPlan struct {
		New      int         `json:"new" doc:"Rows that it brought, and that would go"`
		Merged   int         `json:"merged" doc:"Transactions that would be again what they were before"`
		Others   int         `json:"others" doc:"Rows that a later import has taken over; they stay"`
		EditedOf int         `json:"editedOf" doc:"How many rows a person has worked on since"`
		Edited   []editedRow `json:"edited" nullable:"false" doc:"The first of them"`
	}

	editedRow struct {
		ID       string         `json:"id"`
		Date     bankDate       `json:"date"`
		Amount   string         `json:"amount"`
		Currency money.Currency `json:"currency"`
		Merchant string         `json:"merchant"`
		What     []string       `json:"what" nullable:"false" doc:"The fields that are a person's"`
	}
)

func uploadForm(u statements.Upload) upload {
	out := upload{
		ID: u.ID, AccountID: u.AccountID, Status: u.Status, Why: u.Why, FileName: u.FileName,
		FileGone: u.FileGone, Size: u.Size, SHA256: u.Hash, Format: u.Format, Encoding: u.Encoding,
		Number: u.Number, Rows: u.Rows, Counts: uploadCounts(u.Counts), From: u.DateRange.Start,
		To: u.DateRange.End, Months: whole(u.Months), Digest: u.Digest, Currency: u.Currency,
		Opening: optionalDecimal(u.Opening, u.Currency),
		Closing: optionalDecimal(u.Closing, u.Currency), Checked: u.Checked, Agrees: u.Agrees,
		Continuity: u.Continuity, After: u.After, Doubts: whole(u.Doubts), Version: u.Version,
		UploadedAt: instant(u.UploadedAt), ImportedAt: instant(u.ImportedAt),
		UpdatedAt: instant(u.UpdatedAt),
	}
	// One that another version wrote, and this one cannot read, is not shown.
	if m, err := bankfile.ParseMapping([]byte(u.MappingText)); err == nil {
		form := fileMapping(m)
		out.Mapping = &form
	}
	return out
}

// optionalDecimal writes a decimal, or nothing where there is none.
func optionalDecimal(d *money.Decimal, currency money.Currency) string {
	if d == nil {
		return ""
	}
	return inDigits(*d, currency)
}

func receivedOf(r statements.Received) receivedFile {
	out := receivedFile{
		Upload: uploadForm(r.Upload),
		Questions: All(r.Questions, func(q bankfile.Question) fileQuestion {
			return fileQuestion{
				q.Topic, q.Text,
				All(q.Choices, func(c bankfile.Choice) fileChoice { return fileChoice(c) }),
				whole(q.Examples),
			}
		}),
	}
	if r.Earlier != nil {
		earlier := uploadForm(*r.Earlier)
		out.Earlier = &earlier
	}
	return out
}

func decisionOf(d statements.Decision) decision {
	out := decision{
		Line: d.Line, Verdict: d.Verdict, ID: d.ID, Why: d.Why, Date: d.Date,
		Amount: optionalDecimal(d.Amount, d.Currency), Currency: d.Currency, Text: d.Text,
		Warnings: whole(d.Warnings), Raw: d.Raw,
	}
	if d.Transaction != nil {
		t := bankTransactionOf(*d.Transaction)
		out.Transaction = &t
	}
	return out
}

func undoPlanOf(p statements.UndoPlan) undoPlan {
	return undoPlan{
		New: p.New, Merged: p.Merged, Others: p.Others, EditedOf: p.EditedOf,
		Edited: All(p.Edited, func(e statements.EditedRow) editedRow {
			return editedRow{
				e.ID, e.Date, inDigits(e.Amount, e.Currency), e.Currency, e.Merchant, whole(e.What),
			}
		}),
	}
}
