package statements

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// NewTransaction is a transaction that a person types in.
type NewTransaction struct {
	AccountID string
	// Key names the request, so that a repeat is harmless at any time: at most NameMax bytes, once
	// an account. Empty means that a repeat makes a second transaction.
	Key      string
	Date     Date
	Amount   money.Decimal  // Money out is negative.
	Currency money.Currency // Empty means the account's.
	Merchant string
	Notes    string
	TagIDs   []string
	Transfer bool
	Splits   []NewSplit
}

// AddTransaction adds a transaction that a person types in. The rules fill in what the person left
// out. A repeat with the same key and contents returns the transaction as it is now, and made is
// false. The error is ErrInvalid, ErrNoAccount, ErrNoTag, ErrNoTransaction for a repeat after the
// transaction was deleted, or ErrKeyUsed for a key of another request.
func (p *Person) AddTransaction(
	ctx context.Context, n NewTransaction,
) (t Transaction, made bool, err error) {
	fields := n.fields()
	if fields, err = n.checked(fields); err != nil {
		return Transaction{}, false, err
	}
	account, err := p.Account(ctx, n.AccountID)
	if err != nil {
		return Transaction{}, false, err
	}
	if n.Currency == "" {
		n.Currency = account.Currency
	}
	for range editsMax {
		if t, found, err := p.rows().addedBefore(ctx, n); err != nil || found {
			return t, false, err
		}
		rules, err := p.rules().ruleset(ctx)
		if err != nil {
			return Transaction{}, false, err
		}
		t := Transaction{
			UserID:    p.id,
			AccountID: n.AccountID,
			ID:        book.RandomID(n.Date),
			Date:      n.Date,
			Amount:    n.Amount,
			Currency:  n.Currency,
			Source:    FromPerson,
			Text:      *fields.Merchant,
			CreatedAt: p.now(),
		}
		if err := fields.apply(&t, nil); err != nil {
			return Transaction{}, false, err
		}
		rules.apply(&t)
		if err := p.tagger().freshTags(ctx, &t, fields.asked()); err != nil {
			return Transaction{}, false, err
		}
		err = p.rows().write(ctx, nil, []change{{after: &t, entryAfter: entryOf(&t)}},
			func(tx *singletable.Tx) {
				if n.Key != "" {
					modelOf(p).entries.CreateTx(tx, n.claim(&t))
				}
			})
		if err == nil {
			return t, true, nil
		}
		if !errors.Is(err, errRaced) {
			return Transaction{}, false, err
		}
	}
	return Transaction{}, false, ErrContended.With("items", "the transactions of a day")
}

// fields are those that the person sets, as a change of a transaction that has none of them.
func (n *NewTransaction) fields() TransactionChange {
	return TransactionChange{Merchant: &n.Merchant, Notes: &n.Notes, TagIDs: &n.TagIDs,
		Transfer: &n.Transfer, Splits: &n.Splits}
}

func (n *NewTransaction) checked(fields TransactionChange) (TransactionChange, error) {
	var wrong problem.Fields
	checkText(&wrong, "key", n.Key, 0, NameMax)
	checkDate(&wrong, "date", n.Date)
	checkAmount(&wrong, "amount", n.Amount)
	if n.Currency != "" && !n.Currency.Known() {
		wrong.Addf("currency", "%q is no currency of ISO 4217", n.Currency)
	}
	fields, err := fields.checked()
	var invalid *problem.Error
	if errors.As(err, &invalid) {
		wrong = append(wrong, invalid.Fields...)
	}
	return fields, wrong.Err(ErrInvalid)
}

// claim is the entry that remembers a key. It is where entries of other programs are, so that a
// repeat finds it even if the date was changed, and leads to the transaction as merged rows do.
func (n *NewTransaction) claim(t *Transaction) Entry {
	return Entry{UserID: t.UserID, AccountID: t.AccountID, Month: book.MonthNone, ID: n.claimID(),
		State: Merged, Of: t.ID, Date: n.Date, Amount: n.Amount, Currency: n.Currency,
		Source: FromPerson, Content: manualDigests.Of(n), Version: 1}
}

func (n *NewTransaction) claimID() string { return "key-" + book.KeyHash("person\x00"+n.Key) }

// manualDigests are the versions of the digest by which a repeated request is recognised.
var manualDigests = singletable.Digests[*NewTransaction]{
	{Version: "", Of: manualDigestA},
	{Version: manualDigestB, Of: func(n *NewTransaction) (digest, beyond string) {
		return singletable.MemberDigest(
			[]byte(n.Date),
			[]byte(n.Amount.String()),
			[]byte(
				n.Currency,
			),
			[]byte(n.Merchant),
			[]byte(n.Notes),
			jsonOf(append([]string{}, n.TagIDs...)),
			strconv.AppendBool(nil, n.Transfer),
			jsonOf(append([]NewSplit{}, n.Splits...)),
		), ""
	}},
}

// manualDigestB is the first version that names the member that differs.
const manualDigestB = "b."

// manualMembers are the members of version b, in its order.
var manualMembers = [...]string{
	"date", "amount", "currency", "merchant", "notes", "tagIds", "transfer", "splits",
}

// manualDigestA is a hash of the request in JSON.
func manualDigestA(n *NewTransaction) (digest, beyond string) {
	return book.KeyHash(string(jsonOf(n))), ""
}

// jsonOf writes texts and decimals, which always have a form in JSON.
func jsonOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("statements: a request has no form in JSON: " + err.Error())
	}
	return text
}

// difference names the first member in which a request is not the one that a claim is of, or
// returns "".
func (n *NewTransaction) difference(claim *Entry) string {
	if strings.HasPrefix(claim.Content, manualDigestB) {
		member, _ := manualDigests.Difference(claim.Content, n, manualMembers[:]...)
		return member
	}
	digest, _, _ := manualDigests.Like(claim.Content, n)
	switch {
	case digest == claim.Content:
		return ""
	case n.Date != claim.Date:
		return "date"
	case !n.Amount.Equal(claim.Amount):
		return "amount"
	case n.Currency != claim.Currency:
		return "currency"
	}
	return "body"
}

// addedBefore returns the transaction of an earlier request with the same key.
func (p rowStore) addedBefore(
	ctx context.Context, n NewTransaction,
) (Transaction, bool, error) {
	if n.Key == "" {
		return Transaction{}, false, nil
	}
	claim, found, err := p.entry(ctx, n.AccountID, n.claimID())
	if err != nil || !found {
		return Transaction{}, false, err
	}
	if member := n.difference(&claim); member != "" {
		return Transaction{}, false, keyUsed(n.Key, member)
	}
	t, _, err := p.locate(ctx, At{AccountID: n.AccountID, ID: claim.Of})
	return t, err == nil, err
}
