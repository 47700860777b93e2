package expr

import "strconv"

// Limits of an expression, from "Service, account, and table quotas in Amazon DynamoDB".
const (
	// textMax is the maximum length of an expression in bytes, before its placeholders are
	// replaced. It also limits the depth of the parser's recursion, because each level takes at
	// least one byte.
	textMax = 4096
	// operatorsMax is the maximum number of operators in an expression. Functions, parentheses and
	// the AND of a BETWEEN are not counted.
	operatorsMax = 300
	// levelsMax is the maximum number of steps in a document path.
	levelsMax = 32
	// listIndexMax is the maximum list index.
	listIndexMax = 1<<31 - 1
)

// slots numbers the placeholders of one kind that the expressions of a call share.
type slots struct {
	list  []string
	index map[string]int
}

func (s *slots) of(placeholder string) int {
	if slot, ok := s.index[placeholder]; ok {
		return slot
	}
	if s.index == nil {
		s.index = make(map[string]int)
	}
	slot := len(s.list)
	s.index[placeholder] = slot
	s.list = append(s.list, placeholder)
	return slot
}

// problem is an error of an expression that does not depend on its names and values.
type problem uint8

const (
	problemUnknown  problem = iota // a function that does not exist
	problemMisuse                  // a function where it is not allowed
	problemReserved                // a reserved word
	problemRepeated                // a clause that appears twice
	problemPath                    // a path that is too deep, or an index that is too large
	problemCount
)

// precedence returns the order in which problems are reported. The service uses another order for
// updates.
func (k kind) precedence() [problemCount]problem {
	if k == kindUpdate {
		return [...]problem{
			problemReserved, problemUnknown, problemMisuse, problemRepeated, problemPath,
		}
	}
	return [...]problem{
		problemUnknown, problemMisuse, problemReserved, problemRepeated, problemPath,
	}
}

// parser parses one expression. A syntax error ends it: from then on the parser is at the end of
// the text, and its result is not used. Other errors are kept until the end, because a later syntax
// error is reported first.
type parser struct {
	source          string
	last, tok, next token // the previous, the current and the next token
	keywords        []string
	names, values   *slots
	out             *parsed
	syntax          string // the syntax error, or ""
	operators       int
	redundant       bool // whether parentheses directly contain parentheses
	problems        [problemCount]string
}

// parse parses the text of an expression and numbers its placeholders.
func parse(k kind, text string, names, values *slots) *parsed {
	if len(text) > textMax {
		return &parsed{kind: k, refusal: "Expression size has exceeded the maximum allowed " +
			"size; expression size: " + strconv.Itoa(len(text))}
	}
	p := &parser{source: text, names: names, values: values, out: &parsed{kind: k}}
	p.tok = scan(text, 0)
	p.next = scan(text, p.tok.end)
	switch k {
	case kindUpdate:
		p.update()
	case kindProjection:
		p.projection()
	default:
		p.condition()
	}
	if refusal := p.refusal(); refusal != "" {
		return &parsed{kind: k, refusal: refusal}
	}
	p.finish()
	return p.out
}

// refusal returns the error of the text that the service reports first.
func (p *parser) refusal() string {
	switch {
	case p.syntax != "":
		return p.syntax
	case p.operators > operatorsMax:
		// The service stops counting at the first operator above the maximum.
		return "The expression contains too many operators; operator count: " +
			strconv.Itoa(operatorsMax+1)
	case p.redundant:
		return "The expression has redundant parentheses;"
	}
	for _, kind := range p.out.kind.precedence() {
		if p.problems[kind] != "" {
			return p.problems[kind]
		}
	}
	return ""
}

// finish computes the fields that depend only on the paths.
func (p *parser) finish() {
	for _, q := range p.out.paths {
		if q.named() {
			p.out.named = true
			return
		}
	}
	if k := p.out.kind; k == kindUpdate || k == kindProjection {
		p.out.clash = clash(p.out.paths, &scope{})
		if p.out.clash == "" {
			p.out.tree = branches(p.out.paths, &scope{})
		}
	}
}

func (p *parser) advance() {
	p.last, p.tok = p.tok, p.next
	p.next = scan(p.source, p.tok.end)
}

// fail reports that the current token is not allowed. The message shows it with its neighbours as
// they are written.
func (p *parser) fail() {
	if p.syntax != "" {
		return
	}
	if p.tok.kind == tokenEnd && p.last.end == 0 {
		p.syntax = "The expression can not be empty;"
		return
	}
	from, to := p.tok.start, p.tok.end
	if p.last.end > 0 {
		from = p.last.start
	}
	switch {
	case p.tok.kind == tokenEnd:
		to = p.last.end
	case p.next.kind != tokenEnd:
		to = p.next.end
	}
	p.syntax = `Syntax error; token: "` + p.tok.text + `", near: "` +
		p.source[min(from, to):to] + `"`
	end := token{kind: tokenEnd, start: len(p.source), end: len(p.source), text: endText}
	p.tok, p.next = end, end
	p.source = ""
}

// accept skips the given operator or bracket and reports true, if it is the current token.
func (p *parser) accept(symbol string) bool {
	if !p.tok.is(symbol) {
		return false
	}
	p.advance()
	return true
}

// expect skips the given operator or bracket, which must be the current token.
func (p *parser) expect(symbol string) {
	if !p.accept(symbol) {
		p.fail()
	}
}

// report keeps a problem unless there is an earlier one of its kind.
func (p *parser) report(kind problem, message string) {
	if p.problems[kind] == "" {
		p.problems[kind] = message
	}
}

// isKeyword reports whether the token is a keyword of this kind of expression and therefore not a
// name.
func (p *parser) isKeyword(t token) bool {
	for _, word := range p.keywords {
		if t.keyword(word) {
			return true
		}
	}
	return false
}

// path parses a document path.
func (p *parser) path() path {
	first, ok := p.name()
	if !ok {
		return path{{slot: unnamed, index: notIndexed}}
	}
	return p.steps(path{first})
}

// steps parses the rest of a path.
func (p *parser) steps(read path) path {
	for {
		switch {
		case p.accept("."):
			next, ok := p.name()
			if !ok {
				return read
			}
			read = append(read, next)
		case p.accept("["):
			read = append(read, p.listIndex())
			p.expect("]")
		default:
			if len(read) > levelsMax {
				p.report(problemPath, "The document path has too many nesting levels; "+
					"nesting levels: "+strconv.Itoa(len(read)))
			}
			return read
		}
	}
}

// name parses a name of a path or the placeholder of one.
func (p *parser) name() (step, bool) {
	t := p.tok
	switch {
	case t.kind == tokenName:
		p.advance()
		slot := p.names.of(t.text)
		p.out.names = appendNew(p.out.names, slot)
		return step{slot: slot, index: notIndexed}, true
	case t.kind == tokenIdentifier && !p.isKeyword(t):
		p.advance()
		if isReserved(t.text) {
			p.report(problemReserved,
				"Attribute name is a reserved keyword; reserved keyword: "+t.text)
		}
		return step{name: t.text, slot: unnamed, index: notIndexed}, true
	}
	p.fail()
	return step{}, false
}

func (p *parser) listIndex() step {
	t := p.tok
	if t.kind != tokenNumber {
		p.fail()
		return step{slot: unnamed}
	}
	p.advance()
	index, err := strconv.ParseInt(t.text, 10, 64)
	if err != nil || index > listIndexMax {
		p.report(problemPath, "List index is not within the allowable range; index: ["+t.text+"]")
		index = listIndexMax
	}
	return step{slot: unnamed, index: int(index)}
}

// value parses the placeholder of a value.
func (p *parser) value() operand {
	t := p.tok
	if t.kind != tokenValue {
		p.fail()
		return operand{kind: operandValue}
	}
	p.advance()
	slot := p.values.of(t.text)
	p.out.values = appendNew(p.out.values, slot)
	return operand{kind: operandValue, slot: slot}
}

// operand parses a path, a value or a call, with or without parentheses.
func (p *parser) operand() operand {
	if p.accept("(") {
		o := p.operand()
		p.expect(")")
		return p.parenthesize(o)
	}
	return p.plainOperand()
}

func (p *parser) plainOperand() operand {
	switch {
	case p.tok.kind == tokenValue:
		return p.value()
	case p.tok.kind == tokenIdentifier && p.next.is("(") && !p.isKeyword(p.tok):
		return p.call()
	}
	return operand{kind: operandPath, path: p.path()}
}

// parenthesize marks an operand as parenthesized. In a condition, a path may continue after its
// parentheses.
func (p *parser) parenthesize(o operand) operand {
	if o.parenthesized {
		p.redundant = true
	}
	o.parenthesized = true
	if p.out.kind != kindUpdate && o.kind == operandPath && (p.tok.is(".") || p.tok.is("[")) {
		o.path = p.steps(o.path)
		o.parenthesized = false
	}
	return o
}

// call parses a function with its operands.
func (p *parser) call() operand {
	name := p.tok.text
	p.advance()
	p.expect("(")
	c := &call{function: functionNamed(name)}
	for {
		c.args = append(c.args, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.checkCall(c, name)
	return operand{kind: operandCall, call: c}
}

// checkCall reports a function that is not allowed in this kind of expression, and nested calls
// that are not allowed as operands.
func (p *parser) checkCall(c *call, name string) {
	update := p.out.kind == kindUpdate
	switch {
	case c.function == functionUnknown:
		p.report(problemUnknown, "Invalid function name; function: "+name)
	case update && !c.function.forUpdate():
		p.report(problemMisuse,
			"The function is not allowed in an update expression; function: "+name)
	case !update && c.function.forUpdate():
		p.report(problemMisuse,
			"The function is not allowed in a condition expression; function: "+name)
	}
	for i := range c.args {
		if !update || c.function == functionListAppend {
			p.checkUse(&c.args[i])
		}
	}
}

// checkUse reports a call that is used as a value but does not return one. Only size does, and in
// an update if_not_exists.
func (p *parser) checkUse(o *operand) {
	if o.kind != operandCall {
		return
	}
	switch f := o.call.function; f {
	case functionUnknown, functionSize, functionIfNotExists:
	default:
		p.misuse(f)
	}
}

func (p *parser) misuse(f function) {
	p.report(problemMisuse, "The function is not allowed to be used this way in an "+
		"expression; function: "+f.String())
}

// appendNew appends a slot unless it is in the list.
func appendNew(list []int, slot int) []int {
	for _, s := range list {
		if s == slot {
			return list
		}
	}
	return append(list, slot)
}
