package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// legacyPart is one of the request parameters that existed before expressions. They are in the
// order of the service's messages.
type legacyPart int

const (
	legacyToGet legacyPart = 1 << iota
	legacyUpdates
	legacyQueryFilter
	legacyScanFilter
	legacyExpected
	legacyOperator
	legacyKeys
)

var legacyNames = []string{
	"AttributesToGet", "AttributeUpdates", "QueryFilter", "ScanFilter", "Expected",
	"ConditionalOperator", "KeyConditions",
}

// The legacy parameters of each operation.
const (
	legacyOfGet    = legacyToGet
	legacyOfWrite  = legacyExpected | legacyOperator
	legacyOfUpdate = legacyUpdates | legacyExpected | legacyOperator
	legacyOfQuery  = legacyToGet | legacyQueryFilter | legacyOperator | legacyKeys
	legacyOfScan   = legacyToGet | legacyScanFilter | legacyOperator
)

// legacy holds the legacy parameters of a request. They are translated to expressions with
// placeholders, so that a store needs only one implementation. The service still accepts both
// ("Legacy conditional parameters" in the developer guide).
type legacy struct {
	takes, given legacyPart

	toGet      []string
	updates    []legacyUpdate
	conditions []legacyCondition // of Expected, QueryFilter or ScanFilter
	keys       []legacyCondition
	operator   string
}

// read reads the current member if it is a legacy parameter of the operation, and reports whether
// it is.
func (l *legacy) read(r *reader) bool {
	at := slices.Index(legacyNames, string(r.name))
	part := legacyPart(1) << max(at, 0)
	// Another operation's parameter is an unknown member here, which is ignored.
	if at < 0 || l.takes&part == 0 {
		return false
	}
	l.given |= part
	switch part {
	case legacyToGet:
		l.toGet = r.strings()
	case legacyUpdates:
		l.updates = r.legacyUpdates()
	case legacyOperator:
		l.operator = r.string()
	case legacyKeys:
		l.keys = r.legacyConditions(false)
	default:
		// An operation takes only one of Expected, QueryFilter and ScanFilter, so they share the
		// field.
		l.conditions = r.legacyConditions(part == legacyExpected)
	}
	return true
}

// expressed points to the expressions of an operation's input; nil for those that it does not have.
type expressed struct {
	projection, filter, keyCondition, update, condition *string
	*dynamo.Expressions
	// sel is the Select of a Query or Scan, and wrap a prefix of the refusals about it.
	sel  dynamo.Select
	wrap string
}

// present returns the names of the expressions in a request, in the service's order.
func (x *expressed) present() []string {
	var names []string
	add := func(name string, text *string) {
		if text != nil && *text != "" {
			names = append(names, name)
		}
	}
	add("ProjectionExpression", x.projection)
	add("FilterExpression", x.filter)
	add("KeyConditionExpression", x.keyCondition)
	add("UpdateExpression", x.update)
	add("ConditionExpression", x.condition)
	return names
}

// translate translates the parameters to expressions. If the service would refuse them, it notes
// the refusal in the reader and translates nothing.
func (l *legacy) translate(r *reader, x expressed) {
	if l.given == 0 || r.err != nil {
		return
	}
	r.legacy = true
	if refusal := l.check(&x); refusal != "" {
		r.refuse(refusal)
		return
	}
	// The translation adds its own placeholders to those of the request, so their names must
	// differ.
	p := placeholders{in: x.Expressions, prefix: freePrefix(&x)}
	if l.given&legacyToGet != 0 {
		*x.projection = p.projection(l.toGet)
	}
	if l.given&legacyUpdates != 0 {
		*x.update = p.update(l.updates)
	}
	conjunction := " AND "
	if l.operator == "OR" {
		conjunction = " OR "
	}
	switch {
	case len(l.conditions) == 0:
	case l.given&legacyExpected != 0:
		*x.condition = p.conditions(l.conditions, conjunction)
	default:
		*x.filter = p.conditions(l.conditions, conjunction)
	}
	if l.given&legacyKeys != 0 {
		// ConditionalOperator does not apply to KeyConditions, which must all hold.
		*x.keyCondition = p.conditions(l.keys, " AND ")
	}
}

// freePrefix returns a prefix for placeholders that no expression of the request uses.
func freePrefix(x *expressed) string {
	prefix := "0"
	for x.mentions("#"+prefix) || x.mentions(":"+prefix) {
		prefix += "0"
	}
	return prefix
}

// mentions reports whether a placeholder with this prefix is used in an expression that is allowed
// next to legacy parameters, or in the names and values of the request.
func (x *expressed) mentions(start string) bool {
	// The other expressions are refused with legacy parameters before.
	for _, text := range []*string{x.filter, x.projection} {
		if text != nil && strings.Contains(*text, start) {
			return true
		}
	}
	for name := range x.ExpressionAttributeNames {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	for name := range x.ExpressionAttributeValues {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// check returns the first error of the legacy parameters, in the service's order.
func (l *legacy) check(x *expressed) string {
	if refusal := l.checkForm(); refusal != "" {
		return refusal
	}
	if refusal := l.checkMix(x); refusal != "" {
		return refusal
	}
	if refusal := l.checkOperator(); refusal != "" {
		return refusal
	}
	return l.checkMeaning(x)
}

// checkForm returns the error of a value that is not in its set of values, or that has a wrong
// length. The service checks these first.
func (l *legacy) checkForm() string {
	if l.given&legacyToGet != 0 && len(l.toGet) == 0 {
		return "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy " +
			"constraint: Member must have length greater than or equal to 1"
	}
	if l.given&legacyOperator != 0 && l.operator != "AND" && l.operator != "OR" {
		return outOfSet(l.operator, "conditionalOperator", "[OR, AND]")
	}
	for _, u := range l.updates {
		if !slices.Contains(updateActions, u.action) {
			return outOfSet(u.action, "attributeUpdates."+u.name+".member.action",
				"[ADD, PUT, DELETE]")
		}
	}
	path := "keyConditions"
	for _, conditions := range [][]legacyCondition{l.keys, l.conditions} {
		for i := range conditions {
			if refusal := conditions[i].checkForm(path, path != "expected"); refusal != "" {
				return refusal
			}
		}
		switch {
		case l.given&legacyQueryFilter != 0:
			path = "queryFilter"
		case l.given&legacyScanFilter != 0:
			path = "scanFilter"
		default:
			path = "expected"
		}
	}
	return ""
}

// checkMix refuses expressions together with legacy parameters. Only KeyConditions can be combined
// with the filter and the projection of a Query.
func (l *legacy) checkMix(x *expressed) string {
	old := l.given
	// A Query may have KeyConditions and a FilterExpression, but not both forms of the key
	// condition.
	if x.keyCondition != nil && *x.keyCondition == "" {
		old &^= legacyKeys
	}
	expressions := x.present()
	if len(expressions) > 0 && old != 0 {
		var parts []string
		for i, name := range legacyNames {
			if old&(1<<i) != 0 {
				parts = append(parts, name)
			}
		}
		return mixed(strings.Join(parts, ", "), strings.Join(expressions, ", "))
	}
	// This is checked here although the store does, because after the translation there are
	// expressions.
	if len(expressions) == 0 && x.ExpressionAttributeNames != nil {
		return "ExpressionAttributeNames can only be specified when using expressions"
	}
	if len(expressions) == 0 && x.ExpressionAttributeValues != nil {
		return "ExpressionAttributeValues can only be specified when using expressions" +
			x.absent()
	}
	return ""
}

// mixed returns the service's refusal of both forms in one request.
func mixed(old, expressions string) string {
	return "Can not use both expression and non-expression parameters in the same request: " +
		"Non-expression parameters: {" + old + "} Expression parameters: {" + expressions + "}"
}

// absent returns the part of a message that lists the missing expressions that could have had
// values.
func (x *expressed) absent() string {
	switch {
	case x.keyCondition != nil:
		return ": FilterExpression and KeyConditionExpression are null"
	case x.filter != nil:
		return ": FilterExpression is null"
	case x.update != nil:
		return ": UpdateExpression and ConditionExpression are null"
	case x.condition != nil:
		return ": ConditionExpression is null"
	}
	return ""
}

// checkOperator returns the refusal of ConditionalOperator for fewer than two conditions, or "".
func (l *legacy) checkOperator() string {
	switch {
	case l.given&legacyOperator == 0:
	case len(l.conditions) == 0:
		return "ConditionalOperator cannot be used without Filter or Expected"
	case len(l.conditions) == 1:
		return "ConditionalOperator can only be used when Filter or Expected has two or more " +
			"elements"
	}
	return ""
}

var legacySelects = map[dynamo.Select]string{
	dynamo.SelectAllAttributes:          "ALL_ATTRIBUTES",
	dynamo.SelectAllProjectedAttributes: "ALL_PROJECTED_ATTRIBUTES",
	dynamo.SelectCount:                  "only the Count",
}

// checkMeaning refuses parameters that are well formed but contradictory.
func (l *legacy) checkMeaning(x *expressed) string {
	// Duplicates of a projection are refused in both forms.
	for i, name := range l.toGet {
		if slices.Contains(l.toGet[:i], name) {
			return "One or more parameter values were invalid: Duplicate value in attribute " +
				"name: " + name
		}
	}
	if what := legacySelects[x.sel]; what != "" && l.given&legacyToGet != 0 {
		return x.wrap + "Cannot specify the AttributesToGet when choosing to get " + what
	}
	for _, u := range l.updates {
		if refusal := u.check(); refusal != "" {
			return refusal
		}
	}
	for i := range l.conditions {
		if refusal := l.conditions[i].check(); refusal != "" {
			return refusal
		}
	}
	return l.checkKeys()
}

// keyConditionsMax is the maximum number of attributes in KeyConditions: a partition key and a sort
// key.
const keyConditionsMax = 2

// checkKeys returns the refusal of KeyConditions, or "". Key conditions support only some of the
// operators.
func (l *legacy) checkKeys() string {
	if l.given&legacyKeys == 0 {
		return ""
	}
	if n := len(l.keys); n == 0 || n > keyConditionsMax {
		return "Conditions can be of length 1 or 2 only"
	}
	for i := range l.keys {
		if refusal := l.keys[i].check(); refusal != "" {
			return refusal
		}
		switch l.keys[i].operator {
		case "EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN":
		default:
			return "Attempted conditional constraint is not an indexable operation"
		}
	}
	return ""
}

// placeholders assigns placeholders to names and values. The maps belong to the request and may be
// extended.
type placeholders struct {
	in     *dynamo.Expressions
	prefix string
	n      int
}

// next returns a short text, so that many attributes fit into the maximum length of an expression.
func (p *placeholders) next() string {
	p.n++
	return p.prefix + strconv.FormatInt(int64(p.n), 36)
}

// name returns a placeholder for an attribute name, because legacy requests may use any name and
// expressions may not.
func (p *placeholders) name(attribute string) string {
	if p.in.ExpressionAttributeNames == nil {
		p.in.ExpressionAttributeNames = map[string]string{}
	}
	place := "#" + p.next()
	p.in.ExpressionAttributeNames[place] = attribute
	return place
}

// value returns a placeholder for a value.
func (p *placeholders) value(v dynamo.Value) string {
	if p.in.ExpressionAttributeValues == nil {
		p.in.ExpressionAttributeValues = map[string]dynamo.Value{}
	}
	place := ":" + p.next()
	p.in.ExpressionAttributeValues[place] = v
	return place
}

// projection returns the projection expression of AttributesToGet.
func (p *placeholders) projection(attributes []string) string {
	places := make([]string, len(attributes))
	for i, name := range attributes {
		places[i] = p.name(name)
	}
	return strings.Join(places, ",")
}

// inLegacyWords converts an error of a store, which is about expressions, to the service's error
// for a request without expressions.
func inLegacyWords(err error) error {
	e, ok := err.(*dynamo.Error)
	if !ok || e.Code != dynamo.CodeValidation {
		return err
	}
	text := e.Message
	const ofValues = "ExpressionAttributeValues contains invalid value: "
	if rest, ok := strings.CutPrefix(text, ofValues); ok {
		if at := strings.LastIndex(rest, " for key :"); at >= 0 {
			rest = rest[:at]
		}
		text = rest
	}
	if strings.HasPrefix(text, "An operand in the update expression has an incorrect") {
		text = "Type mismatch for attribute to update"
	}
	if rest, ok := strings.CutPrefix(text, "Filter Expression can only"); ok {
		text = "QueryFilter can only" + rest
	}
	return dynamo.Invalid(text)
}
