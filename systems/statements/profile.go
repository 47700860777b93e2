package statements

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Profile is the data of a user about themselves.
type Profile struct {
	UserID      string      `dynamodbav:"userId,keyonly"`
	Email       string      `dynamodbav:"email,omitempty"`
	Preferences Preferences `dynamodbav:"preferences"`
	CreatedAt   time.Time   `dynamodbav:"createdAt"`
	UpdatedAt   time.Time   `dynamodbav:"updatedAt"`
	Version     uint64      `dynamodbav:"version,omitempty"`
}

// Preferences are a user's choices.
type Preferences struct {
	// Currency is the home currency, the default currency of reports.
	Currency money.Currency `dynamodbav:"currency,omitempty"`
	// TimeZone is which day and month it is; an IANA name.
	TimeZone string `dynamodbav:"timezone,omitempty"`
}

// Account is an account at a bank.
type Account struct {
	UserID    string         `dynamodbav:"userId,keyonly"`
	ID        string         `dynamodbav:"accountId,keyonly"`
	Name      string         `dynamodbav:"name,required"`
	Currency  money.Currency `dynamodbav:"currency,required"`
	CreatedAt time.Time      `dynamodbav:"createdAt,seconds"`
	// Number is the account's number as its files write it, often an IBAN. Statements of other
	// numbers in a file are not taken in.
	Number string `dynamodbav:"number,omitempty"`
	// Mapping is how the files of the bank are read, as a person confirmed it.
	Mapping *bankfile.Mapping `dynamodbav:"-"`
	// MappingText is Mapping as it is stored, in JSON.
	MappingText string    `dynamodbav:"mapping,omitempty"`
	Closed      bool      `dynamodbav:"closed,omitempty"`
	UpdatedAt   time.Time `dynamodbav:"updatedAt"`
	Version     uint64    `dynamodbav:"version,omitempty"`
}

// Tag sorts transactions. Its text is unique for a user, regardless of the case of its letters.
type Tag struct {
	UserID    string    `dynamodbav:"userId,keyonly"`
	ID        string    `dynamodbav:"tagId"`
	Text      string    `dynamodbav:"text,required"`
	CreatedAt time.Time `dynamodbav:"createdAt"`
	Version   uint64    `dynamodbav:"version,omitempty"`
}

// Start is what an app needs when it starts.
type Start struct {
	Profile  *Profile // Nil where none was saved.
	Accounts []Account
	Tags     []Tag
}

// Start returns the profile, the accounts and the tags, in one query. What of them cannot be read
// is returned as singletable.UnreadableRows, together with the others.
func (p *Person) Start(ctx context.Context) (Start, error) {
	var start Start
	var bad singletable.UnreadableRows
	for row, err := range modelOf(p).start.All(ctx, p.store(), OfUser{p.id}) {
		if err = unread(&bad, err); err != nil {
			return Start{}, failed("start", err)
		}
		if row.Profile != nil {
			start.Profile = row.Profile
		}
		start.Accounts = append(start.Accounts, row.Accounts...)
		start.Tags = append(start.Tags, row.Tags...)
	}
	accounts := start.Accounts[:0]
	for _, a := range start.Accounts {
		mapped, err := a.mapped()
		if err != nil {
			bad = append(bad, modelOf(p).accounts.Unreadable(a, "mapping", err))
			continue
		}
		accounts = append(accounts, mapped)
	}
	start.Accounts = accounts
	return start, bad.Err()
}
