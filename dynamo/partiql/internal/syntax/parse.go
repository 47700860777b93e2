package syntax

import (
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// depthMax is the maximum nesting of the parts of a statement: parentheses, operators before a
// term, values in values. The service has an undocumented limit. This one is far above the 32
// levels of a value and far below the limit of a stack.
const depthMax = 256

const (
	notWellFormed = "Statement wasn't well formed, can't be processed: "
	leftover      = "Unexpected token after expression"
	noVerb        = "Expected data manipulation"
	noPath        = "Expected identifier for simple path"
	aliasing      = "Aliasing is not supported"
	emptyPart     = "Path component cannot be an empty string"
)

// parse parses a statement with at most the given nesting. The error is a *dynamo.Error.
func parse(text string, deepest int) (*Statement, error) {
	tokens, ok := tokenize(text)
	if !ok {
		return nil, dynamo.Invalid(notWellFormed)
	}
	p := &parser{tokens: tokens, deepest: deepest, out: &Statement{}}
	p.statement()
	if p.err != "" {
		return nil, dynamo.Invalid(p.err)
	}
	return p.out, nil
}

// parser parses one statement. The first error ends it: from then on the parser is at the end of
// the text, and its result is not used.
type parser struct {
	tokens  []token // the remaining tokens; the last is the end
	deepest int
	depth   int
	out     *Statement
	err     string
}

func (p *parser) tok() token { return p.tokens[0] }

func (p *parser) peek() token { return p.tokens[min(1, len(p.tokens)-1)] }

func (p *parser) advance() token {
	t := p.tokens[0]
	if len(p.tokens) > 1 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// stop ends parsing with an error.
func (p *parser) stop(message string) {
	if p.err == "" {
		p.err = message
	}
	p.tokens = p.tokens[len(p.tokens)-1:]
}

// fail ends parsing with the error of a malformed statement.
func (p *parser) fail(detail string) { p.stop(notWellFormed + detail) }

// refuse keeps the first error of a statement that can be parsed.
func (p *parser) refuse(message string) {
	if p.out.Refusal == "" {
		p.out.Refusal = message
	}
}

func (p *parser) accept(symbol string) bool {
	if !p.tok().is(symbol) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) acceptWord(keyword string) bool {
	if !p.tok().isWord(keyword) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(symbol string) {
	if !p.accept(symbol) {
		p.fail("Expected " + symbol)
	}
}

func (p *parser) expectWord(keyword string) {
	if !p.acceptWord(keyword) {
		p.fail("Expected " + strings.ToUpper(keyword))
	}
}

func (p *parser) atEnd() bool { return p.tok().kind == tokenEnd }

func (p *parser) statement() {
	switch t := p.tok(); {
	case p.acceptWord("select"):
		p.query()
	case p.acceptWord("insert"):
		p.insert()
	case p.acceptWord("update"):
		p.update()
	case p.acceptWord("delete"):
		p.delete()
	case p.acceptWord("from"):
		p.updateFrom()
	case t.isWord("exists") && p.peek().is("("):
		p.exists()
	default:
		p.noStatement()
		return
	}
	p.accept(";")
	if !p.atEnd() {
		p.fail(leftover)
	}
}

// noStatement reports a text without a verb. The service parses an expression in this case and
// returns a specific error for a test of a type.
func (p *parser) noStatement() {
	e := p.expression(0)
	p.accept(";")
	if p.err == "" && p.atEnd() && e.Op == OpIs {
		p.stop("Unsupported operation: IsType")
		return
	}
	p.err = ""
	p.fail(noVerb)
}

func (p *parser) query() {
	p.out.Verb = Select
	if !p.accept("*") {
		p.columns()
	}
	p.expectWord("from")
	if p.err != "" {
		return
	}
	if t := p.tok(); t.kind != tokenQuoted && (t.kind != tokenName || t.keyword != "") {
		p.fail(unexpected(t))
		return
	}
	p.table()
	p.noAlias()
	p.where()
	p.unsupported("group", "by")
	p.unsupported("having")
	p.order()
	p.unsupported("limit")
	p.unsupported("offset")
}

func (p *parser) columns() {
	for {
		e := p.expression(0)
		p.out.Columns = append(p.out.Columns, e)
		if e.Op != OpPath {
			p.refuse("Unexpected path component at " + e.Pos.String())
		}
		switch t := p.tok(); {
		case p.acceptWord("as"):
			p.advance()
			p.refuse(aliasing)
		case t.kind == tokenQuoted, t.kind == tokenName && t.keyword == "":
			p.advance()
			p.refuse(aliasing)
		}
		if !p.accept(",") {
			return
		}
	}
}

// unsupported parses a clause of PartiQL that DynamoDB does not support.
func (p *parser) unsupported(words ...string) {
	if !p.acceptWord(words[0]) {
		return
	}
	for _, word := range words[1:] {
		p.expectWord(word)
	}
	pos := p.tok().pos
	p.expression(0)
	p.refuse("Unsupported clause: " + strings.ToUpper(strings.Join(words, " ")) + " at " +
		pos.String())
}

// table parses the name of a table, and that of an index after it.
func (p *parser) table() {
	parts := []token{p.advance()}
	for p.accept(".") {
		t := p.advance()
		if t.kind != tokenQuoted && (t.kind != tokenName || t.keyword != "") {
			p.fail("Invalid path dot component")
			return
		}
		parts = append(parts, t)
	}
	for _, t := range parts {
		if t.text == "" {
			p.stop(emptyPart)
			return
		}
	}
	p.out.Table, p.out.TablePos = parts[0].text, parts[0].pos
	switch len(parts) {
	case 1:
	case 2:
		p.out.Index = parts[1].text
	default:
		p.stop("A path may contain at most 2 components in the FROM clause")
	}
}

// target parses the table of a statement that writes.
func (p *parser) target() {
	if t := p.tok(); t.kind != tokenQuoted && (t.kind != tokenName || t.keyword != "") {
		p.fail(noPath)
		return
	}
	p.table()
	if p.out.Index != "" {
		p.refuse("This operation is not supported on an index")
	}
}

// noAlias refuses an alias of the table.
func (p *parser) noAlias() {
	t := p.tok()
	if t.isWord("as") || t.kind == tokenQuoted || t.kind == tokenName && t.keyword == "" {
		p.stop(aliasing)
	}
}

func (p *parser) where() {
	if p.acceptWord("where") {
		p.out.Where = p.expression(0)
	}
}

func (p *parser) order() {
	if !p.acceptWord("order") {
		return
	}
	p.expectWord("by")
	for {
		o := Order{Key: p.expression(0)}
		if o.Key.Op != OpPath || len(o.Key.Path) != 1 {
			p.refuse("ORDER BY takes names of key attributes, not what is at " +
				o.Key.Pos.String())
		}
		if !p.acceptWord("asc") {
			o.Descending = p.acceptWord("desc")
		}
		p.out.Order = append(p.out.Order, o)
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) insert() {
	p.out.Verb = Insert
	p.expectWord("into")
	p.target()
	if p.out.Index != "" {
		p.stop("FROM clause may only contain a single table name in data manipulation " +
			"statements at " + p.out.TablePos.String())
	}
	given := p.acceptWord("value")
	p.out.Value = p.expression(0)
	switch {
	case p.err != "" || given:
	case !p.atEnd():
		p.fail(leftover)
	default:
		p.refuse("An INSERT needs VALUE before its item")
	}
}

func (p *parser) update() {
	p.out.Verb = Update
	p.target()
	p.noAlias()
	p.changes()
	p.where()
	p.returning()
}

// updateFrom parses an update that begins with FROM and has its conditions before its changes.
func (p *parser) updateFrom() {
	p.out.Verb, p.out.WhereFirst = Update, true
	p.target()
	p.noAlias()
	p.where()
	p.changes()
	p.returning()
}

func (p *parser) changes() {
	for p.err == "" {
		switch {
		case p.acceptWord("set"):
			for {
				target := p.attribute()
				p.expect("=")
				value := p.expression(0)
				p.out.Changes = append(p.out.Changes, Change{Target: target, Value: value})
				if !p.accept(",") {
					break
				}
			}
		case p.acceptWord("remove"):
			p.out.Changes = append(p.out.Changes, Change{Target: p.attribute()})
		case len(p.out.Changes) == 0:
			p.fail(noVerb)
		default:
			return
		}
	}
}

// attribute parses a path that is changed.
func (p *parser) attribute() *Expr {
	if t := p.tok(); t.kind != tokenQuoted && t.kind != tokenName {
		p.fail(noPath)
	}
	e := p.term()
	if e.Op != OpPath {
		p.fail(noPath)
	}
	return e
}

func (p *parser) delete() {
	p.out.Verb = Delete
	p.expectWord("from")
	p.target()
	p.noAlias()
	p.where()
	p.returning()
	if r := p.out.Returning; r != ReturningNothing && r != ReturningAllOld {
		p.refuse("Invalid returning clause: RETURNING " + r.String() +
			" *. Only RETURNING ALL OLD * is allowed in DELETE statements.")
	}
}

func (p *parser) returning() {
	if !p.acceptWord("returning") {
		return
	}
	all := p.acceptWord("all")
	if !all {
		p.expectWord("modified")
	}
	old := p.acceptWord("old")
	if !old {
		p.expectWord("new")
	}
	p.expect("*")
	switch {
	case all && old:
		p.out.Returning = ReturningAllOld
	case all:
		p.out.Returning = ReturningAllNew
	case old:
		p.out.Returning = ReturningModifiedOld
	default:
		p.out.Returning = ReturningModifiedNew
	}
}

func (p *parser) exists() {
	p.advance()
	p.expect("(")
	p.expectWord("select")
	p.query()
	p.expect(")")
	p.out.Verb = Exists
}
