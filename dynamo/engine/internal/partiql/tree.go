package partiql

import "github.com/exchequer-dev/exchequer/dynamo"

// Verb is what a statement does.
type Verb uint8

// The verbs. Exists is a condition on an item, EXISTS(SELECT …), which only transactions have.
const (
	Select Verb = iota
	Insert
	Update
	Delete
	Exists
)

// Statement is the syntax tree of a statement. It does not change once it is made, as calls share
// it.
type Statement struct {
	Verb     Verb
	Table    string
	Index    string // "" is the table itself
	TablePos Pos

	// Columns are what a SELECT answers of each item; nil is all of it.
	Columns []*Expr
	Where   *Expr // nil where there is none
	Order   []Order
	Value   *Expr // what an INSERT writes
	Changes []Change
	// WhereFirst tells that an UPDATE began with FROM and has its conditions before its changes.
	WhereFirst bool
	// Returning is what a write answers with.
	Returning Returning

	// Parameters is how many question marks there are.
	Parameters int
	// Refusal is what is wrong with a statement that can be read, or "".
	Refusal string
}

// Reads reports whether the statement only reads.
func (s *Statement) Reads() bool { return s.Verb == Select }

// Order is one key that a SELECT sorts by.
type Order struct {
	Key        *Expr
	Descending bool
}

// Change is one change of an UPDATE: SET gives the target a value, REMOVE has none.
type Change struct {
	Target *Expr
	Value  *Expr
}

// Returning says what a write answers with.
type Returning uint8

// The four answers, and none.
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

// Op is what a part of an expression does.
type Op uint8

// The kinds of expressions. The values of a call come first.
const (
	OpValue     Op = iota // a literal that has no parts
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
	OpOther // an operator that PartiQL has and DynamoDB does not
)

var opNames = [...]string{
	OpAnd: "AND", OpOr: "OR", OpNot: "NOT", OpEqual: "=", OpUnequal: "<>", OpLess: "<",
	OpLessEqual: "<=", OpGreater: ">", OpGreaterEqual: ">=", OpBetween: "BETWEEN", OpIn: "IN",
	OpIs: "IS", OpPlus: "+", OpMinus: "-", OpOther: "",
}

// String returns an operator as it is written, "" for what is none.
func (o Op) String() string { return opNames[o] }

// Expr is a part of a statement: a value, an attribute, a condition. Parentheses leave no trace.
type Expr struct {
	Op   Op
	Pos  Pos // of its first token; of an operator, its own
	Args []*Expr
	// Names are those of the members of a map, which are its Args.
	Names []string
	// Name is that of a function in small letters, of a type, or of an OpOther.
	Name  string
	Path  Path
	Value dynamo.Value // a number is as it was written
	// Parameter is which parameter a question mark stands for, from 0 on.
	Parameter int
}

// Path is the way to an attribute, or to a part of it.
type Path []Step

// NotIndexed is the index of a step that has a name.
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

// Branches returns the conditions of which one must hold for e to hold.
func (e *Expr) Branches() []*Expr {
	switch {
	case e == nil:
		return nil
	case e.Op == OpOr:
		return e.Args
	}
	return []*Expr{e}
}
