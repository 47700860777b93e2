package expr

// kind is one of the five kinds of expression. Their order is the order in which the expressions of
// a call are checked.
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

// String returns the name of the parameter of such an expression.
func (k kind) String() string { return kindNames[k] }

// parsed is a parsed expression without the names and values of a call. It is immutable, because
// calls share it.
type parsed struct {
	kind kind
	// refusal is an error of the text that does not depend on its placeholders, or "". If it is
	// set, the following fields are not.
	refusal string
	// names and values are the slots of the used placeholders, in order of first appearance.
	names, values []int
	// paths are the targets of an update, the paths of a projection, or every path in a condition.
	paths []path
	// named reports whether the paths have placeholders. They can then only be compared within a
	// call.
	named bool
	// clash is the refusal of paths that overlap or conflict, if named is false.
	clash string
	// tree holds the paths of an update or projection, if named is false.
	tree []branch

	root    *node    // of the three kinds of condition
	leaves  []*node  // the conditions below root, in the order of the text
	actions []action // of an update
}

// operation is the operator of a node of a condition.
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

// String returns the operator as it is written in messages.
func (o operation) String() string { return operationNames[o] }

// ordering reports whether the operation compares by order.
func (o operation) ordering() bool {
	return o >= opLess && o <= opBetween
}

// node is a part of a condition.
type node struct {
	op operation
	// kids are the operands of AND, OR and NOT.
	kids []*node
	// args are the operands of a comparison, BETWEEN or IN, beginning with the compared one. For a
	// call they contain only the call.
	args []operand
	// not reports for opNot whether it negates: an even number of NOTs has no effect.
	not bool
}

type operandKind uint8

const (
	operandPath operandKind = iota
	operandValue
	operandCall
)

// operand is an operand of an operator or function.
type operand struct {
	kind operandKind
	path path
	slot int // number of the value
	call *call
	// parenthesized reports whether the operand has parentheses of its own.
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

// forUpdate reports whether the function is for update expressions and not for conditions.
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

// clears reports whether actions of the clause only remove data.
func (c clause) clears() bool { return c == clauseRemove || c == clauseDelete }

// arithmetic is the operator of a sum in an update, or none.
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

// action is one change of an update. ADD and DELETE have a value in left. SET has left, or both
// operands of a sum.
type action struct {
	clause      clause
	target      path
	left, right operand
	sum         arithmetic
	// parenthesized reports whether the whole sum has parentheses.
	parenthesized bool
}

// eachOperand calls visit for the operands of a call before the call itself.
func (o *operand) eachOperand(visit func(*operand)) {
	if o.kind == operandCall {
		for i := range o.call.args {
			o.call.args[i].eachOperand(visit)
		}
	}
	visit(o)
}
