package syntax

import (
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// predicates are the functions of conditions and their numbers of operands.
var predicates = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2,
	"contains": 2, "size": 1,
}

// Condition translates a condition to a condition expression.
func (b *Binding) Condition(e *Expr) (string, error) {
	w := writer{Binding: b}
	w.condition(e)
	return w.text()
}

// writer writes one expression. After the first error its output is not used.
type writer struct {
	*Binding
	out strings.Builder
	err error
}

func (w *writer) text() (string, error) {
	if w.err != nil {
		return "", w.err
	}
	return w.out.String(), nil
}

func (w *writer) refuse(message string) {
	if w.err == nil {
		w.err = dynamo.Invalid(message)
	}
}

func (w *writer) write(texts ...string) {
	for _, text := range texts {
		w.out.WriteString(text)
	}
}

func (w *writer) condition(e *Expr) {
	switch e.Op {
	case OpAnd, OpOr:
		for i, part := range e.Args {
			if i > 0 {
				w.write(" ", e.Op.String(), " ")
			}
			w.within(part, e.Op == OpAnd && part.Op == OpOr)
		}
	case OpNot:
		w.write("NOT ")
		w.within(e.Args[0], e.Args[0].Op == OpAnd || e.Args[0].Op == OpOr)
	case OpEqual, OpUnequal, OpLess, OpLessEqual, OpGreater, OpGreaterEqual:
		if !w.truth(e) {
			w.operand(e.Args[0])
			w.write(" ", e.Op.String(), " ")
			w.operand(e.Args[1])
		}
	case OpBetween:
		w.operand(e.Args[0])
		w.write(" BETWEEN ")
		w.operand(e.Args[1])
		w.write(" AND ")
		w.operand(e.Args[2])
	case OpIn:
		w.in(e)
	case OpIs:
		w.is(e)
	case OpCall:
		w.call(e)
	case OpOther:
		w.refuse("Unsupported operator: " + e.Name + " at " + e.Pos.String())
	default:
		w.refuse("A condition is expected at " + e.Pos.String())
	}
}

// within writes a condition, in parentheses if the expression language requires them, because it
// refuses redundant ones.
func (w *writer) within(e *Expr, parentheses bool) {
	if !parentheses {
		w.condition(e)
		return
	}
	w.write("(")
	w.condition(e)
	w.write(")")
}

// truth writes the comparison of a condition with true or false, which the expression language does
// not support. It reports false for any other comparison.
func (w *writer) truth(e *Expr) bool {
	condition, constant := e.Args[0], e.Args[1]
	if condition.Constant() {
		condition, constant = constant, condition
	}
	if e.Op > OpUnequal || !condition.holds() || !constant.Constant() {
		return false
	}
	v, err := w.Value(constant)
	switch {
	case err != nil:
		w.err = err
	case v.Kind() != dynamo.KindBOOL:
		// A condition is true or false and therefore never equal to another value.
		w.refuse("A condition can only be compared with true or false; the one at " +
			condition.Pos.String() + " is not")
	case v.Bool() == (e.Op == OpEqual):
		w.within(condition, condition.Op == OpAnd || condition.Op == OpOr)
	default:
		w.condition(&Expr{Op: OpNot, Pos: e.Pos, Args: []*Expr{condition}})
	}
	return true
}

// holds reports whether an expression is a condition and not a value.
func (e *Expr) holds() bool {
	switch e.Op {
	case OpCall:
		return e.Name != "size"
	case OpValue, OpParameter, OpList, OpMap, OpBag, OpPath, OpMissing, OpStar, OpPlus, OpMinus,
		OpOther:
		return false
	}
	return true
}

// in writes an IN. Its list may be a parameter.
func (w *writer) in(e *Expr) {
	w.operand(e.Args[0])
	w.write(" IN (")
	if list := e.Args[1]; list.Op == OpList || list.Op == OpBag {
		for i, part := range list.Args {
			w.separate(i)
			w.operand(part)
		}
		w.checkList(e, len(list.Args))
	} else {
		elems := w.elements(e)
		for i, v := range elems {
			w.separate(i)
			w.write(w.placeholder(v))
		}
		w.checkList(e, len(elems))
	}
	w.write(")")
}

func (w *writer) separate(i int) {
	if i > 0 {
		w.write(", ")
	}
}

func (w *writer) checkList(e *Expr, n int) {
	if n == 0 {
		w.refuse("The list of the IN at " + e.Pos.String() + " is empty")
	}
}

// elements returns the values of the constant list of an IN.
func (w *writer) elements(e *Expr) []dynamo.Value {
	if !e.Args[1].Constant() {
		w.refuse(noList(e))
		return nil
	}
	v, err := w.Value(e.Args[1])
	if err != nil {
		w.err = err
		return nil
	}
	elems, ok := elementsOf(v)
	if !ok {
		w.refuse(noList(e))
	}
	return elems
}

// elementsOf returns the elements of a list or set.
func elementsOf(v dynamo.Value) (elems []dynamo.Value, ok bool) {
	switch v.Kind() {
	case dynamo.KindL:
		return v.L(), true
	case dynamo.KindSS:
		for _, s := range v.SS() {
			elems = append(elems, dynamo.S(s))
		}
		return elems, true
	case dynamo.KindNS:
		for _, n := range v.NS() {
			elems = append(elems, dynamo.N(n))
		}
		return elems, true
	case dynamo.KindBS:
		for _, b := range v.BS() {
			elems = append(elems, dynamo.B(b))
		}
		return elems, true
	}
	return nil, false
}

// typesOf maps the names of types after IS to type descriptors.
var typesOf = map[string][]string{
	"null": {"NULL"}, "bool": {"BOOL"}, "boolean": {"BOOL"},
	"string": {"S"}, "symbol": {"S"}, "char": {"S"}, "character": {"S"}, "varchar": {"S"},
	"character varying": {"S"},
	"int":               {"N"}, "integer": {"N"}, "int2": {"N"}, "int4": {"N"}, "int8": {"N"},
	"integer2": {"N"}, "integer4": {"N"}, "integer8": {"N"}, "smallint": {"N"}, "bigint": {"N"},
	"float": {"N"}, "real": {"N"}, "dec": {"N"}, "decimal": {"N"}, "numeric": {"N"},
	"double precision": {"N"},
	"blob":             {"B"}, "clob": {"B"}, "list": {"L"}, "struct": {"M"}, "tuple": {"M"},
	"bag": {"SS", "NS", "BS"},
}

// is writes a test of a type.
func (w *writer) is(e *Expr) {
	subject := e.Args[0]
	if subject.Op != OpPath {
		w.refuse("IS tests an attribute; there is none before it at " + e.Pos.String())
		return
	}
	types := typesOf[e.Name]
	switch {
	case e.Name == "missing":
		w.write("attribute_not_exists(", w.path(subject.Path), ")")
		return
	case len(types) == 0:
		w.refuse("Unsupported type: " + strings.ToUpper(e.Name) + " at " + e.Pos.String())
		return
	case len(types) > 1:
		w.write("(")
	}
	for i, name := range types {
		if i > 0 {
			w.write(" OR ")
		}
		w.write("attribute_type(", w.path(subject.Path), ", ", w.placeholder(dynamo.S(name)), ")")
	}
	if len(types) > 1 {
		w.write(")")
	}
}

// call writes a function of conditions.
func (w *writer) call(e *Expr) {
	count, ok := predicates[e.Name]
	if !ok {
		w.refuse("Unrecognized function: " + e.Name + " at " + e.Pos.String())
		return
	}
	if len(e.Args) != count {
		w.refuse("Incorrect number of operands for operator or function; operator or " +
			"function: " + e.Name + ", number of operands: " + strconv.Itoa(len(e.Args)))
		return
	}
	w.write(e.Name, "(")
	for i, part := range e.Args {
		w.separate(i)
		w.operand(part)
	}
	w.write(")")
}

// operand writes an operand of an operator or function.
func (w *writer) operand(e *Expr) {
	switch {
	case e.Constant():
		v, err := w.Value(e)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.write(w.placeholder(v))
	case e.Op == OpPath:
		w.write(w.path(e.Path))
	case e.Op == OpCall:
		w.call(e)
	default:
		w.refuse("Unsupported operand: " + e.word() + " at " + e.Pos.String())
	}
}

// placeholder returns a new placeholder of a value.
func (b *Binding) placeholder(v dynamo.Value) string {
	if b.Expressions.ExpressionAttributeValues == nil {
		b.Expressions.ExpressionAttributeValues = map[string]dynamo.Value{}
	}
	p := ":" + strconv.Itoa(len(b.Expressions.ExpressionAttributeValues))
	b.Expressions.ExpressionAttributeValues[p] = v
	return p
}

// path writes a path with a placeholder for each name, because names may be reserved words.
func (b *Binding) path(path Path) string {
	var out strings.Builder
	for i, s := range path {
		if s.Index != NotIndexed {
			out.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(b.name(s.Name))
	}
	return out.String()
}

func (b *Binding) name(name string) string {
	if p, ok := b.names[name]; ok {
		return p
	}
	if b.names == nil {
		b.names = map[string]string{}
		b.Expressions.ExpressionAttributeNames = map[string]string{}
	}
	p := "#" + strconv.Itoa(len(b.names))
	b.names[name] = p
	b.Expressions.ExpressionAttributeNames[p] = name
	return p
}
