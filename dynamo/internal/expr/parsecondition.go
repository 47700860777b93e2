package expr

// term is the content of parentheses or one side of a comparison: a condition, or an operand that
// is one side of a comparison.
type term struct {
	node          *node // nil for an operand
	operand       operand
	parenthesized bool
}

var conditionKeywords = []string{"AND", "OR", "NOT", "BETWEEN", "IN"}

// condition parses a whole condition. NOT binds tighter than AND, and AND tighter than OR.
func (p *parser) condition() {
	p.keywords = conditionKeywords
	root := p.asCondition(p.disjunction(false))
	if p.tok.kind != tokenEnd {
		p.fail()
	}
	p.out.root = root
	if p.syntax != "" {
		return
	}
	for _, leaf := range p.out.leaves {
		for i := range leaf.args {
			leaf.args[i].eachOperand(func(o *operand) {
				if o.kind == operandPath {
					p.out.paths = append(p.out.paths, o.path)
				}
			})
		}
	}
}

// disjunction parses conditions that are joined by OR. A single operand is allowed only directly
// within parentheses.
func (p *parser) disjunction(within bool) term {
	return p.joined("OR", opOr, within, func(within bool) term {
		return p.joined("AND", opAnd, within, p.negation)
	})
}

// joined parses one or more parts with a keyword between them.
func (p *parser) joined(word string, op operation, within bool, part func(bool) term) term {
	first := part(within)
	if !p.tok.keyword(word) {
		return first
	}
	n := &node{op: op, kids: []*node{p.asCondition(first)}}
	for p.tok.keyword(word) {
		p.operators++
		p.advance()
		n.kids = append(n.kids, p.asCondition(part(false)))
	}
	return term{node: n}
}

// negation parses a comparison with any number of NOTs before it.
func (p *parser) negation(within bool) term {
	count := 0
	for p.tok.keyword("NOT") {
		count++
		p.operators++
		p.advance()
	}
	if count == 0 {
		return p.comparison(within)
	}
	kid := p.asCondition(p.comparison(false))
	return term{node: &node{op: opNot, kids: []*node{kid}, not: count%2 == 1}}
}

// comparison parses a comparison, a BETWEEN, an IN, a call, or a condition in parentheses.
func (p *parser) comparison(within bool) term {
	t := p.primary()
	if t.node != nil {
		return t
	}
	o := t.operand
	o.parenthesized = t.parenthesized
	if op, ok := comparator(p.tok); ok {
		p.operators++
		p.advance()
		return p.leaf(op, []operand{o, p.operand()})
	}
	switch {
	case p.tok.keyword("BETWEEN"):
		p.operators++
		p.advance()
		low := p.operand()
		if !p.tok.keyword("AND") {
			p.fail()
		}
		p.advance()
		return p.leaf(opBetween, []operand{o, low, p.operand()})
	case p.tok.keyword("IN"):
		p.operators++
		p.advance()
		return p.leaf(opIn, append([]operand{o}, p.list()...))
	case o.kind == operandCall:
	case within && p.tok.is(")"):
	default:
		p.fail()
	}
	return t
}

// primary parses an operand, or a term in parentheses.
func (p *parser) primary() term {
	if !p.tok.is("(") {
		return term{operand: p.plainOperand()}
	}
	p.advance()
	t := p.disjunction(true)
	p.expect(")")
	if t.node == nil {
		t.operand.parenthesized = t.parenthesized
		t.operand = p.parenthesize(t.operand)
		t.parenthesized = t.operand.parenthesized
		return t
	}
	if t.parenthesized {
		p.redundant = true
	}
	t.parenthesized = true
	return t
}

// list parses the operands of an IN in their parentheses.
func (p *parser) list() []operand {
	p.expect("(")
	var list []operand
	for {
		list = append(list, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return list
}

// leaf returns a condition on operands.
func (p *parser) leaf(op operation, args []operand) term {
	for i := range args {
		p.checkUse(&args[i])
	}
	n := &node{op: op, args: args}
	p.out.leaves = append(p.out.leaves, n)
	return term{node: n}
}

// asCondition converts a call without a comparison to a condition. It refuses size, which returns a
// number.
func (p *parser) asCondition(t term) *node {
	if t.node != nil {
		return t.node
	}
	if t.operand.kind != operandCall {
		p.fail()
		return &node{op: opCall}
	}
	if f := t.operand.call.function; f == functionSize {
		p.misuse(f)
	}
	n := &node{op: opCall, args: []operand{t.operand}}
	p.out.leaves = append(p.out.leaves, n)
	return n
}

func comparator(t token) (operation, bool) {
	if t.kind != tokenSymbol {
		return 0, false
	}
	for op := opEqual; op <= opGreaterEqual; op++ {
		if t.text == op.String() {
			return op, true
		}
	}
	return 0, false
}
