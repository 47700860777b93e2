package syntax

import (
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// setClauses maps the functions that change sets to the clauses of an update expression.
var setClauses = map[string]string{"set_add": "ADD", "set_delete": "DELETE"}

// Update translates the changes of an UPDATE to an update expression.
func (b *Binding) Update(changes []Change) (string, error) {
	clauses := map[string][]string{}
	for i := range changes {
		clause, action, err := b.change(&changes[i])
		if err != nil {
			return "", err
		}
		clauses[clause] = append(clauses[clause], action)
	}
	var out []string
	for _, clause := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if actions := clauses[clause]; actions != nil {
			out = append(out, clause+" "+strings.Join(actions, ", "))
		}
	}
	return strings.Join(out, " "), nil
}

// change returns the clause and the text of a change.
func (b *Binding) change(c *Change) (clause, action string, err error) {
	if c.Value == nil {
		return "REMOVE", b.path(c.Target.Path), nil
	}
	if c.Value.Op == OpCall && setClauses[c.Value.Name] != "" {
		v, err := b.setMembers(c)
		if err != nil {
			return "", "", err
		}
		return setClauses[c.Value.Name], b.path(c.Target.Path) + " " + b.placeholder(v), nil
	}
	w := writer{Binding: b}
	w.write(b.path(c.Target.Path), " = ")
	w.assigned(c.Value)
	action, err = w.text()
	return "SET", action, err
}

// setMembers returns the elements that set_add adds or set_delete removes. Both must assign to the
// attribute that is their first argument.
func (b *Binding) setMembers(c *Change) (dynamo.Value, error) {
	call := c.Value
	name := strings.ToUpper(call.Name)
	if len(call.Args) != 2 {
		return dynamo.Value{}, dynamo.Invalid(name + " must have exactly two arguments at " +
			call.Pos.String())
	}
	subject, members := call.Args[0], call.Args[1]
	if subject.Op != OpPath || !subject.Path.Equal(c.Target.Path) {
		return dynamo.Value{}, dynamo.Invalid("The first argument to " + name +
			" must equal the assignment value at " + call.Pos.String())
	}
	notSet := dynamo.Invalid("The second argument to " + name +
		" must be a value with type SET at " + subject.Pos.String())
	if !members.Constant() {
		return dynamo.Value{}, notSet
	}
	v, err := b.Value(members)
	if err != nil {
		return dynamo.Value{}, err
	}
	switch v.Kind() {
	case dynamo.KindSS, dynamo.KindNS, dynamo.KindBS:
		return v, nil
	}
	return dynamo.Value{}, notSet
}

// assigned writes the right side of a SET: an operand, or the sum or difference of two.
func (w *writer) assigned(e *Expr) {
	if e.Constant() || e.Op != OpPlus && e.Op != OpMinus || len(e.Args) != 2 {
		w.changed(e)
		return
	}
	w.changed(e.Args[0])
	w.write(" ", e.Op.String(), " ")
	w.changed(e.Args[1])
}

// changed writes an operand of an update expression.
func (w *writer) changed(e *Expr) {
	if e.Op != OpCall {
		w.operand(e)
		return
	}
	if e.Name != "list_append" && e.Name != "if_not_exists" {
		w.refuse("Unrecognized function: " + e.Name + " at " + e.Pos.String())
		return
	}
	if len(e.Args) != 2 {
		w.refuse("Incorrect number of operands for operator or function; operator or " +
			"function: " + e.Name + ", number of operands: " + strconv.Itoa(len(e.Args)))
		return
	}
	w.write(e.Name, "(")
	w.changed(e.Args[0])
	w.write(", ")
	w.changed(e.Args[1])
	w.write(")")
}
