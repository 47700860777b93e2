package syntax

import (
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// String formats the statement so that parsing the text gives the same statement.
func (s *Statement) String() string {
	var b strings.Builder
	switch s.Verb {
	case Exists:
		b.WriteString("EXISTS(")
		s.printQuery(&b)
		b.WriteString(")")
	case Select:
		s.printQuery(&b)
	case Insert:
		b.WriteString("INSERT INTO " + s.printTable() + " VALUE " + s.Value.String())
	case Update:
		s.printUpdate(&b)
	case Delete:
		b.WriteString("DELETE FROM " + s.printTable())
		s.printWhere(&b)
	}
	if s.Returning != ReturningNothing {
		b.WriteString(" RETURNING " + s.Returning.String() + " *")
	}
	return b.String()
}

func (s *Statement) printUpdate(b *strings.Builder) {
	if s.WhereFirst {
		b.WriteString("FROM " + s.printTable())
		s.printWhere(b)
	} else {
		b.WriteString("UPDATE " + s.printTable())
	}
	for _, c := range s.Changes {
		if c.Value == nil {
			b.WriteString(" REMOVE " + c.Target.String())
		} else {
			b.WriteString(" SET " + c.Target.String() + " = " + c.Value.String())
		}
	}
	if !s.WhereFirst {
		s.printWhere(b)
	}
}

func (s *Statement) printTable() string {
	if s.Index == "" {
		return quote(s.Table, '"')
	}
	return quote(s.Table, '"') + "." + quote(s.Index, '"')
}

func (s *Statement) printWhere(b *strings.Builder) {
	if s.Where != nil {
		b.WriteString(" WHERE " + s.Where.String())
	}
}

func (s *Statement) printQuery(b *strings.Builder) {
	b.WriteString("SELECT ")
	if s.Columns == nil {
		b.WriteString("*")
	}
	b.WriteString(listed(s.Columns) + " FROM " + s.printTable())
	s.printWhere(b)
	for i, o := range s.Order {
		if i == 0 {
			b.WriteString(" ORDER BY ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(o.Key.String())
		if o.Descending {
			b.WriteString(" DESC")
		}
	}
}

func quote(text string, mark byte) string {
	m := string(mark)
	return m + strings.ReplaceAll(text, m, m+m) + m
}

func listed(parts []*Expr) string {
	texts := make([]string, len(parts))
	for i, e := range parts {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

// String formats the expression so that parsing the text gives the same expression.
func (e *Expr) String() string {
	switch e.Op {
	case OpValue:
		return printValue(e.Value)
	case OpParameter:
		return "?"
	case OpList:
		return "[" + listed(e.Args) + "]"
	case OpBag:
		return "<<" + listed(e.Args) + ">>"
	case OpMap:
		members := make([]string, len(e.Args))
		for i, part := range e.Args {
			members[i] = quote(e.Names[i], '\'') + ": " + part.String()
		}
		return "{" + strings.Join(members, ", ") + "}"
	case OpPath:
		return e.Path.String()
	case OpMissing:
		return "MISSING"
	case OpStar:
		return "*"
	case OpCall:
		return e.Name + "(" + listed(e.Args) + ")"
	}
	return e.printOperator()
}

func (e *Expr) printOperator() string {
	switch {
	case e.Op == OpNot:
		return "NOT " + e.Args[0].inner()
	case e.Op == OpIs:
		return e.Args[0].inner() + " IS " + strings.ToUpper(e.Name)
	case e.Op == OpBetween:
		return e.Args[0].inner() + " BETWEEN " + e.Args[1].inner() + " AND " + e.Args[2].inner()
	case e.Op == OpMinus && len(e.Args) == 1:
		return "- " + e.Args[0].inner()
	}
	word := e.Op.String()
	if e.Op == OpOther {
		word = e.Name
	}
	if word == "LIKE" && len(e.Args) == 3 {
		return e.Args[0].inner() + " LIKE " + e.Args[1].inner() + " ESCAPE " + e.Args[2].inner()
	}
	parts := make([]string, len(e.Args))
	for i, part := range e.Args {
		parts[i] = part.inner()
	}
	return strings.Join(parts, " "+word+" ")
}

// inner formats an operand of an operator. It has parentheses if it is an operator itself. A list
// has only its brackets.
func (e *Expr) inner() string {
	if e.Op >= OpAnd {
		return "(" + e.String() + ")"
	}
	return e.String()
}

func printValue(v dynamo.Value) string {
	switch v.Kind() {
	case dynamo.KindS:
		return quote(v.S(), '\'')
	case dynamo.KindN:
		return v.N()
	case dynamo.KindBOOL:
		return strings.ToUpper(strconv.FormatBool(v.Bool()))
	}
	return "NULL"
}

// String formats the path with all names in quotes.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Index != NotIndexed:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(quote(s.Name, '"'))
	}
	return b.String()
}
