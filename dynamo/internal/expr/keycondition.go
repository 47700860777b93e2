package expr

import "github.com/exchequer-dev/exchequer/dynamo"

// KeyCondition is a key condition expression with its names and values: a list of conditions that
// must all hold, each on a different attribute. The caller checks whether they fit the keys of the
// table or index.
type KeyCondition struct {
	Terms []KeyTerm
}

// keyTerms allocates the terms of a typical key condition together.
type keyTerms struct {
	KeyCondition
	terms  [2]KeyTerm
	values [3]dynamo.Value
	used   []dynamo.Value // values of all terms, in order
}

// KeyTerm is a condition on one attribute. Values has two elements for OpBetween, the lower bound
// first, and one element for every other operator.
type KeyTerm struct {
	Attribute string
	Op        KeyOp
	Values    []dynamo.Value
}

// KeyOp is the operator of a KeyTerm, with the attribute on its left.
type KeyOp uint8

// The operators of a key condition.
const (
	OpEqual KeyOp = iota
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpBetween
	OpBeginsWith
)

var keyOpNames = [...]string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}

// String returns the operator as it is written in expressions.
func (o KeyOp) String() string { return keyOpNames[o] }

// keyOps maps an operator to the key operator with the attribute on its left and on its right.
var keyOps = [...][2]KeyOp{
	opEqual:        {OpEqual, OpEqual},
	opLess:         {OpLess, OpGreater},
	opLessEqual:    {OpLessEqual, OpGreaterEqual},
	opGreater:      {OpGreater, OpLess},
	opGreaterEqual: {OpGreaterEqual, OpLessEqual},
	opBetween:      {OpBetween, OpBetween},
	opCall:         {OpBeginsWith, OpBeginsWith},
}

// The prefixes of refusals of key conditions.
const (
	badKeyOperator  = "Invalid operator used in KeyConditionExpression: "
	badKeyCondition = "Invalid condition in KeyConditionExpression: "
)

// keyCondition converts a condition to a list of terms. It returns a refusal if the condition is
// not a key condition for any schema.
func keyCondition(root *node, sc *scope) (*KeyCondition, string) {
	k := &keyTerms{}
	k.Terms, k.used = k.terms[:0], k.values[:0]
	if refusal := k.collect(root, sc); refusal != "" {
		return nil, refusal
	}
	return &k.KeyCondition, ""
}

func (k *keyTerms) collect(n *node, sc *scope) string {
	switch n.op {
	case opOr, opNot, opIn, opUnequal:
		return badKeyOperator + n.op.String()
	case opAnd:
		for _, kid := range n.kids {
			if refusal := k.collect(kid, sc); refusal != "" {
				return refusal
			}
		}
		return ""
	case opCall:
		c := n.args[0].call
		if c.function != functionBeginsWith {
			return badKeyOperator + c.function.String()
		}
		return k.add(n.op, c.function.String(), c.args, sc)
	}
	return k.add(n.op, n.op.String(), n.args, sc)
}

// add adds the term of an operator and its operands: one attribute and one or more values.
func (k *keyTerms) add(op operation, name string, args []operand, sc *scope) string {
	if (op == opBetween || op == opCall) && args[0].kind != operandPath {
		return badKeyCondition + name + " operator must have the key attribute as its first operand"
	}
	var term KeyTerm
	before := len(k.used)
	side := -1
	for i := range args {
		switch o := &args[i]; o.kind {
		case operandValue:
			k.used = append(k.used, sc.values[o.slot])
		case operandCall:
			return "KeyConditionExpressions cannot contain nested operations"
		case operandPath:
			if side >= 0 {
				return badKeyCondition + "Multiple attribute names used in one condition"
			}
			if isNested(o.path) {
				return "Invalid KeyConditionExpression: KeyConditionExpressions cannot have " +
					"conditions on nested attributes"
			}
			side = i
			term.Attribute = o.path[0].resolve(sc)
		}
	}
	if side < 0 {
		return badKeyCondition + "No key attribute specified"
	}
	for _, other := range k.Terms {
		if other.Attribute == term.Attribute {
			return "KeyConditionExpressions must only contain one condition per key"
		}
	}
	term.Values = k.used[before:len(k.used):len(k.used)]
	term.Op = keyOps[op][min(side, 1)]
	k.Terms = append(k.Terms, term)
	return ""
}
