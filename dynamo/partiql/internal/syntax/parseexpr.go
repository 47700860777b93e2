package syntax

import (
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The precedence of operators. In PartiQL, comparisons by order bind tighter than those by
// equality.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindEquality
	bindOrder
	bindSum
	bindProduct
)

// infix is an operator between two terms. negated reports a NOT before it.
type infix struct {
	op      Op
	binds   int
	name    string // of an OpOther
	negated bool
}

// infix returns the operator at the current token and its number of tokens; 0 if there is none.
func (p *parser) infix() (infix, int) {
	t := p.tok()
	if t.isWord("not") {
		found, n := wordInfix(p.peek())
		switch {
		case n == 0 || found.op != OpIn && found.op != OpBetween && found.name != "LIKE":
			return infix{}, 0
		}
		found.negated = true
		return found, 2
	}
	if t.kind == tokenSymbol {
		return symbolInfix(t.text)
	}
	return wordInfix(t)
}

func wordInfix(t token) (infix, int) {
	switch t.keyword {
	case "and":
		return infix{op: OpAnd, binds: bindAnd}, 1
	case "or":
		return infix{op: OpOr, binds: bindOr}, 1
	case "in":
		return infix{op: OpIn, binds: bindEquality}, 1
	case "is":
		return infix{op: OpIs, binds: bindEquality}, 1
	case "between":
		return infix{op: OpBetween, binds: bindOrder}, 1
	case "like":
		return infix{op: OpOther, binds: bindOrder, name: "LIKE"}, 1
	}
	return infix{}, 0
}

func symbolInfix(text string) (infix, int) {
	switch text {
	case "=":
		return infix{op: OpEqual, binds: bindEquality}, 1
	case "<>", "!=":
		return infix{op: OpUnequal, binds: bindEquality}, 1
	case "<":
		return infix{op: OpLess, binds: bindOrder}, 1
	case "<=":
		return infix{op: OpLessEqual, binds: bindOrder}, 1
	case ">":
		return infix{op: OpGreater, binds: bindOrder}, 1
	case ">=":
		return infix{op: OpGreaterEqual, binds: bindOrder}, 1
	case "+":
		return infix{op: OpPlus, binds: bindSum}, 1
	case "-":
		return infix{op: OpMinus, binds: bindSum}, 1
	case "||":
		return infix{op: OpOther, binds: bindSum, name: text}, 1
	case "*", "/", "%":
		return infix{op: OpOther, binds: bindProduct, name: text}, 1
	}
	return infix{}, 0
}

// deeper enters a level of nesting, which shallower leaves. It fails and reports false beyond the
// maximum.
func (p *parser) deeper() bool {
	p.depth++
	if p.depth > p.deepest {
		p.fail("Nested too deeply")
		return false
	}
	return true
}

func (p *parser) shallower() { p.depth-- }

// expression parses terms that are joined by operators that bind tighter than the given one.
func (p *parser) expression(above int) *Expr {
	if !p.deeper() {
		return &Expr{}
	}
	defer p.shallower()
	left := p.operand()
	for p.err == "" {
		in, n := p.infix()
		if n == 0 || in.binds <= above {
			break
		}
		pos := p.tok().pos
		for range n {
			p.advance()
		}
		if p.atEnd() {
			p.fail("Missing right-hand side expression of infix operator")
			break
		}
		left = p.join(left, in, pos)
		if in.negated {
			left = &Expr{Op: OpNot, Pos: pos, Args: []*Expr{left}}
		}
	}
	return left
}

// join parses the right side of an operator.
func (p *parser) join(left *Expr, in infix, pos Pos) *Expr {
	e := &Expr{Op: in.op, Pos: pos, Name: in.name, Args: []*Expr{left}}
	switch in.op {
	case OpAnd, OpOr:
		return joined(e, left, p.expression(in.binds))
	case OpIs:
		return p.is(e)
	case OpIn:
		e.Args = append(e.Args, p.members())
		if e.Args[1].Op >= OpAnd { // It would be a list in parentheses.
			p.refuse(noList(e))
		}
	case OpBetween:
		e.Args = append(e.Args, p.expression(in.binds))
		p.expectWord("and")
		e.Args = append(e.Args, p.expression(in.binds))
	default:
		e.Args = append(e.Args, p.expression(in.binds))
		if in.name == "LIKE" && p.acceptWord("escape") {
			e.Args = append(e.Args, p.expression(in.binds))
		}
	}
	return e
}

// joined merges conditions with the same operator to one list, however they are nested.
func joined(e, left, right *Expr) *Expr {
	e.Args = e.Args[:0]
	for _, side := range []*Expr{left, right} {
		if side.Op == e.Op {
			e.Args = append(e.Args, side.Args...)
		} else {
			e.Args = append(e.Args, side)
		}
	}
	return e
}

// is parses the name of a type after IS.
func (p *parser) is(e *Expr) *Expr {
	pos := e.Pos
	negated := p.acceptWord("not")
	t := p.advance()
	e.Name = t.keyword
	switch {
	case t.isWord("double") && p.acceptWord("precision"):
		e.Name = "double precision"
	case t.isWord("character") && p.acceptWord("varying"):
		e.Name = "character varying"
	case !typeNames[t.keyword]:
		p.fail("Expected type name")
	}
	if p.accept("(") { // the length of a type, which is ignored
		for !p.atEnd() && !p.tok().is(")") {
			p.advance()
		}
		p.expect(")")
	}
	if negated {
		return &Expr{Op: OpNot, Pos: pos, Args: []*Expr{e}}
	}
	return e
}

// members parses the list after IN. Only here a list in parentheses may have one member.
func (p *parser) members() *Expr {
	if !p.tok().is("(") {
		return p.expression(bindEquality)
	}
	return p.sequence(OpList, ")")
}

func noList(in *Expr) string { return "A list is expected after the IN at " + in.Pos.String() }

// operand parses a term with the operators before it.
func (p *parser) operand() *Expr {
	t := p.tok()
	switch {
	case t.isWord("not"):
		p.advance()
		return &Expr{Op: OpNot, Pos: t.pos, Args: []*Expr{p.expression(bindNot)}}
	case t.is("+"), t.is("-"):
		p.advance()
		return p.signed(t)
	}
	return p.term()
}

// signed parses a term with a sign. The sign of a number is part of the number.
func (p *parser) signed(sign token) *Expr {
	e := p.expression(bindProduct)
	if e.Op == OpValue && e.Value.Kind() == dynamo.KindN && e.Value.N()[0] != '-' {
		text := e.Value.N()
		if sign.text == "-" {
			text = "-" + text
		}
		return &Expr{Op: OpValue, Pos: sign.pos, Value: dynamo.N(text)}
	}
	if sign.text == "+" {
		return e
	}
	return &Expr{Op: OpMinus, Pos: sign.pos, Args: []*Expr{e}}
}

// term parses a value, a path, a call, or an expression in parentheses.
func (p *parser) term() *Expr {
	t := p.tok()
	e := &Expr{Op: OpValue, Pos: t.pos}
	switch {
	case t.kind == tokenString:
		e.Value = dynamo.S(t.text)
	case t.kind == tokenNumber:
		e.Value = dynamo.N(t.text)
	case t.isWord("true"), t.isWord("false"):
		e.Value = dynamo.Bool(t.isWord("true"))
	case t.isWord("null"):
		e.Value = dynamo.Null()
	case t.isWord("missing"):
		e.Op = OpMissing
	case t.is("?"):
		e.Op, e.Parameter = OpParameter, p.out.Parameters
		p.out.Parameters++
	case t.is("("):
		return p.parenthesized()
	case t.is("["):
		return p.sequence(OpList, "]")
	case t.is("<<"):
		return p.sequence(OpBag, ">>")
	case t.is("{"):
		return p.tuple()
	case t.kind == tokenName && p.peek().is("(") && (t.keyword == "" || functions[t.keyword]):
		return p.call()
	case t.kind == tokenQuoted, t.kind == tokenName && t.keyword == "":
		return p.path()
	default:
		p.fail(unexpected(t))
		return e
	}
	p.advance()
	return e
}

// unexpected returns the message about a token that cannot begin a term.
func unexpected(t token) string {
	if operators[t.keyword] {
		return "Unexpected operator"
	}
	if t.keyword != "" {
		return "Unexpected keyword"
	}
	if _, n := symbolInfix(t.text); t.kind == tokenSymbol && n > 0 {
		return "Unexpected operator"
	}
	return "Unexpected term"
}

// parenthesized parses an expression in parentheses. Several expressions are a list.
func (p *parser) parenthesized() *Expr {
	pos := p.advance().pos
	first := p.expression(0)
	if !p.tok().is(",") {
		p.expect(")")
		return first
	}
	list := &Expr{Op: OpList, Pos: pos, Args: []*Expr{first}}
	for p.accept(",") {
		list.Args = append(list.Args, p.expression(0))
	}
	p.expect(")")
	return list
}

// sequence parses values between two brackets.
func (p *parser) sequence(op Op, closing string) *Expr {
	e := &Expr{Op: op, Pos: p.advance().pos}
	if p.accept(closing) {
		return e
	}
	for {
		e.Args = append(e.Args, p.expression(0))
		if !p.accept(",") {
			p.expect(closing)
			return e
		}
	}
}

// tuple parses a map, whose names are string literals.
func (p *parser) tuple() *Expr {
	e := &Expr{Op: OpMap, Pos: p.advance().pos}
	if p.accept("}") {
		return e
	}
	for {
		name := p.tok()
		if name.kind != tokenString {
			p.fail("Expected a text as the name of a member")
			return e
		}
		p.advance()
		p.expect(":")
		e.Names = append(e.Names, name.text)
		e.Args = append(e.Args, p.expression(0))
		if !p.accept(",") {
			p.expect("}")
			return e
		}
	}
}

func (p *parser) call() *Expr {
	name := p.advance()
	p.advance()
	e := &Expr{Op: OpCall, Pos: name.pos, Name: strings.ToLower(name.text)}
	if p.accept(")") {
		return e
	}
	for {
		if t := p.tok(); p.accept("*") {
			e.Args = append(e.Args, &Expr{Op: OpStar, Pos: t.pos})
		} else {
			e.Args = append(e.Args, p.expression(0))
		}
		if !p.accept(",") {
			p.expect(")")
			return e
		}
	}
}

// path parses the path to an attribute.
func (p *parser) path() *Expr {
	first := p.advance()
	e := &Expr{Op: OpPath, Pos: first.pos}
	e.Path = Path{{Name: first.text, Index: NotIndexed}}
	for p.err == "" {
		switch {
		case p.accept("."):
			e.Path = append(e.Path, p.member())
		case p.accept("["):
			e.Path = append(e.Path, p.element())
			p.expect("]")
		default:
			for _, s := range e.Path {
				if s.Index == NotIndexed && s.Name == "" {
					p.refuse(emptyPart)
				}
			}
			return e
		}
	}
	return e
}

// member parses the name after a dot.
func (p *parser) member() Step {
	t := p.advance()
	switch {
	case t.is("*"):
		p.refuse("Unexpected path component at " + t.pos.String())
		return Step{Name: t.text, Index: NotIndexed}
	case t.kind != tokenQuoted && (t.kind != tokenName || t.keyword != ""):
		p.fail("Invalid path dot component")
	}
	return Step{Name: t.text, Index: NotIndexed}
}

// element parses the content of brackets in a path: a list index, or a name as a string literal.
func (p *parser) element() Step {
	t := p.tok()
	if t.kind == tokenString {
		p.advance()
		return Step{Name: t.text, Index: NotIndexed}
	}
	if t.kind == tokenNumber && digits(t.text) == len(t.text) {
		p.advance()
		index, err := strconv.ParseInt(t.text, 10, 32)
		if err != nil {
			p.refuse("List index is not within the allowable range; index: [" + t.text + "]")
		}
		return Step{Index: int(index)}
	}
	if !p.accept("*") {
		p.expression(0)
	}
	p.refuse("Unexpected path component at " + t.pos.String())
	return Step{}
}
