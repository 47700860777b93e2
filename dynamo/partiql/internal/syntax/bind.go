package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

const (
	messageParameters = "Number of parameters in request and statement don't match."
	messageEmptyBag   = "Empty bags are not supported"
)

// Binding is a statement with the parameters of one call. It translates parts of the statement to
// expressions and collects their placeholders. It is not safe for concurrent use.
type Binding struct {
	statement  *Statement
	parameters []dynamo.Value
	names      map[string]string // placeholders by attribute name
	// Expressions holds the placeholders of all expressions translated so far.
	Expressions dynamo.Expressions
}

// Bind combines the statement with its parameters. The error is a *dynamo.Error: the number of
// parameters is wrong, or one is not a valid value.
func (s *Statement) Bind(parameters []dynamo.Value) (*Binding, error) {
	b := &Binding{statement: s}
	for _, v := range parameters {
		if err := checkNumbers(v, 1); err != nil {
			return nil, err
		}
		c, err := expr.CheckValue(v)
		if err != nil {
			return nil, err
		}
		b.parameters = append(b.parameters, c)
	}
	if len(parameters) != s.Parameters {
		return nil, dynamo.Invalid(messageParameters)
	}
	return b, nil
}

// Renew returns a binding of the same statement and parameters without placeholders.
func (b *Binding) Renew() *Binding {
	return &Binding{statement: b.statement, parameters: b.parameters}
}

// checkNumbers refuses numbers in a parameter that the service cannot parse or misinterprets: it
// stores exponents and scales in 32 bits, where they overflow. Values that are nested too deeply
// are refused elsewhere.
func checkNumbers(v dynamo.Value, level int) error {
	if v.Checked() || level > expr.ValueLevelsMax {
		return nil
	}
	switch v.Kind() {
	case dynamo.KindN:
		return checkExponent(v.N())
	case dynamo.KindNS:
		for _, text := range v.NS() {
			if err := checkExponent(text); err != nil {
				return err
			}
		}
	case dynamo.KindL:
		for _, e := range v.L() {
			if err := checkNumbers(e, level+1); err != nil {
				return err
			}
		}
	case dynamo.KindM:
		for _, e := range v.M() {
			if err := checkNumbers(e, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkExponent(text string) error {
	unsigned := strings.TrimLeft(text, "+-")
	// Numbers without a long exponent, and invalid numbers, are checked elsewhere.
	if e := strings.IndexAny(unsigned, "eE"); e < 0 || len(unsigned)-e < len("e999999999") ||
		numberLength(unsigned) < len(unsigned) {
		return nil
	}
	scale, ok := scaleOf(unsigned)
	if !ok || scale < math.MinInt32 || scale > math.MaxInt32 {
		err := &dynamo.NumberError{Reason: dynamo.NumberUnreadable, Text: text}
		return dynamo.Invalid(err.Error())
	}
	mantissa := unsigned[:strings.IndexAny(unsigned, "eE")]
	precision := len(strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0"))
	if int64(precision)-scale > math.MaxInt32 {
		err := &dynamo.NumberError{Reason: dynamo.NumberUnderflow}
		return dynamo.Invalid(err.Error())
	}
	return nil
}

// Constant reports whether the value of an expression does not depend on the item.
func (e *Expr) Constant() bool {
	switch e.Op {
	case OpValue, OpParameter:
		return true
	case OpList, OpMap, OpBag, OpPlus, OpMinus:
		for _, part := range e.Args {
			if !part.Constant() {
				return false
			}
		}
		return true
	}
	return false
}

// Value returns the value of a constant in canonical form. The error is a *dynamo.Error: the
// expression is not a constant, or its value is not valid in DynamoDB.
func (b *Binding) Value(e *Expr) (dynamo.Value, error) {
	v, err := b.value(e, "root")
	if err != nil {
		return dynamo.Value{}, err
	}
	return expr.CheckValue(v)
}

// value evaluates a part of a constant at the given place, which messages name.
func (b *Binding) value(e *Expr, place string) (dynamo.Value, error) {
	switch e.Op {
	case OpValue:
		if e.Value.Kind() == dynamo.KindN {
			return number(e.Value.N(), place)
		}
		return e.Value, nil
	case OpParameter:
		return b.parameters[e.Parameter], nil
	case OpList:
		elems := make([]dynamo.Value, len(e.Args))
		for i, part := range e.Args {
			v, err := b.value(part, place+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return v, err
			}
			elems[i] = v
		}
		return dynamo.L(elems...), nil
	case OpMap:
		members, err := b.members(e, place+".")
		return dynamo.M(members), err
	case OpBag:
		return b.bag(e, place)
	case OpPlus, OpMinus:
		return b.sum(e, place)
	}
	return dynamo.Value{}, dynamo.Invalid("Unsupported data type: " + e.word() +
		" under key root at " + e.Pos.String())
}

// word returns the name of an expression that is not a value, for messages.
func (e *Expr) word() string {
	switch e.Op {
	case OpCall, OpOther:
		return e.Name
	case OpPath:
		return e.Path[0].Name
	case OpMissing:
		return "MISSING"
	}
	return e.Op.String()
}

// Item returns the item of a map, or of a parameter that is a map.
func (b *Binding) Item(e *Expr) (dynamo.Item, error) {
	switch e.Op {
	case OpMap:
		// Places begin at each attribute, because an item itself has no name.
		members, err := b.members(e, "")
		if err != nil {
			return nil, err
		}
		return expr.CheckItem(members)
	case OpParameter:
		if v := b.parameters[e.Parameter]; v.Kind() == dynamo.KindM {
			return v.M(), nil
		}
	}
	return nil, dynamo.Invalid(notWellFormed + "Expected a tuple in VALUE")
}

// members returns the members of a map. The last of several members with one name is used. Without
// a prefix they are the attributes of an item.
func (b *Binding) members(e *Expr, prefix string) (map[string]dynamo.Value, error) {
	members := make(map[string]dynamo.Value, len(e.Args))
	for i, part := range e.Args {
		place := "root"
		if prefix != "" {
			place = prefix + e.Names[i]
		}
		v, err := b.value(part, place)
		if err != nil {
			return nil, err
		}
		members[e.Names[i]] = v
	}
	return members, nil
}

func number(text, place string) (dynamo.Value, error) {
	canonical, err := dynamo.CanonicalNumber(text)
	if err != nil {
		return dynamo.Value{}, dynamo.Invalid(err.Error() + " under " + place)
	}
	return dynamo.CanonicalN(canonical), nil
}

// bag returns the set of a bag.
func (b *Binding) bag(e *Expr, place string) (dynamo.Value, error) {
	if len(e.Args) == 0 {
		return dynamo.Value{}, dynamo.Invalid(messageEmptyBag)
	}
	var strings, numbers []string
	var binaries [][]byte
	for i, part := range e.Args {
		v, err := b.value(part, place+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return v, err
		}
		switch v.Kind() {
		case dynamo.KindS:
			strings = append(strings, v.S())
		case dynamo.KindN:
			numbers = append(numbers, v.N())
		case dynamo.KindB:
			binaries = append(binaries, v.B())
		}
	}
	switch len(e.Args) {
	case len(strings):
		return dynamo.SS(strings...), nil
	case len(numbers):
		return dynamo.NS(numbers...), nil
	case len(binaries):
		return dynamo.BS(binaries...), nil
	}
	return dynamo.Value{}, dynamo.Invalid("A bag holds values of one type: all texts, all " +
		"numbers or all binary; the one at " + e.Pos.String() + " does not")
}

// Elements returns the values in the list of an IN. It reports false if they are not all constants.
func (b *Binding) Elements(list *Expr) (elems []dynamo.Value, ok bool, err error) {
	if !list.Constant() {
		return nil, false, nil
	}
	if list.Op == OpList || list.Op == OpBag {
		for _, part := range list.Args {
			v, err := b.Value(part)
			if err != nil {
				return nil, false, err
			}
			elems = append(elems, v)
		}
		return elems, true, nil
	}
	v, err := b.Value(list)
	if err != nil {
		return nil, false, err
	}
	elems, ok = elementsOf(v)
	return elems, ok, nil
}

// sum returns the sum or difference of constants, or a constant with its sign changed.
func (b *Binding) sum(e *Expr, place string) (dynamo.Value, error) {
	terms := make([]string, 0, 2)
	if len(e.Args) == 1 {
		terms = append(terms, "0")
	}
	for _, part := range e.Args {
		v, err := b.value(part, place)
		if err != nil {
			return v, err
		}
		if v.Kind() != dynamo.KindN {
			return dynamo.Value{}, dynamo.Invalid("Incorrect operand type for operator or " +
				"function; operator or function: " + e.Op.String() + ", operand type: " +
				v.Kind().String())
		}
		terms = append(terms, v.N())
	}
	add := dynamo.AddNumbers
	if e.Op == OpMinus {
		add = dynamo.SubtractNumbers
	}
	text, err := add(terms[0], terms[1])
	if err != nil {
		var refused *dynamo.NumberError
		if errors.As(err, &refused) {
			err = dynamo.Invalid(err.Error() + " under " + place)
		}
		return dynamo.Value{}, err
	}
	return dynamo.CanonicalN(text), nil
}
