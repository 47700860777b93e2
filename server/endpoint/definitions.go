package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Definition is a table that is to exist before the first request.
type Definition struct {
	TableName string
	// Create is the body of a CreateTable request.
	Create []byte
	// TimeToLive is the body of an UpdateTimeToLive request; nil without expiry.
	TimeToLive []byte
}

// Parameters are values for what a CloudFormation template leaves open, by name.
type Parameters map[string]string

// ReadDefinitions reads the tables that a file defines. It may be the input of CreateTable, the
// answer of CreateTable or DescribeTable, a list of those, or a template of AWS CloudFormation or
// SAM, as JSON or YAML. A template's values may use Ref, Fn::Sub and Fn::Join over its parameters
// and AWS's own; a table without a name there has that of its resource.
func ReadDefinitions(path string, params Parameters) ([]Definition, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	definitions, err := parseDefinitions(raw, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return definitions, nil
}

func parseDefinitions(raw []byte, params Parameters) ([]Definition, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("this is neither JSON nor YAML: %w", err)
	}
	if len(root.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	doc, err := plain(root.Content[0], 0)
	if err != nil {
		return nil, err
	}
	if list, ok := doc.([]any); ok {
		var all []Definition
		for i, member := range list {
			d, err := definitionOf(member)
			if err != nil {
				return nil, fmt.Errorf("table %d of the list: %w", i+1, err)
			}
			all = append(all, d)
		}
		return all, nil
	}
	if top, ok := doc.(map[string]any); ok && top["Resources"] != nil {
		return templateOf(top, params)
	}
	d, err := definitionOf(doc)
	return []Definition{d}, err
}

// nestingMax bounds the depth of a file: far more than a template needs, little enough that a
// hostile one cannot exhaust the stack.
const nestingMax = 64

// plain turns a document into maps, lists and scalars. Short forms of functions become the long
// ones: !Ref x is {"Ref": x}, and !Sub x is {"Fn::Sub": x}.
func plain(n *yaml.Node, depth int) (any, error) {
	if depth > nestingMax {
		return nil, fmt.Errorf("line %d: nested more than %d deep", n.Line, nestingMax)
	}
	var v any
	switch n.Kind {
	case yaml.AliasNode:
		return nil, fmt.Errorf("line %d: aliases are not read; write the value out", n.Line)
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			member, err := plain(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			m[n.Content[i].Value] = member
		}
		v = m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			member, err := plain(e, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = member
		}
		v = list
	default:
		if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
			v = n.Value
			break
		}
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
	}
	switch name, short := strings.CutPrefix(n.Tag, "!"); {
	case !short || strings.HasPrefix(name, "!"):
	case name == "Ref" || name == "Condition":
		v = map[string]any{name: v}
	default:
		v = map[string]any{"Fn::" + name: v}
	}
	return v, nil
}

// members are what CreateTable takes of a description.
var members = []string{
	"TableName", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes",
	"LocalSecondaryIndexes", "BillingMode", "ProvisionedThroughput", "OnDemandThroughput",
	"StreamSpecification", "DeletionProtectionEnabled", "TableClass", "Tags",
}

// definitionOf reads the input of CreateTable or a description of a table.
func definitionOf(doc any) (Definition, error) {
	m, ok := doc.(map[string]any)
	if !ok {
		return Definition{}, errors.New("a table is an object with TableName and KeySchema")
	}
	for _, wrapper := range []string{"Table", "TableDescription"} {
		if inner, ok := m[wrapper].(map[string]any); ok {
			m = inner
		}
	}
	if summary, ok := m["BillingModeSummary"].(map[string]any); ok && m["BillingMode"] == nil {
		m["BillingMode"] = summary["BillingMode"]
	}
	if summary, ok := m["TableClassSummary"].(map[string]any); ok && m["TableClass"] == nil {
		m["TableClass"] = summary["TableClass"]
	}
	return newDefinition(m)
}

// newDefinition keeps of a description what CreateTable takes.
func newDefinition(m map[string]any) (Definition, error) {
	name, _ := m["TableName"].(string)
	if name == "" {
		return Definition{}, errors.New("TableName is missing")
	}
	if m["KeySchema"] == nil {
		return Definition{}, fmt.Errorf("table %s: KeySchema is missing", name)
	}
	in := map[string]any{}
	for _, member := range members {
		if m[member] != nil {
			in[member] = m[member]
		}
	}
	if m["BillingMode"] == "PAY_PER_REQUEST" {
		delete(in, "ProvisionedThroughput")
	} else if in["BillingMode"] == nil && in["ProvisionedThroughput"] == nil {
		in["BillingMode"] = "PAY_PER_REQUEST"
	}
	for _, kind := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		indexes, err := indexesOf(name, kind, in)
		if err != nil {
			return Definition{}, err
		}
		if len(indexes) > 0 {
			in[kind] = indexes
		} else {
			delete(in, kind)
		}
	}
	return encode(name, in, m["TimeToLiveSpecification"])
}

// indexesOf keeps of the descriptions of indexes what CreateTable takes.
func indexesOf(table, kind string, in map[string]any) ([]any, error) {
	list, _ := in[kind].([]any)
	kept := make([]any, len(list))
	for i, e := range list {
		x, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("table %s: %s[%d] is no object", table, kind, i)
		}
		index := map[string]any{}
		for _, member := range []string{
			"IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput",
		} {
			if x[member] != nil {
				index[member] = x[member]
			}
		}
		if in["BillingMode"] == "PAY_PER_REQUEST" || kind == "LocalSecondaryIndexes" {
			delete(index, "ProvisionedThroughput")
		}
		kept[i] = index
	}
	return kept, nil
}

func encode(name string, in map[string]any, expiry any) (Definition, error) {
	for _, units := range slices.Collect(maps.Values(in)) {
		whole(units)
	}
	if stream, ok := in["StreamSpecification"].(map[string]any); ok &&
		stream["StreamViewType"] != nil && stream["StreamEnabled"] == nil {
		stream["StreamEnabled"] = true // templates give the view alone
	}
	d := Definition{TableName: name}
	var err error
	if d.Create, err = json.Marshal(in); err != nil {
		return d, fmt.Errorf("table %s: %w", name, err)
	}
	if ttl, ok := expiry.(map[string]any); ok && ttl["Enabled"] != false &&
		ttl["AttributeName"] != nil {
		d.TimeToLive, err = json.Marshal(map[string]any{
			"TableName": name, "TimeToLiveSpecification": map[string]any{
				"AttributeName": ttl["AttributeName"], "Enabled": true,
			},
		})
	}
	return d, err
}

// whole converts the units of throughput that templates write as text to numbers, and removes the
// members that only a description has.
func whole(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			whole(e)
		}
	case map[string]any:
		delete(v, "NumberOfDecreasesToday")
		delete(v, "LastIncreaseDateTime")
		delete(v, "LastDecreaseDateTime")
		for name, e := range v {
			if text, ok := e.(string); ok && strings.HasSuffix(name, "Units") {
				v[name] = json.Number(text)
			}
			whole(e)
		}
	}
}
