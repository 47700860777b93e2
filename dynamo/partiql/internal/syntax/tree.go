package syntax

import "github.com/exchequer-dev/exchequer/dynamo"

// Verb is the kind of a statement.
type Verb uint8

// The verbs. Exists is a condition on an item, EXISTS(SELECT …), which only transactions support.
const (
	Select Verb = iota
	Insert
	Update
	Delete
	Exists
)

// Statement is the syntax tree of a statement. It is immutable, because calls share it.
type Statement struct {
	Verb     Verb
	Table    string
	Index    string // "" for the table itself
	TablePos Pos

	// Columns are the paths that a SELECT returns of each item; nil for the whole item.
	Columns []*Expr
	Where   *Expr // nil if there is none
	Order   []Order
	Value   *Expr // the item of an INSERT
	Changes []Change
	// WhereFirst reports whether an UPDATE began with FROM and has its conditions before its
	// changes.
	WhereFirst bool
	// Returning is the part of the item that a write returns.
	Returning Returning

	// Parameters is the number of question marks.
	Parameters int
	// Refusal is an error of a statement that can be parsed, or "".
	Refusal string
}

// Reads reports whether the statement only reads.
func (s *Statement) Reads() bool { return s.Verb == Select }

// Order is one key that a SELECT sorts by.
type Order struct {
	Key        *Expr
	Descending bool
}

// Change is one change of an UPDATE. SET assigns a value; REMOVE has none.
type Change struct {
	Target *Expr
	Value  *Expr
}

// Returning is the part of the item that a write returns.
type Returning uint8

// The values of Returning.
const (
	ReturningNothing Returning = iota
	ReturningAllOld
	ReturningModifiedOld
	ReturningAllNew
	ReturningModifiedNew
)

var returningNames = [...]string{"", "ALL OLD", "MODIFIED OLD", "ALL NEW", "MODIFIED NEW"}

// String returns the words between RETURNING and the asterisk.
func (r Returning) String() string { return returningNames[r] }

// Op is the kind of an expression.
type Op uint8

// The kinds of expressions. Values come first.
const (
	OpValue     Op = iota // a literal without parts
	OpParameter           // a question mark
	OpList
	OpMap
	OpBag // a set
	OpPath
	OpMissing
	OpStar // the asterisk of COUNT(*)
	OpCall
	OpAnd
	OpOr
	OpNot
	OpEqual
	OpUnequal
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpBetween
	OpIn
	OpIs
	OpPlus
	OpMinus
	OpOther // an operator of PartiQL that DynamoDB does not support
)

var opNames = [...]string{
	OpAnd: "AND", OpOr: "OR", OpNot: "NOT", OpEqual: "=", OpUnequal: "<>", OpLess: "<",
	OpLessEqual: "<=", OpGreater: ">", OpGreaterEqual: ">=", OpBetween: "BETWEEN", OpIn: "IN",
	OpIs: "IS", OpPlus: "+", OpMinus: "-", OpOther: "",
}

// String returns an operator as it is written, or "" for another kind.
func (o Op) String() string { return opNames[o] }

// Expr is a part of a statement: a value, an attribute, a condition. Parentheses are not
// represented.
type Expr struct {
	Op   Op
	Pos  Pos // position of its first token, or of an operator
	Args []*Expr
	// Names are the names of the members of a map, whose values are in Args.
	Names []string
	// Name is the name of a function in lower case, of a type, or of an OpOther.
	Name  string
	Path  Path
	Value dynamo.Value // a number keeps its notation
	// Parameter is the number of the parameter of a question mark, from 0.
	Parameter int
}

// Path is the path to an attribute or to a part of it.
type Path []Step

// NotIndexed is the index of a step with a name.
const NotIndexed = -1

// Step is one part of a path: a name, or the index of a list.
type Step struct {
	Name  string
	Index int
}

// Equal reports whether two paths lead to the same place.
func (p Path) Equal(q Path) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// Conjuncts returns the conditions that must all hold for e to hold.
func (e *Expr) Conjuncts() []*Expr {
	switch {
	case e == nil:
		return nil
	case e.Op == OpAnd:
		return e.Args
	}
	return []*Expr{e}
}

// Branches returns the alternative conditions, one of which must hold for e to hold.
func (e *Expr) Branches() []*Expr {
	switch {
	case e == nil:
		return nil
	case e.Op == OpOr:
		return e.Args
	}
	return []*Expr{e}
}
