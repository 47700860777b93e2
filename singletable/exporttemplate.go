package singletable

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The shapes of an AWS CloudFormation template.
type (
	formation struct {
		AWSTemplateFormatVersion string
		Description              string
		Resources                map[string]formationTable
	}

	formationTable struct {
		Type           string
		DependsOn      string `json:",omitempty"`
		DeletionPolicy string
		Properties     formationProperties
	}

	formationProperties struct {
		TableName               string
		BillingMode             dynamo.BillingMode
		AttributeDefinitions    []formationAttribute
		KeySchema               []formationKey
		GlobalSecondaryIndexes  []formationIndex `json:",omitempty"`
		LocalSecondaryIndexes   []formationIndex `json:",omitempty"`
		TimeToLiveSpecification *formationExpiry `json:",omitempty"`
	}

	formationAttribute struct{ AttributeName, AttributeType string }

	formationKey struct {
		AttributeName string
		KeyType       dynamo.KeyType
	}

	formationIndex struct {
		IndexName  string
		KeySchema  []formationKey
		Projection workbenchProjection
	}

	formationExpiry struct {
		AttributeName string
		Enabled       bool
	}
)

// cloudFormation returns a template. Each table with indexes depends on the previous one, because
// an account can create only a few indexes at the same time. Tables are retained when their stack
// is deleted, because they hold money.
func (m *Model) cloudFormation() formation {
	f := formation{
		AWSTemplateFormatVersion: "2010-09-09",
		Description:              "The tables of " + m.name + ".",
		Resources:                map[string]formationTable{},
	}
	before := ""
	for _, t := range m.tables {
		table := formationTable{
			Type: "AWS::DynamoDB::Table", DeletionPolicy: "Retain", Properties: t.formation(),
		}
		name := resourceName(t.name)
		if len(t.indexes) > 0 {
			table.DependsOn, before = before, name
		}
		f.Resources[name] = table
	}
	return f
}

func (t *Table) formation() formationProperties {
	in := t.CreateTableInput()
	p := formationProperties{
		TableName: t.name, BillingMode: in.BillingMode, KeySchema: formationKeys(in.KeySchema),
	}
	for _, a := range in.AttributeDefinitions {
		p.AttributeDefinitions = append(p.AttributeDefinitions,
			formationAttribute{a.AttributeName, a.AttributeType.String()})
	}
	for _, x := range t.indexes {
		index := formationIndex{
			IndexName: x.name, KeySchema: formationKeys(schemaOf(x.keys)),
			Projection: workbenchProjection{
				x.projection.ProjectionType, x.projection.NonKeyAttributes,
			},
		}
		if x.local {
			p.LocalSecondaryIndexes = append(p.LocalSecondaryIndexes, index)
		} else {
			p.GlobalSecondaryIndexes = append(p.GlobalSecondaryIndexes, index)
		}
	}
	if t.ttl != "" {
		p.TimeToLiveSpecification = &formationExpiry{AttributeName: t.ttl, Enabled: true}
	}
	return p
}

func formationKeys(schema []dynamo.KeySchemaElement) []formationKey {
	keys := make([]formationKey, len(schema))
	for i, e := range schema {
		keys[i] = formationKey(e)
	}
	return keys
}

// terraform returns a resource for each table, with arguments aligned as by terraform fmt.
func (m *Model) terraform() []byte {
	var b strings.Builder
	for i, t := range m.tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.terraform(&b)
	}
	return []byte(b.String())
}

func (t *Table) terraform(b *strings.Builder) {
	in := t.CreateTableInput()
	fmt.Fprintf(b, "resource \"aws_dynamodb_table\" %s {\n",
		strconv.Quote(strings.ToLower(resourceName(t.name))))
	top := arguments{{"name", strconv.Quote(t.name)}, {"billing_mode", strconv.Quote(
		string(in.BillingMode))}}
	top.keys(t.keys).write(b, "  ")
	for _, a := range in.AttributeDefinitions {
		block(b, "attribute", arguments{
			{"name", strconv.Quote(a.AttributeName)},
			{"type", strconv.Quote(a.AttributeType.String())},
		})
	}
	for _, x := range t.indexes {
		args := arguments{{"name", strconv.Quote(x.name)}}
		kind := "global_secondary_index"
		if x.local {
			kind = "local_secondary_index"
			args = append(args, argument{"range_key", strconv.Quote(x.keys.Sort)})
		} else {
			args = args.keys(x.keys)
		}
		args = append(args, argument{"projection_type",
			strconv.Quote(string(x.projection.ProjectionType))})
		if names := x.projection.NonKeyAttributes; len(names) > 0 {
			quoted := make([]string, len(names))
			for i, name := range names {
				quoted[i] = strconv.Quote(name)
			}
			args = append(args,
				argument{"non_key_attributes", "[" + strings.Join(quoted, ", ") + "]"})
		}
		block(b, kind, args)
	}
	if t.ttl != "" {
		block(b, "ttl", arguments{
			{"attribute_name", strconv.Quote(t.ttl)}, {"enabled", "true"},
		})
	}
	b.WriteString("\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n")
}

// argument is a line of a block.
type argument struct{ name, value string }

type arguments []argument

func (a arguments) keys(k KeyNames) arguments {
	a = append(a, argument{"hash_key", strconv.Quote(k.Partition)})
	if k.Sort != "" {
		a = append(a, argument{"range_key", strconv.Quote(k.Sort)})
	}
	return a
}

func (a arguments) write(b *strings.Builder, indent string) {
	width := 0
	for _, arg := range a {
		width = max(width, len(arg.name))
	}
	for _, arg := range a {
		fmt.Fprintf(b, "%s%-*s = %s\n", indent, width, arg.name, arg.value)
	}
}

func block(b *strings.Builder, kind string, args arguments) {
	fmt.Fprintf(b, "\n  %s {\n", kind)
	args.write(b, "    ")
	b.WriteString("  }\n")
}
