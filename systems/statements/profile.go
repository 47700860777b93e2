package statements

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// Profile is what a user has told of themselves.
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
	// Currency is the home currency, in which reports are given unless they say otherwise.
	Currency money.Currency `dynamodbav:"currency,omitempty"`
	// TimeZone tells which day and month it is; an IANA name.
	TimeZone string `dynamodbav:"timezone,omitempty"`
}

// Account is an account at a bank.
type Account struct {
	UserID    string         `dynamodbav:"userId,keyonly"`
	ID        string         `dynamodbav:"accountId,keyonly"`
	Name      string         `dynamodbav:"name"`
	Currency  money.Currency `dynamodbav:"currency"`
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

// Tag sorts transactions. Its text is unique for a user, whatever the case of its letters.
type Tag struct {
	UserID    string    `dynamodbav:"userId,keyonly"`
	ID        string    `dynamodbav:"tagId"`
	Text      string    `dynamodbav:"text"`
	CreatedAt time.Time `dynamodbav:"createdAt"`
	Version   uint64    `dynamodbav:"version,omitempty"`
}

// Start is what an app needs when it starts.
type Start struct {
	Profile  *Profile // Nil where none was saved.
	Accounts []Account
	Tags     []Tag
}

// Start returns the profile, the accounts and the tags, in one query.
func (p *Person) Start(ctx context.Context) (Start, error) {
	start, _, err := modelOf(p).start.Collect(ctx, p.store(), OfUser{p.id})
	if err != nil {
		return Start{}, failed("start", err)
	}
	for i, a := range start.Accounts {
		if start.Accounts[i], err = a.mapped(); err != nil {
			return Start{}, err
		}
	}
	return start, nil
}
