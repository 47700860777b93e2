package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/singletable"
)

// instantLayout is how instants are written: UTC, of fixed width, as in the store.
const instantLayout = "2006-01-02T15:04:05.000Z"

// instant is a time in an answer.
type instant time.Time

// MarshalJSON writes the instant as a string.
func (i instant) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(i).UTC().Format(instantLayout))
}

// IsZero reports whether the member is left out of an answer.
func (i instant) IsZero() bool { return time.Time(i).IsZero() }

// Schema describes to the framework what MarshalJSON writes.
func (i instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-02T10:30:00.123Z"},
	}
}

// newestFirst is the value of the parameter order that returns the newest rows first.
const newestFirst = "newest"

// PageParams are the parameters of every list.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of rows"`
	Cursor string `query:"cursor" doc:"The member next of the page before; leave it out for the first page"`
}

// list is a page of rows, and unreadable a stored item that cannot be understood.
type (
	list[T any] = api.List[T]
	unreadable  = api.UnreadableItem
)

func unreadableOf(bad *singletable.UnreadableError) unreadable {
	return unreadable{Entity: bad.Entity, Table: bad.Table, Key: bad.KeyText(),
		Attribute: bad.Attribute, Reason: bad.Reason.Error()}
}

// Unreadable returns the items that cannot be read in the form of the API; nil, which is not sent,
// if there is none.
func Unreadable(bad []*singletable.UnreadableError) []unreadable {
	var out []unreadable
	for _, b := range bad {
		out = append(out, unreadableOf(b))
	}
	return out
}

// unreadablesOf is Unreadable of a list, which may be nil.
func unreadablesOf(list *singletable.UnreadableList) []unreadable {
	if list == nil {
		return nil
	}
	return Unreadable(list.Items)
}

// optionalText is the number of an amount, or "" of one that is absent.
func optionalText(a money.Amount) string {
	if a.Currency() == "" {
		return ""
	}
	return a.Text()
}

// answer is an answer with nothing but a body.
type answer[T any] struct {
	Body T
}

// created is the answer to a request that may have made something.
type created[T any] struct {
	Status   int
	Location string `header:"Location"`
	Body     T
}

// repeatable is the answer to a request that creates something once, however often it is sent.
type repeatable[T any] struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" doc:"true if an earlier, equal request created it"`
	Body     T
}

func newRepeatable[T any](replayed bool, path string, body T) *repeatable[T] {
	status, mark := repeated(replayed)
	return &repeatable[T]{Status: status, Location: path, Replayed: mark, Body: body}
}

// repeated returns the status of an answer to a request that creates something, and its
// Idempotent-Replayed: 201 without one, or 200 and "true" if an earlier, equal request created it.
func repeated(replayed bool) (status int, mark string) {
	if replayed {
		return http.StatusOK, "true"
	}
	return http.StatusCreated, ""
}

// convert returns a page with its items in another form.
func convert[T, U any](page singletable.Page[T], form func(T) U) *answer[list[U]] {
	return &answer[list[U]]{Body: List(page, form)}
}

// List returns a page with its rows in the form of the API.
func List[T, U any](page singletable.Page[T], form func(T) U) api.List[U] {
	return api.List[U]{
		Items: All(page.Items, form), Next: page.Next, Unreadable: Unreadable(page.Unreadable),
	}
}

// All returns items in another form. It is never nil, because a list in an answer is [], not null.
func All[T, U any](items []T, form func(T) U) []U {
	made := make([]U, 0, len(items))
	for _, item := range items {
		made = append(made, form(item))
	}
	return made
}

// readAmount reads an amount of a body. Its faults are collected.
func readAmount(
	wrong *problem.Fields, field string, text payload.Decimal, currency money.Currency,
) money.Amount {
	if text == "" {
		wrong.Add(field, "is missing")
		return money.Amount{}
	}
	units, err := money.ParseDecimal(string(text))
	if limit := (*money.LimitError)(nil); errors.As(err, &limit) {
		wrong.Add(field, payload.FaultDigits)
		return money.Amount{}
	}
	if err != nil {
		wrong.Add(field, `must be a plain decimal such as "5.50": `+err.Error())
		return money.Amount{}
	}
	amount, err := money.New(units, currency)
	if err != nil {
		return money.Amount{} // The currency has been told of by its own check.
	}
	return amount
}

// CheckCurrency collects what is wrong with a currency.
func CheckCurrency(wrong *problem.Fields, field string, currency money.Currency) {
	switch {
	case currency == "":
		wrong.Add(field, "is missing")
	case !currency.Known():
		_, err := money.ParseCurrency(string(currency))
		if unit := (*money.CurrencyError)(nil); errors.As(err, &unit) && unit.Unit() {
			wrong.Addf(field, "must be a currency: %v", err)
			return
		}
		wrong.Addf(field, "must be a code of ISO 4217: %v", err)
	}
}

// Conditional is the header of reads that may be answered by "as you know it".
type Conditional struct {
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of the answer that the caller has"`
}

// tagged is an answer with an ETag.
type tagged[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"Changes whenever the answer does"`
	Body   T
}
