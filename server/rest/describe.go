package rest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// description is at the head of the OpenAPI document.
const description = `Exchequer keeps double-entry books and moves money exactly once.

Amounts are strings beside a currency (ISO 4217), because many programs round JSON numbers. Instants
are UTC with milliseconds. Lists come in pages: send the member next as the parameter cursor.
Members and parameters that are not described here are refused. A member of a body that is null counts
as left out.

What goes wrong is answered by a problem document (RFC 9457). Branch on its code.

Every answer carries X-Request-Id, and in Exchequer-Calls, Exchequer-Read-Units and
Exchequer-Write-Units what it took of the store, in DynamoDB's capacity units.`

// tags are the chapters of the description.
var tags = []*huma.Tag{
	chapter(api.PostTransaction.Chapter), chapter(api.GetAccount.Chapter),
	chapter(api.GetMerchant.Chapter), chapter(api.Reconcile.Chapter),
	{Name: tagPayments, Description: "Orders to pay at a time, settled through the ledger"},
	{Name: "Locations", Description: "Places with a code that people know them by"},
	chapter(api.GetRate.Chapter),
	{Name: "Tables", Description: "The tables that everything is kept in"},
	{Name: "Patterns", Description: "The questions that the tables answer, one by one"},
	{Name: tagMe, Description: "Whose data the caller reaches, and all of it at once"},
	{Name: tagBankAccounts, Description: "A person's accounts at banks"},
	{Name: tagUploads, Description: "Files of banks: read, imported, and taken back"},
	{Name: tagBankTransactions, Description: "What a person's accounts gained and lost"},
	{Name: tagRules, Description: "What tags and renames rows by itself"},
	{Name: tagReports, Description: "Where a person's money went"},
	{Name: "API keys", Description: "Who may call this server, and what for"},
}

func chapter(c *api.Chapter) *huma.Tag {
	return &huma.Tag{Name: c.Name, Description: c.Description}
}

// Catalogues returns everything that an answer can report, the earliest first.
func Catalogues() []*problem.Catalogue {
	return []*problem.Catalogue{
		problem.Shared, Problems, payload.Problems, apikey.Problems, oidc.Problems,
		ledger.Problems, payments.Problems, locations.Problems,
		rates.Problems, statements.Problems,
	}
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// tagMe is the chapter about the caller.
const tagMe = "Me"

// anyOperation are the problems that every operation can report, and bodyOperation those of the
// operations that read a body.
func anyOperation() []*problem.Definition {
	return []*problem.Definition{
		ErrHostRefused, ErrOriginRefused, ErrKeyMissing, apikey.ErrKeyRefused,
		apikey.ErrScopeMissing, problem.ErrRequestInvalid, ErrBusy, ErrTimedOut,
		ErrStoreFailed, ErrStoreUnavailable, ErrItemContended, ErrOutcomeUnknown,
		ErrStreamsBusy, ErrItemUnreadable, ErrLayoutDiffers, ErrTableDiffers,
	}
}

// personalOperation are those that every operation about a person's own data can report besides.
func personalOperation() []*problem.Definition {
	return append([]*problem.Definition{
		ErrTokenMissing, ErrKeyWithoutPerson, statements.ErrContended,
	}, oidc.Problems.Definitions()...)
}

func bodyOperation() []*problem.Definition {
	return []*problem.Definition{
		ErrUnsupportedMediaType, problem.ErrBodyTooLarge, payload.ErrTooSlow, payload.ErrMalformed,
		problem.ErrRequestInvalid,
	}
}

// problemResponses describes the answers that are problems, by status: those of the operation
// itself, and those that any operation of its sort can report.
func (a *Router) problemResponses(op operation) map[string]*huma.Response {
	own, byStatus := map[string]bool{}, map[string][]*problem.Definition{}
	add := func(definitions []*problem.Definition, itself bool) {
		for _, d := range definitions {
			status := strconv.Itoa(Status(d.Kind(), d.Code()))
			if !slices.ContainsFunc(byStatus[status], d.SameCode) {
				byStatus[status] = append(byStatus[status], d)
			}
			own[status] = own[status] || itself
		}
	}
	add(op.problems, true)
	common, sort := anyOperation(), ""
	if op.personal {
		common, sort = append(common, personalOperation()...), "Personal"
	} else {
		common = append(common, ErrNotPersonal)
	}
	if op.example != nil {
		common, sort = append(common, bodyOperation()...), sort+"Body"
	}
	add(common, false)
	responses := map[string]*huma.Response{"default": a.sharedResponse("ProblemOther", nil)}
	for status, definitions := range byStatus {
		if own[status] {
			responses[status] = a.problemResponse(definitions)
			continue
		}
		responses[status] = a.sharedResponse("Problem"+status+sort, definitions)
	}
	return responses
}

// sharedResponse returns a reference to a description that many operations have in common.
func (a *Router) sharedResponse(name string, definitions []*problem.Definition) *huma.Response {
	components := a.huma.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	if components.Responses[name] == nil {
		components.Responses[name] = a.problemResponse(definitions)
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// problemResponse describes an answer that is one of some problems, or any other without them.
func (a *Router) problemResponse(definitions []*problem.Definition) *huma.Response {
	response := &huma.Response{Description: "Any other problem", Headers: map[string]*huma.Param{}}
	schema := a.schema(typeOf[api.Problem]())
	if len(definitions) > 0 {
		var lines []string
		var codes []any
		for _, d := range definitions {
			lines = append(lines, "`"+string(d.Code())+"`: "+d.Sentence())
			codes = append(codes, string(d.Code()))
			describeProblemHeaders(response.Headers, d)
		}
		response.Description = strings.Join(lines, "\n\n")
		schema = &huma.Schema{AllOf: []*huma.Schema{schema, {
			Type:       huma.TypeObject,
			Properties: map[string]*huma.Schema{"code": {Type: huma.TypeString, Enum: codes}},
		}}}
	}
	response.Content = map[string]*huma.MediaType{mediaProblem: {Schema: schema}}
	return response
}

// describeProblemHeaders adds the headers that GetHeaders sends with a problem.
func describeProblemHeaders(headers map[string]*huma.Param, d *problem.Definition) {
	switch {
	case d.Kind() == problem.Unauthenticated, d.Kind() == problem.Forbidden:
		headers["WWW-Authenticate"] = &huma.Param{
			Description: "How to authenticate (RFC 6750)",
			Schema:      &huma.Schema{Type: huma.TypeString},
		}
	case d.Kind().Retryable():
		headers["Retry-After"] = &huma.Param{
			Description: "After how many seconds to send the request again",
			Schema:      &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$"},
		}
	}
}

// finishDescription returns what the framework cannot know or leaves in the way.
func (a *Router) finishDescription() {
	spec := a.huma.OpenAPI()
	schemas := spec.Components.Schemas.Map()
	// The framework describes an error of its own, which no answer has.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for name, schema := range schemas {
		describeInstants(schema)
		if !a.reads[name] {
			// A later version may answer with more members; a client must not be taken aback.
			schema.AdditionalProperties = nil
		}
	}
	describeProblems(schemas["Problem"])
	for _, responses := range a.repeats {
		made := responses["201"]
		responses["200"] = &huma.Response{
			Description: "What an earlier, equal request created",
			Content:     made.Content, Headers: made.Headers,
		}
	}
	for _, path := range spec.Paths {
		if path.Get != nil {
			describeETag(path.Get)
			describeBounds(path.Get)
		}
		if path.Post != nil {
			describeReplay(path.Post)
		}
	}
}

// describeProblems returns which kinds and codes there are.
func describeProblems(schema *huma.Schema) {
	var kinds, codes []any
	for _, kind := range problem.Kinds() {
		kinds = append(kinds, string(kind))
	}
	for _, c := range Catalogues() {
		for _, d := range c.Definitions() {
			if !slices.Contains(codes, any(string(d.Code()))) {
				codes = append(codes, string(d.Code()))
			}
		}
	}
	schema.Properties["kind"].Enum = kinds
	schema.Properties["code"].Enum = append(codes, string(problem.CodeInternal))
}

// prune removes the schemas that nothing refers to, such as those of parts that are embedded.
func (a *Router) prune() {
	spec := a.huma.OpenAPI()
	schemas := spec.Components.Schemas.Map()
	for {
		text, err := json.Marshal(spec)
		if err != nil {
			return // Writing the document reports it.
		}
		removed := false
		for name := range schemas {
			if !bytes.Contains(text, []byte(`"#/components/schemas/`+name+`"`)) {
				delete(schemas, name)
				removed = true
			}
		}
		if !removed {
			return
		}
	}
}

// describeETag adds the answer without a body.
func describeETag(op *huma.Operation) {
	if response := op.Responses["200"]; response != nil && response.Headers["ETag"] != nil {
		op.Responses["304"] = &huma.Response{
			Description: "The caller has it already", Headers: response.Headers,
		}
	}
}

// describeReplay adds the answer to the repeat of a payment. Its key is not required, because the
// body may have an id.
func describeReplay(op *huma.Operation) {
	response := op.Responses["201"]
	if response == nil || response.Headers["Idempotent-Replayed"] == nil ||
		op.Responses["200"] != nil { // One of those that are marked as repeatable.
		return
	}
	response.Description = "The payment"
	op.Responses["200"] = &huma.Response{
		Description: "The payment that an earlier, equal request made",
		Content:     response.Content, Headers: response.Headers,
	}
}
