package api

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/api/apikey"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// description stands at the head of the OpenAPI document.
const description = `Exchequer keeps double-entry books and moves money exactly once.

Amounts are strings beside a currency (ISO 4217), because many programs round JSON numbers. Instants
are UTC with milliseconds. Lists come in pages: send the member next as the parameter cursor. Members
and parameters that are not described here are refused.

What goes wrong is answered by a problem document (RFC 9457). Branch on its code.

Every answer carries X-Request-Id, and in Exchequer-Calls, Exchequer-Read-Units and
Exchequer-Write-Units what it took of the store, in DynamoDB's capacity units.`

// tags are the chapters of the description.
var tags = []*huma.Tag{
	{Name: "Transactions", Description: "Movements of money, and their legs"},
	{Name: "Accounts", Description: "Balances of users, their legs and statements"},
	{Name: "Merchants", Description: "Who is paid"},
	{Name: "Reconciliation", Description: "Whether the books are right"},
	{Name: "Tables", Description: "The tables that everything is kept in"},
	{Name: "Patterns", Description: "The questions that the tables answer, one by one"},
	{Name: "API keys", Description: "Who may call this server, and what for"},
}

// Catalogues returns everything that an answer can report, the earliest first.
func Catalogues() []*problem.Catalogue {
	return []*problem.Catalogue{Problems, apikey.Problems, ledger.Problems}
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// anyOperation are the problems that every operation can report, and bodyOperation those of the
// operations that read a body.
func anyOperation() []*problem.Definition {
	return []*problem.Definition{
		ErrHostRefused, ErrOriginRefused, ErrKeyMissing, apikey.ErrKeyRefused,
		apikey.ErrScopeMissing, ErrInvalidParameter, ErrBusy, ErrTimedOut,
	}
}

func bodyOperation() []*problem.Definition {
	return []*problem.Definition{
		ErrUnsupportedMediaType, ErrBodyTooLarge, ErrBodyTooSlow, ErrMalformedJSON, ErrInvalidBody,
	}
}

// problemResponses describes the answers that tell of problems: those of the operation itself by
// status, and those that any operation can report together.
func (a *API) problemResponses(op operation) map[string]*huma.Response {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(typeOf[document](), true, "")
	response := func(definitions []*problem.Definition) *huma.Response {
		var lines []string
		for _, d := range definitions {
			lines = append(lines, "`"+string(d.Code())+"`: "+d.Sentence())
		}
		return &huma.Response{
			Description: strings.Join(lines, "\n\n"),
			Content:     map[string]*huma.MediaType{mediaProblem: {Schema: schema}},
		}
	}
	byStatus := map[string][]*problem.Definition{}
	for _, d := range op.problems {
		status := strconv.Itoa(Status(d.Kind(), d.Code()))
		byStatus[status] = append(byStatus[status], d)
	}
	common := anyOperation()
	if op.example != nil {
		common = append(common, bodyOperation()...)
	}
	responses := map[string]*huma.Response{"default": response(common)}
	for status, definitions := range byStatus {
		responses[status] = response(definitions)
	}
	return responses
}
