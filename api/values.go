package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/when"
)

// Instant is a moment in UTC. The zero value is none.
type Instant struct {
	time.Time
	given bool // It came in a request, although it may be the first instant of the year 1.
}

// At returns a time as an Instant. The zero time is none.
func At(t time.Time) Instant { return Instant{Time: t} }

// instantLayout has a fixed width, as in the store.
const instantLayout = "2006-01-02T15:04:05.000Z"

// IsZero reports whether there is no instant. Such a member is left out of JSON.
func (i Instant) IsZero() bool { return !i.given && i.Time.IsZero() }

// Bound returns the time as the bound of a range, or nil, which is an open one, if there is no
// instant.
func (i Instant) Bound() *time.Time {
	if i.IsZero() {
		return nil
	}
	t := i.UTC()
	return &t
}

// Equal reports whether both are the same moment.
func (i Instant) Equal(other Instant) bool {
	return i.IsZero() == other.IsZero() && i.Time.Equal(other.Time)
}

// String returns the instant as it is in JSON, or "" for none.
func (i Instant) String() string {
	t := i.UTC()
	switch {
	case i.IsZero():
		return ""
	case t.Nanosecond()%int(time.Millisecond) != 0:
		return t.Format(time.RFC3339Nano)
	}
	return t.Format(instantLayout)
}

// MarshalText returns the instant as text.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// MarshalJSON returns the instant as a JSON string.
func (i Instant) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

// UnmarshalText parses an instant in the form of RFC 3339. Its error completes a sentence that
// begins with the name of the field.
func (i *Instant) UnmarshalText(text []byte) error {
	t, err := when.Instant(string(text))
	if err != nil {
		return fmt.Errorf("must be an instant such as 2026-01-31T09:00:00Z: it %w", err)
	}
	*i = Instant{t, true}
	return nil
}

// UnmarshalJSON parses an instant in a JSON string; null is none.
func (i *Instant) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil || text == nil {
		return err
	}
	return i.UnmarshalText([]byte(*text))
}

// Date is a calendar day such as 2026-01-31. It may be empty where a day is optional.
type Date string

// Amount is an amount of money as text, with the fraction digits of its currency, which is another
// member. It may be empty where an amount is optional.
type Amount string

// AmountOf returns the text of an amount, or "" for the zero value of [money.Amount].
func AmountOf(a money.Amount) Amount {
	if a.Currency() == "" {
		return ""
	}
	return Amount(a.Text())
}

// In returns the amount in a currency.
func (a Amount) In(currency money.Currency) (money.Amount, error) {
	return money.Parse(string(a), currency)
}

// UnmarshalText checks that an amount is a number. Its error completes a sentence that begins with
// the name of the field.
func (a *Amount) UnmarshalText(text []byte) error {
	if len(text) > 0 {
		if _, err := money.ParseDecimal(string(text)); err != nil {
			return fmt.Errorf(`must be a plain decimal such as "5.50": %w`, err)
		}
	}
	*a = Amount(text)
	return nil
}

// Page selects a page of a list.
type Page struct {
	// Limit is the maximum number of rows, up to 1000; 0 means 100.
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of rows"`
	// Cursor is the Next of the previous page, or empty for the first page.
	Cursor string `query:"cursor" doc:"The member next of the page before; leave it out for the first page"`
}

// List is a page of rows.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false" doc:"The rows"`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
	// Unreadable are rows too, but only their keys are known.
	Unreadable []UnreadableItem `json:"unreadable,omitempty" nullable:"false" doc:"The stored items among the rows of this page that cannot be read; absent if all can"`
}

// Rows returns the rows of a list of one page, with err or an error of type [UnreadableItems] for
// those that cannot be read.
func (l List[T]) Rows(err error) ([]T, error) {
	if err == nil && len(l.Unreadable) > 0 {
		err = UnreadableItems(l.Unreadable)
	}
	return l.Items, err
}

// UnreadableItem is a stored item that cannot be understood. It is also the error that iterators
// yield for it between readable rows.
type UnreadableItem struct {
	Entity    string `json:"entity" doc:"What the item is" example:"Transaction"`
	Table     string `json:"table" example:"FinancialTransactions"`
	Key       string `json:"key" doc:"The item's primary key" example:"{\"PK\":{\"S\":\"TXN#7\"},\"SK\":{\"S\":\"METADATA\"}}"`
	Attribute string `json:"attribute" doc:"The attribute that cannot be understood" example:"Amount"`
	Reason    string `json:"reason" doc:"Why it cannot" example:"is absent"`
}

// Error names the item, the attribute and the reason.
func (u *UnreadableItem) Error() string {
	return fmt.Sprintf("%s %s in table %s cannot be read: attribute %s %s", u.Entity, u.Key,
		u.Table, u.Attribute, u.Reason)
}

// UnreadableItems are the unreadable items of a list, as the error that is returned together with
// the readable rows.
type UnreadableItems []UnreadableItem

// Error names the items.
func (u UnreadableItems) Error() string {
	lines := make([]string, len(u))
	for i := range u {
		lines[i] = u[i].Error()
	}
	return strings.Join(lines, "; ")
}

// Guarded is embedded in requests that change something only if it is as the caller has seen it.
type Guarded struct {
	// IfMatch is the ETag of what the caller has seen, in quotes. Empty means any state.
	IfMatch string `header:"If-Match" doc:"ETags of the resource (RFC 9110, 13.1.1): the change is made only if it still has one of them. * demands only that it exists" example:"\"1\""`
}

// Settle sets the header to the ETag that the resource has now, which is one of those that the
// caller accepts, or to "" if the caller accepts any.
func (g *Guarded) Settle(etag string) { g.IfMatch = etag }

// Tag returns the ETag without its quotes, or "" if any state is accepted.
func (g Guarded) Tag() string { return strings.Trim(g.IfMatch, `"`) }

// Problem is a problem document (RFC 9457).
type Problem struct {
	Type     string            `json:"type" doc:"Where the problem is described" example:"/docs#insufficient_funds"`
	Title    string            `json:"title" doc:"The code in words" example:"Insufficient funds"`
	Status   int               `json:"status" doc:"The HTTP status" example:"422"`
	Detail   string            `json:"detail" doc:"What is wrong, in a sentence" example:"Account alice has 3.00 USD to spend, but 5.50 USD is needed"`
	Instance string            `json:"instance,omitempty" doc:"The id of the request, by which it is found in the log" example:"4DPQ2XKCR3VJ7M5T"`
	Kind     problem.Kind      `json:"kind" doc:"What sort of trouble it is" example:"refused"`
	Code     problem.Code      `json:"code" doc:"Which problem it is, for programs; codes are only ever added" example:"insufficient_funds"`
	Hint     string            `json:"hint,omitempty" doc:"What to try next" example:"Deposit money first, or raise the account's overdraft limit"`
	Fields   []ProblemField    `json:"fields,omitempty" nullable:"false" doc:"The wrong fields of the request"`
	Details  map[string]string `json:"details,omitempty" doc:"The values in the detail by name, for programs"`
}

// ProblemField is one wrong field.
type ProblemField struct {
	Name  string     `json:"name" doc:"The path of the field" example:"legs[1].amount"`
	Wrong string     `json:"wrong" doc:"Completes a sentence that begins with the name" example:"must be more than zero"`
	In    problem.In `json:"in,omitempty" enum:"body,query,path,header" doc:"The part of the request that has the field" example:"body"`
}

// Line is one line of the answer of a [StreamOp]. One member is set.
type Line[P, R any] struct {
	Progress *P       `json:"progress,omitempty"`
	Report   *R       `json:"report,omitempty" doc:"What came of it, on the last line"`
	Problem  *Problem `json:"problem,omitempty" doc:"What ended the work, on the last line"`
}
