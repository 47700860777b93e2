package statements

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Bounds of one page of a search, so that any search ends in time: after so many rows, or
// questions to the store, the page is given as far as it is.
const (
	searchRowsMax  = 20_000
	searchReadsMax = 1_000
	// searchChunk is how many rows are read at once where many of them may not be wanted.
	searchChunk = 500
)

// Bounds of what a search may ask for.
const (
	// SearchTextMax is the maximum length of the words searched for, in bytes.
	SearchTextMax = 500
	// SearchTermsMax is how many words they may be: each is looked for in every row.
	SearchTermsMax = 32
)

// Search asks for transactions of several accounts. What is left empty does not matter; all that
// is set must hold.
type Search struct {
	// Accounts are the accounts to look at; none means all.
	Accounts []string
	// From and To are days, both included, at most MonthsMax months apart.
	From, To Date
	// Text is words that are found, in any case, in the merchant, the bank's text, notes,
	// references, the other side's account, categories, annotations or tags. All words must be
	// there. "Words in quotes" must be adjacent, a word behind a - must not be there, and OR
	// between two words wants one of them.
	Text string
	// AmountFrom and AmountTo bound the amount, both included. Unsigned compares it without sign.
	AmountFrom, AmountTo *money.Decimal
	Unsigned             bool
	Currency             money.Currency
	// TagIDs are tags that a row, or its parts, have: all of them, or, with AnyTag, one.
	TagIDs []string
	AnyTag bool
	// Untagged wants rows without any tag, or with a part that has none.
	Untagged bool
	Merchant string // The exact name.
	UploadID string
	Source   Source
	Pending  *bool
	Transfer *bool
	// Latest gives the latest first.
	Latest bool
}

// Found is a page of a search.
type Found struct {
	Transactions []Transaction
	// Next is the cursor of the next page; empty at the end. A page may be short though there is a
	// next one, when much was read and little found.
	Next string
	// Read is how many rows were looked at for the page.
	Read int
	// Unreadable are the first of the rows that were looked at and cannot be read.
	Unreadable []*singletable.UnreadableError
}

// Search returns a page of what is found in several accounts, by date, id and account. Without any
// condition it lists their transactions as one list. Size is 1 to PageMax; the cursor is the Next
// of the page before, of the same search. The error is ErrRangeTooLong, ErrInvalid, ErrNoAccount
// or ErrInvalidCursor.
func (p *Person) Search(ctx context.Context, s Search, size int, cursor string) (Found, error) {
	if err := checkRange(s.From, s.To); err != nil {
		return Found{}, err
	}
	words, err := s.check(size)
	if err != nil {
		return Found{}, err
	}
	after, err := p.searchFrom(s, cursor)
	if err != nil {
		return Found{}, err
	}
	accounts, err := p.accountsNamed(ctx, s.Accounts)
	if err != nil {
		return Found{}, err
	}
	j := &joint{p: p, from: s.From, to: s.To, latest: s.Latest, chunk: min(size+1, searchChunk)}
	for _, a := range accounts {
		j.accounts = append(j.accounts, a.ID)
	}
	if s.narrows() || len(words) > 0 {
		j.chunk = chunkOf(len(accounts))
	}
	if j.skip, err = p.skipper(ctx, s, j, after); err != nil {
		return Found{}, err
	}
	var found Found
	last := after
	for at, err := range j.steps(ctx, after) {
		if err != nil {
			return Found{}, err
		}
		if at.row != nil {
			found.Read++
			if s.matches(at.row, words) {
				if len(found.Transactions) == size {
					found.Next = p.searchCursor(s, last)
					break
				}
				found.Transactions = append(found.Transactions, *at.row)
			}
		}
		last = at.at
		if found.Read >= searchRowsMax || j.reads >= searchReadsMax {
			found.Next = p.searchCursor(s, last)
			break
		}
	}
	found.Unreadable = j.unreadable()
	return found, nil
}

// check refuses what cannot be searched for and returns the words.
func (s *Search) check(size int) (words, error) {
	var wrong problem.Fields
	if size < 1 || size > PageMax {
		wrong.Addf("limit", "is %d, outside 1 to %d", size, PageMax)
	}
	if s.AmountFrom != nil && s.AmountTo != nil && s.AmountFrom.Cmp(*s.AmountTo) > 0 {
		wrong.Add("amountTo", "is less than amountFrom")
	}
	if len(s.TagIDs) > TagsOfOneMax {
		wrong.Addf("tag", "has %d elements, the limit is %d", len(s.TagIDs), TagsOfOneMax)
	}
	if s.Untagged && len(s.TagIDs) > 0 {
		wrong.Add("untagged", "cannot be asked for together with tags")
	}
	w, why := parseWords(s.Text)
	if why != "" {
		wrong.Add("text", why)
	}
	return w, wrong.Err(ErrInvalid)
}

// narrows reports whether there is any condition other than words.
func (s *Search) narrows() bool {
	return s.AmountFrom != nil || s.AmountTo != nil || s.Currency != "" || len(s.TagIDs) > 0 ||
		s.Untagged || s.Merchant != "" || s.UploadID != "" || s.Source != "" ||
		s.Pending != nil || s.Transfer != nil
}

// matches reports whether a row is what is searched for.
func (s *Search) matches(t *Transaction, w words) bool {
	amount := t.Amount
	if s.Unsigned {
		amount = amount.Abs()
	}
	switch {
	case s.AmountFrom != nil && amount.Cmp(*s.AmountFrom) < 0,
		s.AmountTo != nil && amount.Cmp(*s.AmountTo) > 0,
		s.Currency != "" && s.Currency != t.Currency,
		s.Merchant != "" && s.Merchant != t.Merchant,
		s.UploadID != "" && s.UploadID != t.UploadID,
		s.Source != "" && s.Source != t.Source,
		s.Pending != nil && *s.Pending != t.Pending,
		s.Transfer != nil && *s.Transfer != t.Transfer,
		s.Untagged && !untagged(t):
		return false
	}
	return s.tagged(t) && w.match(t)
}

// tagged reports whether a row has the tags that are searched for.
func (s *Search) tagged(t *Transaction) bool {
	if len(s.TagIDs) == 0 {
		return true
	}
	has := func(id string) bool {
		if len(t.Splits) == 0 {
			return slices.Contains(t.TagIDs, id)
		}
		return slices.ContainsFunc(t.Splits, func(part Split) bool {
			return slices.Contains(part.TagIDs, id)
		})
	}
	if s.AnyTag {
		return slices.ContainsFunc(s.TagIDs, has)
	}
	return !slices.ContainsFunc(s.TagIDs, func(id string) bool { return !has(id) })
}

func untagged(t *Transaction) bool {
	if len(t.Splits) == 0 {
		return len(t.TagIDs) == 0
	}
	return slices.ContainsFunc(t.Splits, func(part Split) bool { return len(part.TagIDs) == 0 })
}

// skipper returns which months need not be read, by their sheets. Months without any sheet are
// read: another program may have written them. Its rows in other months are found by what sheets
// know only once they count there, see CheckTotals.
func (p *Person) skipper(
	ctx context.Context, s Search, j *joint, after point,
) (func(account, month string) bool, error) {
	if len(s.TagIDs) == 0 && !s.Untagged && s.Merchant == "" && s.Currency == "" {
		return nil, nil
	}
	from, to := s.From, s.To
	if after.date != "" && !s.Latest {
		from = max(from, after.date)
	}
	if after.date != "" && s.Latest {
		to = min(to, after.date)
	}
	if from > to {
		return nil, nil
	}
	sheets, err := p.months().sheetsOfAll(ctx, j.accounts, from, to)
	if err != nil {
		return nil, err
	}
	type place struct{ account, month string }
	may := map[place]bool{}
	for _, of := range sheets {
		for i := range of {
			at := place{of[i].AccountID, book.MonthOf(of[i].Month)}
			may[at] = may[at] || s.mayBeIn(&of[i])
		}
	}
	return func(account, month string) bool {
		wanted, known := may[place{account, month}]
		return known && !wanted
	}, nil
}

// mayBeIn reports whether a month may have rows that are searched for. Tags and merchants of
// transfers are not in its sheet.
func (s *Search) mayBeIn(sheet *Sheet) bool {
	if s.Currency != "" && s.Currency != sheet.Currency || sheet.All.Count == 0 {
		return false
	}
	if sheet.Transfers.Count > 0 && (s.Transfer == nil || *s.Transfer) {
		return true
	}
	if s.Untagged && sheet.Untagged.Count == 0 {
		return false
	}
	if _, ok := sheet.Merchants[s.Merchant]; s.Merchant != "" && !ok && sheet.Rest.Count == 0 {
		return false
	}
	if len(s.TagIDs) == 0 {
		return true
	}
	has := func(id string) bool { return sheet.Tags[id].Count > 0 }
	if s.AnyTag {
		return slices.ContainsFunc(s.TagIDs, has)
	}
	return !slices.ContainsFunc(s.TagIDs, func(id string) bool { return !has(id) })
}

// searchPurpose is what cursors of searches are signed for.
const searchPurpose = "statements-search"

// searchCursor names a point for the next page. It is bound to the user and the search.
func (p *Person) searchCursor(s Search, at point) string {
	return p.store().Seal(searchPurpose, strings.Join([]string{
		p.searchTag(s), string(at.date), at.account, at.id}, "\x00"))
}

// searchFrom returns the point that a cursor names.
func (p *Person) searchFrom(s Search, cursor string) (point, error) {
	if cursor == "" {
		return point{}, nil
	}
	text, ok := p.store().Unseal(searchPurpose, cursor)
	parts := strings.SplitN(text, "\x00", 4)
	if !ok || len(parts) < 4 || parts[0] != p.searchTag(s) || !book.ValidDate(Date(parts[1])) {
		return point{}, ErrInvalidCursor
	}
	return point{date: Date(parts[1]), account: parts[2], id: parts[3]}, nil
}

// searchTag distinguishes the searches of a user.
func (p *Person) searchTag(s Search) string {
	text, err := json.Marshal(s)
	if err != nil {
		text = fmt.Append(nil, s) // No value of a search has no JSON.
	}
	sum := sha256.Sum256(append([]byte(p.id+"\x00"), text...))
	return book.IDEncoding.EncodeToString(sum[:book.IDHashBytes])
}
