package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

type searchParams struct {
	BankDays
	OfAccounts
	PageParams
	Text       string         `query:"text" doc:"Words that must all be there, in any case, in the merchant, the bank's text, notes, references, annotations or tags. \"Words in quotes\" stand together, a word behind a - must not be there, OR wants one of two" example:"coffee -beans"`
	AmountFrom string         `query:"amountFrom" doc:"The least amount, included" example:"-50"`
	AmountTo   string         `query:"amountTo" doc:"The greatest amount, included" example:"-5"`
	Unsigned   bool           `query:"unsigned" doc:"Whether amounts are compared without their sign"`
	Currency   money.Currency `query:"currency" example:"NZD"  doc:"Only amounts in it"`
	Tags       []string       `query:"tag,explode" doc:"Ids of tags that a row, or its parts, have; there may be several"`
	AnyTag     bool           `query:"anyTag" doc:"Whether one of the tags suffices"`
	Untagged   bool           `query:"untagged" doc:"Only rows without any tag, or with a part that has none"`
	Merchant   string         `query:"merchant" doc:"The exact name"`
	Upload     string         `query:"upload" doc:"Only what this upload brought"`
	Source     string         `query:"source" enum:"bank,person" doc:"Only what a file brought, or what was typed in"`
	Pending    string         `query:"pending" enum:"true,false" doc:"Only those that are pending, or only those that are not"`
	Transfer   string         `query:"transfer" enum:"true,false" doc:"Only transfers between the person's own accounts, or only others"`
	Order      string         `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
}

// foundTransactions is a page of a search.
type foundTransactions struct {
	Items      []bankTransaction `json:"items" nullable:"false" doc:"The rows"`
	Next       string            `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
	Read       int               `json:"read" doc:"How many rows were looked at for the page"`
	Unreadable []unreadable      `json:"unreadable,omitempty" nullable:"false" doc:"The first of the stored rows that were met and cannot be read; absent if all can"`
}

func (a *API) registerSearch() {
	register(a.Router, operation{
		id: "search-bank-transactions", method: http.MethodGet, path: "/v1/me/transactions",
		tag: tagBankTransactions, scope: api.StatementsRead, personal: true,
		summary: "List or search the transactions of all accounts",
		description: "Of calendar days, both included, as one list in the order of their days, with " +
			"one cursor. What is given must all hold. A page may be short, or even empty, though " +
			"there is a next one: when much was read and little found.",
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrRangeTooLong, statements.ErrInvalidCursor,
			statements.ErrNoAccount,
		},
	}, a.search)
}

func (a *API) search(ctx context.Context, in *searchParams) (*answer[foundTransactions], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	var wrong problem.Fields
	amount := func(name, text string) *money.Decimal {
		if text == "" {
			return nil
		}
		return readDecimal(&wrong, name, decimal(text))
	}
	s := statements.Search{
		Accounts: in.Accounts, From: in.From, To: in.To, Text: in.Text,
		AmountFrom: amount("amountFrom", in.AmountFrom), AmountTo: amount("amountTo", in.AmountTo),
		Unsigned: in.Unsigned, Currency: in.Currency, TagIDs: in.Tags, AnyTag: in.AnyTag,
		Untagged: in.Untagged, Merchant: in.Merchant, UploadID: in.Upload,
		Source: statements.Source(in.Source), Pending: either(in.Pending),
		Transfer: either(in.Transfer), Latest: in.Order == newestFirst,
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return nil, err
	}
	found, err := p.Search(ctx, s, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	return &answer[foundTransactions]{Body: foundTransactions{
		All(found.Transactions, bankTransactionOf), found.Next, found.Read,
		Unreadable(found.Unreadable),
	}}, nil
}

// either reads a parameter that is true, false or left out.
func either(text string) *bool {
	if text == "" {
		return nil
	}
	yes := text == "true"
	return &yes
}
