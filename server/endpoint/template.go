package endpoint

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// template is a CloudFormation template whose values are being computed.
type template struct {
	params    map[string]any
	resources map[string]any
}

// templateOf reads the tables of a template, in the order of their names.
func templateOf(doc map[string]any, given Parameters) ([]Definition, error) {
	resources, ok := doc["Resources"].(map[string]any)
	if !ok {
		return nil, errors.New("the template's Resources are no object")
	}
	t := &template{resources: resources, params: map[string]any{
		"AWS::Region": "local", "AWS::AccountId": "000000000000", "AWS::Partition": "aws",
		"AWS::StackName": "local", "AWS::NoValue": nil,
	}}
	declared, _ := doc["Parameters"].(map[string]any)
	for name, p := range declared {
		if m, ok := p.(map[string]any); ok && m["Default"] != nil {
			t.params[name] = m["Default"]
		}
	}
	for name, value := range given {
		if _, own := t.params[name]; !own && declared[name] == nil {
			return nil, fmt.Errorf("the template has no parameter %s", name)
		}
		t.params[name] = value
	}
	var all []Definition
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		resource, _ := resources[name].(map[string]any)
		kind, _ := resource["Type"].(string)
		properties, _ := resource["Properties"].(map[string]any)
		if !isTable(kind) {
			continue
		}
		d, err := t.table(name, kind, properties)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", name, err)
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, errors.New("the template has no tables: no resource of type " +
			"AWS::DynamoDB::Table, AWS::DynamoDB::GlobalTable or AWS::Serverless::SimpleTable")
	}
	return all, nil
}

// The types of resources that are tables.
const (
	kindTable       = "AWS::DynamoDB::Table"
	kindGlobalTable = "AWS::DynamoDB::GlobalTable"
	kindSimpleTable = "AWS::Serverless::SimpleTable"
)

func isTable(kind string) bool {
	return kind == kindTable || kind == kindGlobalTable || kind == kindSimpleTable
}

func (t *template) table(name, kind string, properties map[string]any) (Definition, error) {
	m := map[string]any{"TableName": name}
	for _, member := range append([]string{"TimeToLiveSpecification", "PrimaryKey"}, members...) {
		if properties[member] == nil {
			continue
		}
		v, err := t.value(properties[member])
		if err != nil {
			return Definition{}, fmt.Errorf("%s: %w", member, err)
		}
		if v != nil {
			m[member] = v
		}
	}
	switch kind {
	case kindSimpleTable:
		simple(m)
	case kindGlobalTable:
		// Capacity is set for each replica there; one machine has none.
		m["BillingMode"] = "PAY_PER_REQUEST"
	}
	return newDefinition(m)
}

// simple sets the key of a SAM table, which is "id", a string, unless PrimaryKey is set.
func simple(m map[string]any) {
	attribute, kind := "id", "S"
	if key, ok := m["PrimaryKey"].(map[string]any); ok {
		if name, ok := key["Name"].(string); ok {
			attribute = name
		}
		if typ, ok := key["Type"].(string); ok && typ != "" {
			kind = typ[:1] // String, Number, Binary
		}
	}
	delete(m, "PrimaryKey")
	m["AttributeDefinitions"] = []any{
		map[string]any{"AttributeName": attribute, "AttributeType": kind},
	}
	m["KeySchema"] = []any{map[string]any{"AttributeName": attribute, "KeyType": "HASH"}}
}

// value works out the functions in a value.
func (t *template) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			w, err := t.value(e)
			if err != nil {
				return nil, err
			}
			if w != nil { // AWS::NoValue takes its member away
				out = append(out, w)
			}
		}
		return out, nil
	case map[string]any:
		if len(v) == 1 {
			for name, argument := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return t.call(name, argument)
				}
			}
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			w, err := t.value(e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if w != nil {
				out[name] = w
			}
		}
		return out, nil
	}
	return v, nil
}

func (t *template) call(function string, argument any) (any, error) {
	switch function {
	case "Ref":
		name, _ := argument.(string)
		return t.ref(name, nil)
	case "Fn::Sub":
		return t.substitute(argument)
	case "Fn::Join":
		return t.join(argument)
	}
	return nil, fmt.Errorf("%s is not worked out here: write the value, or make it a parameter "+
		"with a default", function)
}

// ref returns the value of a parameter, or the name of the table of a resource.
func (t *template) ref(name string, own map[string]any) (any, error) {
	if v, ok := own[name]; ok {
		return v, nil
	}
	if v, ok := t.params[name]; ok {
		return v, nil
	}
	if resource, ok := t.resources[name].(map[string]any); ok {
		properties, _ := resource["Properties"].(map[string]any)
		if table, ok := properties["TableName"].(string); ok {
			return table, nil
		}
		return name, nil
	}
	return nil, fmt.Errorf("parameter %s has no default; give it a value: --parameter %s=VALUE",
		name, name)
}

// reference is ${Name} in Fn::Sub; ${!Name} is the text ${Name}.
var reference = regexp.MustCompile(`\$\{([^}]+)\}`)

func (t *template) substitute(argument any) (any, error) {
	text, _ := argument.(string)
	var own map[string]any
	if list, ok := argument.([]any); ok && len(list) == 2 {
		text, _ = list[0].(string)
		given, err := t.value(list[1])
		if err != nil {
			return nil, err
		}
		own, _ = given.(map[string]any)
	}
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		v, err := t.ref(name, own)
		if err != nil {
			failed = err
		}
		return fmt.Sprint(v)
	})
	return out, failed
}

func (t *template) join(argument any) (any, error) {
	list, _ := argument.([]any)
	if len(list) != 2 {
		return nil, errors.New("Fn::Join takes a separator and a list")
	}
	separator, _ := list[0].(string)
	v, err := t.value(list[1])
	if err != nil {
		return nil, err
	}
	parts, ok := v.([]any)
	if !ok {
		return nil, errors.New("Fn::Join takes a separator and a list")
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = fmt.Sprint(p)
	}
	return strings.Join(texts, separator), nil
}
