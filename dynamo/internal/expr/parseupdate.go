package expr

var updateKeywords = clauseNames[:]

// update parses a whole update expression. Its clauses can have any order.
func (p *parser) update() {
	p.keywords = updateKeywords
	var seen [clauseCount]bool
	for {
		c := p.clause()
		if p.syntax != "" {
			return
		}
		if seen[c] {
			p.report(problemRepeated, `The "`+c.String()+
				`" section can only be used once in an update expression;`)
		}
		seen[c] = true
		p.actions(c)
		if p.tok.kind == tokenEnd {
			break
		}
	}
	for i := range p.out.actions {
		p.out.paths = append(p.out.paths, p.out.actions[i].target)
	}
}

// clause parses the keyword at the beginning of a clause.
func (p *parser) clause() clause {
	for c := range clauseCount {
		if p.tok.keyword(clauseNames[c]) {
			p.advance()
			return c
		}
	}
	p.fail()
	return 0
}

// actions parses the actions of a clause.
func (p *parser) actions(c clause) {
	for {
		a := action{clause: c, target: p.path()}
		switch c {
		case clauseSet:
			p.expect("=")
			p.assigned(&a)
		case clauseAdd, clauseDelete:
			a.left = p.value()
		}
		p.out.actions = append(p.out.actions, a)
		if !p.accept(",") {
			return
		}
	}
}

// assigned parses the right side of a SET: an operand or the sum of two, with or without
// parentheses.
func (p *parser) assigned(a *action) {
	if !p.accept("(") {
		a.left = p.plainOperand()
		p.sum(a)
		return
	}
	p.assigned(a)
	p.expect(")")
	if a.sum == arithmeticNone {
		a.left = p.parenthesize(a.left)
		p.sum(a)
		return
	}
	if a.parenthesized {
		p.redundant = true
	}
	a.parenthesized = true
}

// sum parses the rest of a sum, if there is one. A sum has exactly two operands.
func (p *parser) sum(a *action) {
	switch {
	case p.accept("+"):
		a.sum = arithmeticPlus
	case p.accept("-"):
		a.sum = arithmeticMinus
	default:
		return
	}
	p.operators++
	a.right = p.operand()
}

// projection parses a list of paths.
func (p *parser) projection() {
	for {
		p.out.paths = append(p.out.paths, p.path())
		if !p.accept(",") {
			break
		}
	}
	if p.tok.kind != tokenEnd {
		p.fail()
	}
}
