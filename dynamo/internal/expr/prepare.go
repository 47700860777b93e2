package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits of placeholders, from "Service, account, and table quotas in Amazon DynamoDB".
const (
	// placeholderMax is the maximum length of a placeholder in bytes, including its first
	// character.
	placeholderMax = 255
	// substitutesMax is the maximum size of all names and values together, in bytes.
	substitutesMax = 2 << 20
)

// Takes is the set of expressions with values that an operation accepts. It is only used for the
// message about values without an expression.
type Takes uint8

// The expressions that have values. A projection has none.
const (
	TakesUpdate Takes = 1 << iota
	TakesCondition
	TakesFilter
	TakesKeyCondition
)

// takenNames are the names of the parameters in the order of the constants, which is the order of
// the service's message.
var takenNames = [...]string{
	"UpdateExpression", "ConditionExpression", "FilterExpression", "KeyConditionExpression",
}

// missing returns the end of that message.
func (t Takes) missing() string {
	var names []string
	for i, name := range takenNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ": " + names[0] + " is null"
	}
	return ": " + strings.Join(names, " and ") + " are null"
}

// Request holds all expressions of one call, which share names and values. An empty text means that
// the call does not have the expression.
type Request struct {
	Condition, Filter, KeyCondition, Projection, Update string
	// Names and Values define the placeholders. nil means that the call has none; an empty map is
	// refused, as on the service.
	Names  map[string]string
	Values map[string]dynamo.Value
	// Takes is optional.
	Takes Takes
}

// Prepared holds the expressions of a call; nil for those that it does not have.
type Prepared struct {
	Condition, Filter *Condition
	Key               *KeyCondition
	Projection        *Projection
	Update            *Update
}

// prepared allocates everything that a typical call needs together.
type prepared struct {
	Prepared
	scope             scope
	condition, filter Condition
	projection        Projection
	update            Update
	names             [8]string
	values            [8]dynamo.Value
}

// Prepare parses the expressions, or takes them from the cache, and combines them with their names
// and values. It reports all errors that do not depend on an item as a *dynamo.Error with the
// service's text. If there are several errors, it returns the one that the service reports first:
// names and values before expressions; then the update, the condition, the key condition, the
// filter and the projection; then unused placeholders; finally a key condition that is not one.
//
// The request is not retained, but its maps and values are shared and must not be changed.
func (p *Parser) Prepare(r *Request) (*Prepared, error) {
	t := texts{
		kindUpdate: r.Update, kindCondition: r.Condition, kindKeyCondition: r.KeyCondition,
		kindFilter: r.Filter, kindProjection: r.Projection,
	}
	if t.size() == 0 {
		if refusal := r.checkGiven(&t); refusal != "" {
			return nil, dynamo.Invalid(refusal)
		}
		return &Prepared{}, nil
	}
	plan := p.plan(&t)
	out := &prepared{}
	// If the placeholders do not match, one is missing, unused or invalid. An invalid one is
	// reported before errors of the expressions, an unused one after them.
	whole := out.bind(plan, r)
	refusal := ""
	if !whole {
		refusal = r.checkGiven(&t)
	}
	if refusal == "" {
		refusal = plan.check(&out.scope)
	}
	if refusal == "" && !whole {
		refusal = r.unused(plan)
	}
	if refusal == "" {
		refusal = out.assemble(plan)
	}
	if refusal != "" {
		return nil, dynamo.Invalid(refusal)
	}
	return &out.Prepared, nil
}

// bind fills the scope. It reports whether the placeholders of the call are exactly those of the
// plan, with valid names and values.
func (out *prepared) bind(plan *plan, r *Request) (whole bool) {
	sc := &out.scope
	sc.names, sc.values = out.names[:0], out.values[:0]
	whole = len(r.Names) == len(plan.names) && (r.Names == nil || len(r.Names) > 0) &&
		len(r.Values) == len(plan.values) && (r.Values == nil || len(r.Values) > 0)
	size := 0
	for _, placeholder := range plan.names {
		name := r.Names[placeholder]
		whole = whole && len(placeholder) <= placeholderMax && checkName(name) == ""
		size += len(placeholder) + len(name)
		sc.names = append(sc.names, name)
	}
	for _, placeholder := range plan.values {
		v := r.Values[placeholder]
		if !v.Checked() {
			var refusal string
			if v, refusal = checkValue(v, 1); refusal != "" {
				v, whole = dynamo.Value{}, false
			}
		}
		whole = whole && len(placeholder) <= placeholderMax
		size += len(placeholder) + v.Size()
		sc.values = append(sc.values, v)
	}
	return whole && size <= substitutesMax
}

// checkGiven checks the names and values of a call independent of its expressions.
func (r *Request) checkGiven(t *texts) string {
	const names, values = "ExpressionAttributeNames", "ExpressionAttributeValues"
	switch {
	case r.Names != nil && t.size() == 0:
		return names + " can only be specified when using expressions"
	case r.Values != nil && t.size() == len(t[kindProjection]):
		return values + " can only be specified when using expressions" + r.Takes.missing()
	}
	size := 0
	if r.Names != nil {
		keys := slices.Sorted(maps.Keys(r.Names))
		if refusal := checkPlaceholders(names, keys, '#'); refusal != "" {
			return refusal
		}
		for _, key := range keys {
			if refusal := checkName(r.Names[key]); refusal != "" {
				return names + " contains invalid value: " + refusal + " for key " + key
			}
			size += len(key) + len(r.Names[key])
		}
	}
	if r.Values != nil {
		keys := slices.Sorted(maps.Keys(r.Values))
		if refusal := checkPlaceholders(values, keys, ':'); refusal != "" {
			return refusal
		}
		for _, key := range keys {
			switch _, refusal := checkValue(r.Values[key], 1); refusal {
			case "":
			case tooDeep:
				return refusal
			default:
				return values + " contains invalid value: " + refusal + " for key " + key
			}
			size += len(key) + r.Values[key].Size()
		}
	}
	if size > substitutesMax {
		return values + " exceeds max size"
	}
	return ""
}

// checkPlaceholders checks the sorted keys of the map in a parameter.
func checkPlaceholders(parameter string, keys []string, sign byte) string {
	if len(keys) == 0 {
		return parameter + " must not be empty"
	}
	for _, key := range keys {
		if len(key) > placeholderMax {
			return parameter + " contains invalid key: The expression attribute map contains a " +
				"key that is too long; size of key: " + strconv.Itoa(len(key))
		}
		if len(key) < 2 || key[0] != sign || wordLength(key[1:]) < len(key)-1 {
			return parameter + ` contains invalid key: Syntax error; key: "` + key + `"`
		}
	}
	return ""
}

// unused returns the refusal of placeholders that no expression uses, or "".
func (r *Request) unused(plan *plan) string {
	if refusal := unusedKeys("ExpressionAttributeNames", r.Names, plan.names); refusal != "" {
		return refusal
	}
	return unusedKeys("ExpressionAttributeValues", r.Values, plan.values)
}

func unusedKeys[V any](parameter string, given map[string]V, used []string) string {
	if len(given) <= len(used) {
		return "" // an undefined one would have been refused
	}
	left := maps.Clone(given)
	for _, key := range used {
		delete(left, key)
	}
	return "Value provided in " + parameter + " unused in expressions: keys: {" +
		strings.Join(slices.Sorted(maps.Keys(left)), ", ") + "}"
}

// check checks the expressions in their order.
func (p *plan) check(sc *scope) string {
	for _, e := range p.exprs {
		if e == nil {
			continue
		}
		refusal := e.refusal
		if refusal == "" {
			refusal = e.check(p, sc)
		}
		if refusal != "" {
			return "Invalid " + e.kind.String() + ": " + refusal
		}
	}
	return ""
}

// check checks one expression with its names and values.
func (e *parsed) check(p *plan, sc *scope) string {
	switch e.kind {
	case kindUpdate:
		return e.checkUpdate(p, sc)
	case kindProjection:
		if refusal := e.undefinedName(p, sc); refusal != "" {
			return refusal
		}
		return e.checkPaths(sc)
	}
	for _, leaf := range e.leaves {
		if refusal := leaf.check(p, sc); refusal != "" {
			return refusal
		}
	}
	return ""
}

// checkPaths compares the paths of an update or projection with each other.
func (e *parsed) checkPaths(sc *scope) string {
	if e.named {
		return clash(e.paths, sc)
	}
	return e.clash
}

// branches returns the paths of an update or projection as a tree.
func (e *parsed) branches(sc *scope) []branch {
	if e.named {
		return branches(e.paths, sc)
	}
	return e.tree
}

// undefinedName returns the refusal of the first name that the call does not define, or "".
func (e *parsed) undefinedName(p *plan, sc *scope) string {
	for _, slot := range e.names {
		if sc.names[slot] == "" {
			return p.undefinedName(slot)
		}
	}
	return ""
}

func (e *parsed) undefinedValue(p *plan, sc *scope) string {
	for _, slot := range e.values {
		if sc.values[slot].IsAbsent() {
			return p.undefinedValue(slot)
		}
	}
	return ""
}

func (p *plan) undefinedName(slot int) string {
	return "An expression attribute name used in the document path is not defined; " +
		"attribute name: " + p.names[slot]
}

func (p *plan) undefinedValue(slot int) string {
	return "An expression attribute value used in expression is not defined; " +
		"attribute value: " + p.values[slot]
}

// assemble creates the result of Prepare. It returns the refusal of an invalid key condition.
func (out *prepared) assemble(plan *plan) string {
	for _, e := range plan.exprs {
		if e == nil {
			continue
		}
		switch e.kind {
		case kindUpdate:
			out.update = Update{expr: e, scope: &out.scope}
			out.Update = &out.update
		case kindCondition:
			out.condition = Condition{expr: e, scope: &out.scope}
			out.Condition = &out.condition
		case kindFilter:
			out.filter = Condition{expr: e, scope: &out.scope}
			out.Filter = &out.filter
		case kindProjection:
			out.projection = Projection{expr: e, scope: &out.scope, tree: e.branches(&out.scope)}
			out.Projection = &out.projection
		}
	}
	if e := plan.exprs[kindKeyCondition]; e != nil {
		key, refusal := keyCondition(e.root, &out.scope)
		if refusal != "" {
			return refusal
		}
		out.Key = key
	}
	return ""
}
