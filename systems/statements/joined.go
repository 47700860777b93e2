package statements

import (
	"reflect"
	"slices"
)

// joinedRow returns a transaction that was pending or typed in, or that the bank corrects, with
// what the bank has now. What a person wrote stays: the fields they set, and of a row that they
// typed in all that they did, also once a file has it.
func joinedRow(t, bank *Transaction, typed bool) *Transaction {
	after := t.Clone()
	if !typed && !t.IsEdited(FieldDate) {
		after.Date = bank.Date
	}
	if !t.IsEdited(FieldAmount) {
		after.Amount = bank.Amount
	}
	if bank.Merchant != "" && !t.IsEdited(FieldMerchant) && (!typed || t.Merchant == "") {
		after.Merchant = bank.Merchant
		delete(after.Ruled, FieldMerchant) // The rules look at the row again.
	}
	if bank.Text != "" {
		after.Text = bank.Text
	}
	after.ValueDate, after.AuthorisedDate = bank.ValueDate, bank.AuthorisedDate
	after.Counterparty, after.Reference = bank.Counterparty, bank.Reference
	after.Category, after.BankID = bank.Category, bank.BankID
	after.Details = bank.Details
	after.Foreign, after.ForeignCurrency = bank.Foreign, bank.ForeignCurrency
	after.Pending, after.Reversal = bank.Pending, bank.Reversal
	after.Source, after.UploadID, after.Line = FromBank, bank.UploadID, bank.Line
	// The tags of a divided row are those of its parts, so a row that has tags is not divided.
	if len(after.Splits) == 0 && len(after.TagIDs) == 0 && !after.IsEdited(FieldSplits) &&
		after.Amount.Equal(bank.Amount) {
		after.Splits = bank.Splits
	}
	fitSplits(after, t)
	return after
}

// fitSplits keeps the parts of a transaction adding up to its amount when that changes: what is
// more or less becomes a part of its own, or of the last one.
func fitSplits(t, before *Transaction) {
	if len(t.Splits) == 0 || t.Amount.Equal(before.Amount) {
		return
	}
	off, err := t.Amount.Sub(before.Amount)
	if err != nil {
		t.Splits = nil
		return
	}
	if len(t.Splits) < SplitsMax {
		t.Splits = append(t.Splits, Split{Amount: off, Notes: "The difference when it was booked."})
		return
	}
	last := &t.Splits[len(t.Splits)-1]
	if last.Amount, err = last.Amount.Add(off); err != nil {
		t.Splits = nil
	}
}

// touched names what a person or a program has made of a row since a file brought it.
func touched(t *Transaction) []string {
	var what []string
	add := func(field string, has bool) {
		if has && !slices.Contains(what, field) {
			what = append(what, field)
		}
	}
	for _, field := range t.Edited {
		add(field, true)
	}
	_, noted := t.Ruled[FieldNotes]
	add(FieldNotes, t.Notes != "" && !noted)
	_, tagged := t.Ruled[FieldTags]
	add(FieldTags, len(t.TagIDs) > 0 && !tagged)
	add("annotations", len(t.Annotations) > 0)
	return what
}

// touchedSince names what a person has made of a row since it became part of another.
func touchedSince(t, before *Transaction) []string {
	var what []string
	old := touched(before)
	for _, field := range touched(t) {
		switch field {
		case "annotations", FieldNotes:
			// They always stay, so undoing loses none of them.
		case FieldSplits:
			if !slices.Contains(old, field) || dividedAnew(t, before) {
				what = append(what, field)
			}
		default:
			if !slices.Contains(old, field) {
				what = append(what, field)
			}
		}
	}
	return what
}

// dividedAnew reports that the parts of a row which got another amount when it became part of
// another were made other ones since, so that they do not fit the amount that it had before.
func dividedAnew(t, before *Transaction) bool {
	if t.Amount.Equal(before.Amount) {
		return false // Its parts still fit it, so undoing loses none of them.
	}
	fit := before.Clone()
	fit.Amount = t.Amount
	fitSplits(fit, before)
	return !slices.EqualFunc(t.Splits, fit.Splits, func(a, b Split) bool {
		return a.Amount.Equal(b.Amount) && a.Notes == b.Notes && slices.Equal(a.TagIDs, b.TagIDs)
	})
}

// bare returns a transaction without what becoming part of another never changes, so that an entry
// stays small.
func bare(t *Transaction) *Transaction {
	b := *t
	b.Annotations = nil
	return &b
}

// parted returns a transaction as it was before another row became part of it. What a person has
// done since stays.
func parted(t, before *Transaction) *Transaction {
	after := *before
	after.UserID, after.AccountID, after.ID = t.UserID, t.AccountID, t.ID
	after.Annotations, after.Edited = t.Annotations, t.Edited
	after.CreatedAt, after.Version = t.CreatedAt, t.Version
	if t.IsEdited(FieldDate) {
		after.Date = t.Date
	}
	if t.IsEdited(FieldAmount) {
		after.Amount = t.Amount
	}
	if t.IsEdited(FieldMerchant) {
		after.Merchant = t.Merchant
	}
	if t.IsEdited(FieldTransfer) {
		after.Transfer = t.Transfer
	}
	if t.IsEdited(FieldNotes) || t.Ruled[FieldNotes] == before.Ruled[FieldNotes] {
		after.Notes = t.Notes
	}
	switch {
	case len(t.Splits) == 0: // What is whole now may have tags.
		after.Splits = nil
		// Those that no rule has set since are as they are now: they may have been renamed.
		if t.IsEdited(FieldTags) ||
			reflect.DeepEqual(t.Ruled[FieldTags], before.Ruled[FieldTags]) {
			after.TagIDs, after.Tags = t.TagIDs, t.Tags
		}
	case t.IsEdited(FieldSplits) && t.Amount.Equal(after.Amount):
		after.Splits, after.TagIDs, after.Tags = t.Splits, nil, nil
	}
	return &after
}
