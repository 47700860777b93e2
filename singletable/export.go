package singletable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Format is a format of another tool for a model.
type Format string

// The formats.
const (
	// FormatWorkbench is a NoSQL Workbench data model, version 3.0: a facet for each entity, with
	// its key templates as aliases and a sample item, and the patterns in the description.
	FormatWorkbench Format = "workbench"
	// FormatCloudFormation is a template of AWS::DynamoDB::Table resources, as JSON.
	FormatCloudFormation Format = "cloudformation"
	// FormatTerraform is a file of aws_dynamodb_table resources.
	FormatTerraform Format = "terraform"
)

// Formats returns the formats that [Model.Export] supports.
func Formats() []Format {
	return []Format{FormatWorkbench, FormatCloudFormation, FormatTerraform}
}

// Export returns the model's tables in the format of another tool. The tables are those that
// [Table.Ensure] creates, with on-demand billing. at is the time of creation in formats that have
// one.
func (m *Model) Export(format Format, at time.Time) ([]byte, error) {
	for _, t := range m.tables {
		if len(t.problems) > 0 {
			return nil, &ModelError{Subject: t.name, Problems: t.problems}
		}
	}
	switch format {
	case FormatWorkbench:
		return indented(m.workbench(at))
	case FormatCloudFormation:
		return indented(m.cloudFormation())
	case FormatTerraform:
		return m.terraform(), nil
	}
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return nil, fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(names, ", "))
}

// indented returns indented JSON. Angle brackets of key templates are not escaped.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// resourceName returns a name of letters and digits for a table name.
func resourceName(table string) string {
	var b strings.Builder
	upper := true
	for _, r := range table {
		switch {
		case r >= 'a' && r <= 'z' && upper:
			b.WriteRune(r - 'a' + 'A')
			upper = false
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
			upper = false
		default:
			upper = true
		}
	}
	return b.String()
}

// taggedItem returns an item in DynamoDB JSON, in which each value is an object that names its
// type.
func taggedItem(item dynamo.Item) map[string]any {
	out := make(map[string]any, len(item))
	for name, v := range item {
		out[name] = tagged(v)
	}
	return out
}

func tagged(v dynamo.Value) map[string]any {
	kind := v.Kind().String()
	switch v.Kind() {
	case dynamo.KindS:
		return map[string]any{kind: v.S()}
	case dynamo.KindN:
		return map[string]any{kind: v.N()}
	case dynamo.KindB:
		return map[string]any{kind: base64.StdEncoding.EncodeToString(v.B())}
	case dynamo.KindBOOL:
		return map[string]any{kind: v.Bool()}
	case dynamo.KindSS:
		return map[string]any{kind: v.SS()}
	case dynamo.KindNS:
		return map[string]any{kind: v.NS()}
	case dynamo.KindBS:
		return map[string]any{kind: v.BS()} // JSON encodes bytes in base64
	case dynamo.KindL:
		list := make([]any, len(v.L()))
		for i, e := range v.L() {
			list[i] = tagged(e)
		}
		return map[string]any{kind: list}
	case dynamo.KindM:
		return map[string]any{kind: taggedItem(v.M())}
	}
	return map[string]any{dynamo.KindNULL.String(): true}
}
