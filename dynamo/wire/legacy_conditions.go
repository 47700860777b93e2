package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// legacyCondition is the condition on one attribute in Expected, a filter or KeyConditions.
// Expected has two forms: a comparison, or Exists with a Value.
type legacyCondition struct {
	name     string
	operator string // empty if it is not given
	values   []dynamo.Value
	listed   bool // an AttributeValueList is given
	value    dynamo.Value
	valued   bool   // a Value is given
	exists   string // "true" or "false"; empty if it is not given
}

// comparisons are the operators in the order of the service's message.
var comparisons = []string{
	"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE",
	"BEGINS_WITH", "GE", "CONTAINS",
}

// legacyConditions reads Expected, a filter or KeyConditions. In the latter two, a condition is
// always a comparison with a list.
func (r *reader) legacyConditions(expected bool) []legacyCondition {
	all := []legacyCondition{}
	for r.object(); r.member(); {
		if !r.keep(len(all)) {
			continue
		}
		one := legacyCondition{name: string(r.name), listed: !expected}
		for r.object(); r.member(); {
			switch name := string(r.name); {
			case name == "ComparisonOperator":
				one.operator = r.string()
			case name == "AttributeValueList":
				one.values, one.listed = many(r, func() dynamo.Value { return r.value(1) }), true
			case name == "Value" && expected:
				one.value, one.valued = r.value(1), true
			case name == "Exists" && expected:
				one.exists = strconv.FormatBool(r.bool())
			default:
				r.skip()
			}
		}
		if one.value.IsAbsent() && one.valued || slices.ContainsFunc(one.values,
			dynamo.Value.IsAbsent) {
			r.refuse(messageNoType)
		}
		all = append(all, one)
	}
	return all
}

// checkForm refuses an unknown operator, or a missing one if it is required.
func (c *legacyCondition) checkForm(path string, needed bool) string {
	path += "." + c.name + ".member.comparisonOperator"
	switch {
	case c.operator == "" && needed:
		return "1 validation error detected: Value null at '" + path + "' failed to satisfy " +
			"constraint: Member must not be null"
	case c.operator != "" && !slices.Contains(comparisons, c.operator):
		return outOfSet(c.operator, path, "["+strings.Join(comparisons, ", ")+"]")
	}
	return ""
}

const legacyInvalid = "One or more parameter values were invalid: "

// check refuses a contradictory condition. A condition without an operator becomes a comparison.
func (c *legacyCondition) check() string {
	of := " for Attribute: " + c.name
	switch {
	case c.valued && c.listed:
		return legacyInvalid + "Value and AttributeValueList cannot be used together" + of
	case c.operator == "" && c.listed:
		return legacyInvalid + "AttributeValueList can only be used with a ComparisonOperator" + of
	case c.operator == "":
		return c.checkExists(of)
	case c.exists != "":
		return legacyInvalid + "Exists and ComparisonOperator cannot be used together" + of
	}
	unary := c.operator == "NULL" || c.operator == "NOT_NULL"
	if !unary && !c.valued && !c.listed {
		return legacyInvalid + "Value or AttributeValueList must be used with " +
			"ComparisonOperator: " + c.operator + of
	}
	// Value is the short form of a list with one value.
	if c.valued {
		c.values = []dynamo.Value{c.value}
	}
	return c.checkValues()
}

// checkExists translates Exists and Value of the Expected member to an operator, or returns the
// refusal of a wrong pair.
func (c *legacyCondition) checkExists(of string) string {
	switch {
	case c.exists == "false" && c.valued:
		return legacyInvalid + "Value cannot be used when Exists is false" + of
	// An attribute that must not exist has no value to compare.
	case c.exists == "false":
		c.operator = "NULL"
	case c.valued:
		c.operator, c.values = "EQ", []dynamo.Value{c.value}
	case c.exists == "":
		return legacyInvalid + "Value must be provided when Exists is null" + of
	default:
		return legacyInvalid + "Value must be provided when Exists is true" + of
	}
	return ""
}

// checkValues refuses a wrong number of values, or values of types that the operator does not
// compare.
func (c *legacyCondition) checkValues() string {
	wants, n := 1, len(c.values)
	switch c.operator {
	case "NULL", "NOT_NULL":
		wants = 0
	case "BETWEEN":
		wants = 2
	case "IN":
		// IN takes any number of values, but at least one.
		wants = max(n, 1)
	}
	if n != wants {
		return legacyInvalid + "Invalid number of argument(s) for the " + c.operator +
			" ComparisonOperator"
	}
	for _, v := range c.values {
		if !c.compares(v.Kind()) {
			return legacyInvalid + "ComparisonOperator " + c.operator + " is not valid for " +
				v.Kind().String() + " AttributeValue type"
		}
	}
	// Values of different types could not be compared with the same attribute.
	for _, v := range c.values {
		if v.Kind() != c.values[0].Kind() {
			return legacyInvalid + "AttributeValues inside AttributeValueList must be of same type"
		}
	}
	if c.operator == "BETWEEN" && c.values[0].Checked() && c.values[1].Checked() {
		if order, ok := c.values[0].Compare(c.values[1]); ok && order > 0 {
			return "The BETWEEN condition was provided a range where the lower bound is greater " +
				"than the upper bound"
		}
	}
	return ""
}

// compares reports whether the operator accepts a value of that type.
func (c *legacyCondition) compares(kind dynamo.Kind) bool {
	switch c.operator {
	// Equality is defined for every type, the others need an order or a prefix.
	case "EQ", "NE":
		return true
	case "BEGINS_WITH":
		return kind == dynamo.KindS || kind == dynamo.KindB
	}
	return kind == dynamo.KindS || kind == dynamo.KindN || kind == dynamo.KindB
}

// conditions translates validated conditions.
func (p *placeholders) conditions(all []legacyCondition, conjunction string) string {
	terms := make([]string, len(all))
	for i := range all {
		terms[i] = p.condition(&all[i], len(all) > 1)
	}
	return strings.Join(terms, conjunction)
}

// symbols are the infix operators of expressions.
var symbols = map[string]string{
	"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">",
}

// condition translates one condition. inner means that it is combined with others.
func (p *placeholders) condition(c *legacyCondition, inner bool) string {
	name := p.name(c.name)
	values := make([]string, len(c.values))
	for i, v := range c.values {
		values[i] = p.value(v)
	}
	switch c.operator {
	case "NULL":
		return "attribute_not_exists(" + name + ")"
	case "NOT_NULL":
		return "attribute_exists(" + name + ")"
	case "CONTAINS":
		return "contains(" + name + "," + values[0] + ")"
	case "NOT_CONTAINS":
		// Unlike NE, it is false for a missing attribute.
		text := "attribute_exists(" + name + ") AND NOT contains(" + name + "," + values[0] + ")"
		if inner {
			return "(" + text + ")"
		}
		return text
	case "BEGINS_WITH":
		return "begins_with(" + name + "," + values[0] + ")"
	case "BETWEEN":
		return name + " BETWEEN " + values[0] + " AND " + values[1]
	case "IN":
		return name + " IN (" + strings.Join(values, ",") + ")"
	}
	return name + symbols[c.operator] + values[0]
}
