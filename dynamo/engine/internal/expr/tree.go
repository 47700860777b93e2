package expr

// kind is one of the five kinds of expression. They are in the order in which a call's expressions
// are checked.
type kind uint8

const (
	kindUpdate kind = iota
	kindCondition
	kindKeyCondition
	kindFilter
	kindProjection
	kindCount
)

var kindNames = [kindCount]string{
	"UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression",
	"ProjectionExpression",
}

// String returns the name of the call's parameter that holds such an expression.
func (k kind) String() string { return kindNames[k] }

// parsed is an expression that was parsed, without the names and values of a call. It does not
// change once it is made, as calls share it.
type parsed struct {
	kind kind
	// refusal is what is wrong with the text whatever its placeholders stand for, or "". With a
	// refusal nothing below is set.
	refusal string
	// names and values are the slots of the placeholders used, in order of first appearance.
	names, values []int
	// paths are the targets of an update, the paths of a projection, or every path that a
	// condition reads.
	paths []path
	// named tells whether the paths have placeholders, so that only a call can compare them.
	named bool
	// clash is the refusal of paths that overlap or conflict, where named is not set.
	clash string
	// tree holds the paths of an update or projection, where named is not set.
	tree []branch

	root    *node    // of the three kinds of condition
	leaves  []*node  // the conditions that root joins, in the order of the text
	actions []action // of an update
}

// operation is what a node of a condition does.
type operation uint8

const (
	opAnd operation = iota
	opOr
	opNot
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opBetween
	opIn
	opCall
)

var operationNames = [...]string{
	"AND", "OR", "NOT", "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "",
}

// String returns the operator as messages write it.
func (o operation) String() string { return operationNames[o] }

// ordering reports whether the operation needs operands that have an order.
func (o operation) ordering() bool {
	return o >= opLess && o <= opBetween
}

// node is a part of a condition.
type node struct {
	op operation
	// kids are what AND, OR and NOT join.
	kids []*node
	// args are the operands of a comparison, BETWEEN or IN: what is compared comes first. For a
	// call they hold the call alone.
	args []operand
	// not tells for opNot whether an odd number of them stand in a row.
	not bool
}

type operandKind uint8

const (
	operandPath operandKind = iota
	operandValue
	operandCall
)

// operand is what an operator or function works on.
type operand struct {
	kind operandKind
	path path
	slot int // which value
	call *call
	// parenthesized tells whether it stands in parentheses of its own.
	parenthesized bool
}

// function is one of the functions of the language.
type function uint8

const (
	functionUnknown function = iota
	functionExists
	functionNotExists
	functionType
	functionBeginsWith
	functionContains
	functionSize
	functionIfNotExists
	functionListAppend
)

// functionNames are case sensitive, unlike keywords.
var functionNames = [...]string{
	"", "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains",
	"size", "if_not_exists", "list_append",
}

var functionOperands = [...]int{0, 1, 1, 2, 2, 2, 1, 2, 2}

func (f function) String() string { return functionNames[f] }

// forUpdate reports whether the function belongs to update expressions rather than conditions.
func (f function) forUpdate() bool { return f >= functionIfNotExists }

func functionNamed(name string) function {
	for f := functionExists; int(f) < len(functionNames); f++ {
		if functionNames[f] == name {
			return f
		}
	}
	return functionUnknown
}

type call struct {
	function function
	args     []operand
}

// clause is one of the four parts of an update expression.
type clause uint8

const (
	clauseSet clause = iota
	clauseRemove
	clauseAdd
	clauseDelete
	clauseCount
)

var clauseNames = [clauseCount]string{"SET", "REMOVE", "ADD", "DELETE"}

func (c clause) String() string { return clauseNames[c] }

// clears reports whether actions of the clause only take away.
func (c clause) clears() bool { return c == clauseRemove || c == clauseDelete }

// arithmetic is the operator of a sum in an update, if it is one.
type arithmetic uint8

const (
	arithmeticNone arithmetic = iota
	arithmeticPlus
	arithmeticMinus
)

func (a arithmetic) String() string {
	if a == arithmeticMinus {
		return "-"
	}
	return "+"
}

// action is one change of an update. ADD and DELETE have a value in left; SET has left alone or
// both operands of a sum.
type action struct {
	clause      clause
	target      path
	left, right operand
	sum         arithmetic
	// parenthesized tells whether the whole sum stands in parentheses.
	parenthesized bool
}

// eachOperand calls visit with the operands of a call before the call itself.
func (o *operand) eachOperand(visit func(*operand)) {
	if o.kind == operandCall {
		for i := range o.call.args {
			o.call.args[i].eachOperand(visit)
		}
	}
	visit(o)
}
