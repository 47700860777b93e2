package expr

import "github.com/exchequer-dev/exchequer/dynamo"

// longKinds are the names of types in the refusals of ADD and DELETE; all other messages use type
// descriptors. Sets have no name, because both clauses accept them.
var longKinds = [...]string{
	dynamo.KindS: "STRING", dynamo.KindN: "NUMBER", dynamo.KindB: "BINARY",
	dynamo.KindBOOL: "BOOLEAN", dynamo.KindNULL: "NULL", dynamo.KindL: "LIST",
	dynamo.KindM: "MAP", dynamo.KindBS: "",
}

// checkUpdate checks an update as a whole. It reports errors in the service's order of kinds.
func (e *parsed) checkUpdate(p *plan, sc *scope) string {
	if refusal := e.undefinedName(p, sc); refusal != "" {
		return refusal
	}
	if refusal := e.undefinedValue(p, sc); refusal != "" {
		return refusal
	}
	if refusal := e.checkPaths(sc); refusal != "" {
		return refusal
	}
	for i := range e.actions {
		if refusal := e.actions[i].checkAmount(sc); refusal != "" {
			return refusal
		}
	}
	for i := range e.actions {
		if refusal := e.actions[i].checkTypes(sc); refusal != "" {
			return refusal
		}
	}
	return ""
}

// checkAmount checks the operand of ADD, a number or a set, and that of DELETE, a set.
func (a *action) checkAmount(sc *scope) string {
	if a.clause != clauseAdd && a.clause != clauseDelete {
		return ""
	}
	kind := a.left.knownKind(sc)
	name := longKinds[kind]
	if name == "" || a.clause == clauseAdd && kind == dynamo.KindN {
		return ""
	}
	return "Incorrect operand type for operator or function; operator: " + a.clause.String() +
		", operand type: " + name
}

// checkTypes checks the functions and the sum of a SET.
func (a *action) checkTypes(sc *scope) string {
	if a.clause != clauseSet {
		return ""
	}
	operands := []*operand{&a.left, &a.right}
	if a.sum == arithmeticNone {
		operands = operands[:1]
	}
	for _, o := range operands {
		if refusal := o.checkCount(); refusal != "" {
			return refusal
		}
		if refusal := o.checkTypes(sc); refusal != "" {
			return refusal
		}
	}
	if a.sum == arithmeticNone {
		return ""
	}
	for _, o := range operands {
		switch k := o.knownKind(sc); k {
		case dynamo.Absent, dynamo.KindN:
		default:
			return wrongType(a.sum.String(), k.String())
		}
	}
	return ""
}
