package expr

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// inOperandsMax is the maximum number of operands in the list of an IN, from "Service, account, and
// table quotas in Amazon DynamoDB".
const inOperandsMax = 100

// anyType is the service's name for the type of an operand that is not a value.
const anyType = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"

// check checks one comparison or call, in the service's order: its placeholders, then the numbers
// of operands of its functions, then whether they are distinct, then their types.
func (n *node) check(p *plan, sc *scope) string {
	for i := range n.args {
		if refusal := n.args[i].undefined(p, sc); refusal != "" {
			return refusal
		}
	}
	for i := range n.args {
		if refusal := n.args[i].checkCount(); refusal != "" {
			return refusal
		}
	}
	if n.op == opIn && len(n.args)-1 > inOperandsMax {
		return "The IN operator is provided with too many operands; number of operands: " +
			strconv.Itoa(len(n.args)-1)
	}
	if refusal := n.checkDistinct(sc); refusal != "" {
		return refusal
	}
	for i := range n.args {
		if refusal := n.args[i].checkTypes(sc); refusal != "" {
			return refusal
		}
	}
	return n.checkTypes(sc)
}

// undefined returns the refusal of the first placeholder in the operand that the call does not
// define, or "".
func (o *operand) undefined(p *plan, sc *scope) string {
	switch o.kind {
	case operandPath:
		for _, s := range o.path {
			if s.slot != unnamed && sc.names[s.slot] == "" {
				return p.undefinedName(s.slot)
			}
		}
	case operandValue:
		if sc.values[o.slot].IsAbsent() {
			return p.undefinedValue(o.slot)
		}
	case operandCall:
		for i := range o.call.args {
			if refusal := o.call.args[i].undefined(p, sc); refusal != "" {
				return refusal
			}
		}
	}
	return ""
}

// checkCount checks the number of operands of a call, after those of nested calls.
func (o *operand) checkCount() string {
	if o.kind != operandCall {
		return ""
	}
	for i := range o.call.args {
		if refusal := o.call.args[i].checkCount(); refusal != "" {
			return refusal
		}
	}
	if f, count := o.call.function, len(o.call.args); count != functionOperands[f] {
		return "Incorrect number of operands for operator or function; operator or function: " +
			f.String() + ", number of operands: " + strconv.Itoa(count)
	}
	return ""
}

// checkDistinct refuses an operator or function whose first operand is a path that is repeated
// among the other operands.
func (n *node) checkDistinct(sc *scope) string {
	name, args := n.op.String(), n.args
	if n.op == opCall {
		name, args = n.args[0].call.function.String(), n.args[0].call.args
	}
	first := args[0]
	if first.kind != operandPath {
		return ""
	}
	for _, o := range args[1:] {
		if o.kind == operandPath && len(o.path) == len(first.path) &&
			relate(first.path, o.path, sc) == overlap {
			return "The first operand must be distinct from the remaining operands for this " +
				"operator or function; operator: " + name + ", first operand: " +
				first.path.render(sc)
		}
	}
	return ""
}

// literal returns the value of an operand that is a value, or the absent value.
func (o *operand) literal(sc *scope) dynamo.Value {
	if o.kind != operandValue {
		return dynamo.Value{}
	}
	return sc.values[o.slot]
}

// knownKind returns the type of a value or of the result of a call, or Absent for a path, whose
// type depends on the item.
func (o *operand) knownKind(sc *scope) dynamo.Kind {
	switch o.kind {
	case operandValue:
		return sc.values[o.slot].Kind()
	case operandCall:
		switch o.call.function {
		case functionSize:
			return dynamo.KindN
		case functionListAppend:
			return dynamo.KindL
		case functionIfNotExists:
			return dynamo.Absent
		}
		return dynamo.KindBOOL
	}
	return dynamo.Absent
}

func wrongType(name, kind string) string {
	return "Incorrect operand type for operator or function; operator or function: " + name +
		", operand type: " + kind
}

// checkTypes checks the operands of a call, after those of nested calls. Only values of the request
// are checked, because an attribute can have any type.
func (o *operand) checkTypes(sc *scope) string {
	if o.kind != operandCall {
		return ""
	}
	c := o.call
	for i := range c.args {
		if refusal := c.args[i].checkTypes(sc); refusal != "" {
			return refusal
		}
	}
	switch c.function {
	case functionExists, functionNotExists, functionIfNotExists:
		if c.args[0].kind != operandPath {
			return "Operator or function requires a document path; operator or function: " +
				c.function.String()
		}
	case functionType:
		return checkTypeName(&c.args[1], sc)
	case functionBeginsWith:
		return c.checkKinds(sc, dynamo.KindS, dynamo.KindB)
	case functionListAppend:
		return c.checkKinds(sc, dynamo.KindL, dynamo.KindL)
	case functionSize:
		switch k := c.args[0].knownKind(sc); k {
		case dynamo.KindN, dynamo.KindBOOL, dynamo.KindNULL:
			return wrongType(c.function.String(), k.String())
		}
	}
	return ""
}

// checkKinds refuses an operand that is known to have neither of two types.
func (c *call) checkKinds(sc *scope, one, other dynamo.Kind) string {
	for i := range c.args {
		k := c.args[i].knownKind(sc)
		if k != dynamo.Absent && k != one && k != other {
			return wrongType(c.function.String(), k.String())
		}
	}
	return ""
}

// checkTypeName checks the second operand of attribute_type.
func checkTypeName(o *operand, sc *scope) string {
	const name = "attribute_type"
	switch k := o.knownKind(sc); k {
	case dynamo.KindS:
	case dynamo.Absent:
		return wrongType(name, anyType)
	default:
		return wrongType(name, k.String())
	}
	text := o.literal(sc).S()
	if dynamo.KindOf(text) == dynamo.Absent {
		return "Invalid attribute type name found; type: " + text +
			", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
	}
	return ""
}

// checkTypes checks the operands of an operator that compares by order.
func (n *node) checkTypes(sc *scope) string {
	if !n.op.ordering() {
		return ""
	}
	for i := range n.args {
		switch k := n.args[i].knownKind(sc); k {
		case dynamo.Absent, dynamo.KindS, dynamo.KindN, dynamo.KindB:
		default:
			return wrongType(n.op.String(), k.String())
		}
	}
	if n.op != opBetween {
		return ""
	}
	low, high := n.args[1].literal(sc), n.args[2].literal(sc)
	if low.IsAbsent() || high.IsAbsent() {
		return ""
	}
	if order, ok := low.Compare(high); !ok {
		return "The BETWEEN operator requires same data type for lower and upper bounds; " +
			renderBounds(low, high)
	} else if order > 0 {
		return "The BETWEEN operator requires upper bound to be greater than or equal to " +
			"lower bound; " + renderBounds(low, high)
	}
	return ""
}

// renderBounds formats two scalars as in the service's messages.
func renderBounds(low, high dynamo.Value) string {
	return fmt.Sprintf("lower bound operand: AttributeValue: {%s}, "+
		"upper bound operand: AttributeValue: {%s}", renderScalar(low), renderScalar(high))
}

func renderScalar(v dynamo.Value) string {
	text := v.S() + v.N()
	if v.Kind() == dynamo.KindB {
		text = base64.StdEncoding.EncodeToString(v.B())
	}
	return v.Kind().String() + ":" + text
}
