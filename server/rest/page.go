package rest

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/problem"
)

//go:embed page.html
var pageText string

// The readable description is made once, when the API is, from the same values as the OpenAPI
// document. It needs no script and nothing from the network.
type (
	pageData struct {
		Title, Version string
		Paragraphs     []string
		Chapters       []pageChapter
		Schemas        []pageSchema
		Problems       []pageProblem
	}
	pageChapter struct {
		Name, Sentence string
		Operations     []pageOperation
	}
	pageOperation struct {
		ID, Method, Path, Summary, Description, Scope string
		Parameters                                    []pageField
		Body, Example                                 string // The name of the body's schema.
		Answers                                       []pageAnswer
	}
	pageAnswer struct {
		Status, Schema string
		Lines          []string
	}
	pageSchema struct {
		Name   string
		Fields []pageField
	}
	pageField struct {
		Name, Type, Link, Doc, Example string
		Required                       bool
	}
	pageProblem struct {
		Code, Title, Kind, Sentence, Hint string
		Status                            int
	}
)

func writePage(w io.Writer, spec *huma.OpenAPI) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	data := pageData{
		Title: spec.Info.Title, Version: spec.Info.Version,
		Paragraphs: strings.Split(spec.Info.Description, "\n\n"),
	}
	for _, tag := range spec.Tags {
		chapter := pageChapter{Name: tag.Name, Sentence: tag.Description}
		chapter.Operations = pageOperations(spec, tag.Name)
		data.Chapters = append(data.Chapters, chapter)
	}
	for name, schema := range spec.Components.Schemas.Map() {
		data.Schemas = append(data.Schemas, pageSchema{Name: name, Fields: pageFields(schema)})
	}
	slices.SortFunc(data.Schemas, func(a, b pageSchema) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, c := range Catalogues() {
		for _, d := range c.Definitions() {
			if d.System() != "" {
				continue // It is among the shared ones.
			}
			data.Problems = append(data.Problems, pageProblem{
				Code: string(d.Code()), Title: title(d.Code()), Kind: string(d.Kind()),
				Sentence: d.Sentence(), Hint: d.Hint(), Status: Status(d.Kind(), d.Code()),
			})
		}
	}
	internal := problem.From(io.EOF) // Any error that is no problem of ours.
	data.Problems = append(data.Problems, pageProblem{
		Code: string(internal.Code), Title: title(internal.Code), Kind: string(internal.Kind),
		Sentence: internal.Sentence, Hint: internal.Hint,
		Status: Status(internal.Kind, internal.Code),
	})
	return page.Execute(w, data)
}

// pageOperations returns the operations of a chapter in the order of their registration.
func pageOperations(spec *huma.OpenAPI, tag string) []pageOperation {
	var made []pageOperation
	for _, path := range spec.Paths {
		for _, op := range []*huma.Operation{
			path.Get, path.Post, path.Put, path.Patch, path.Delete,
		} {
			if op != nil && slices.Contains(op.Tags, tag) {
				made = append(made, newPageOperation(op))
			}
		}
	}
	slices.SortFunc(made, func(a, b pageOperation) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Method, b.Method)
	})
	return made
}

func newPageOperation(op *huma.Operation) pageOperation {
	p := pageOperation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary,
		Description: op.Description, Scope: op.Security[0][securityName][0],
	}
	for _, param := range op.Parameters {
		f := newPageField(param.Name, param.Schema)
		f.Type = param.In + ", " + f.Type
		f.Doc, f.Required = param.Description, param.Required
		p.Parameters = append(p.Parameters, f)
	}
	if op.RequestBody != nil && op.RequestBody.Content[mediaJSON] != nil {
		media := op.RequestBody.Content[mediaJSON]
		p.Body = refName(media.Schema)
		if text, err := json.MarshalIndent(media.Example, "", "  "); err == nil {
			p.Example = string(text)
		}
	}
	for status, response := range op.Responses {
		a := pageAnswer{Status: status, Lines: strings.Split(response.Description, "\n\n")}
		if media := response.Content[mediaJSON]; media != nil {
			a.Schema = refName(media.Schema)
		}
		p.Answers = append(p.Answers, a)
	}
	slices.SortFunc(p.Answers, func(a, b pageAnswer) int {
		return strings.Compare(a.Status, b.Status)
	})
	return p
}

func pageFields(schema *huma.Schema) []pageField {
	var fields []pageField
	for name, property := range schema.Properties {
		f := newPageField(name, property)
		f.Required = slices.Contains(schema.Required, name)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b pageField) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

func newPageField(name string, schema *huma.Schema) pageField {
	f := pageField{Name: name, Doc: schema.Description, Type: schema.Type}
	switch {
	case schema.Ref != "":
		f.Type, f.Link = refName(schema), refName(schema)
	case schema.Items != nil && schema.Items.Ref != "":
		f.Type, f.Link = "list of "+refName(schema.Items), refName(schema.Items)
	case schema.Items != nil:
		f.Type = "list of " + schema.Items.Type
	case schema.Format != "":
		f.Type = schema.Type + " (" + schema.Format + ")"
	}
	for _, value := range schema.Enum {
		f.Type += " | " + toText(value)
	}
	if len(schema.Examples) > 0 {
		f.Example = toText(schema.Examples[0])
	}
	return f
}

func toText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// refName returns the name of the schema that another refers to.
func refName(schema *huma.Schema) string {
	if schema == nil {
		return ""
	}
	return schema.Ref[strings.LastIndexByte(schema.Ref, '/')+1:]
}
