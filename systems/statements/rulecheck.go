package statements

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// regexpStepsMax bounds what an expression unfolds to: "(a{100}){100}" is short and takes ten
// thousand steps of every character of every row.
const regexpStepsMax = 1_000

// checkedRule refuses a rule that cannot work, and returns it with texts trimmed.
func (p rulebook) checkedRule(ctx context.Context, r Rule) (Rule, error) {
	r.UserID, r.Name, r.Set.Merchant = p.id, book.PlainLine(r.Name), book.PlainLine(r.Set.Merchant)
	r.Set.TagIDs = distinct(r.Set.TagIDs)
	var wrong problem.Fields
	checkNewID(&wrong, r.ID)
	checkText(&wrong, "name", r.Name, 1, NameMax)
	if n := len(r.Conditions); n == 0 || n > ConditionsMax {
		wrong.Addf("conditions", "are %d, and must be 1 to %d", n, ConditionsMax)
	}
	for i, c := range r.Conditions[:min(len(r.Conditions), ConditionsMax)] {
		c.check(&wrong, fmt.Sprintf("conditions[%d].", i))
	}
	checkText(&wrong, "set.merchant", r.Set.Merchant, 0, NameMax)
	checkLines(&wrong, "set.notes", r.Set.Notes, 0, NotesMax)
	checkTagIDs(&wrong, "set.tagIds", r.Set.TagIDs)
	if r.Set.empty() {
		wrong.Add("set", "says nothing that the rule does")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return Rule{}, err
	}
	texts, err := p.tagger().textsOf(ctx, r.Set.TagIDs)
	if err != nil {
		return Rule{}, err
	}
	for _, id := range r.Set.TagIDs {
		if _, there := texts[id]; !there {
			return Rule{}, ErrNoTag.With("tag", id)
		}
	}
	for _, c := range r.Conditions {
		if c.Field == OnAccount {
			if _, err := p.Account(ctx, c.Text); err != nil {
				return Rule{}, err
			}
		}
	}
	return r, nil
}

// empty reports whether there is nothing to set.
func (s Setting) empty() bool {
	return s.Merchant == "" && s.Notes == "" && len(s.TagIDs) == 0 && s.Transfer == nil
}

func (c *Condition) check(wrong *problem.Fields, at string) {
	switch c.Field {
	case OnText, OnMerchant, OnCounterparty, OnReference, OnCategory:
		c.checkText(wrong, at)
	case OnAccount, OnCurrency:
		if c.Op != OpEquals {
			wrong.Addf(at+"op", "%q does not go with %s, equals does", c.Op, c.Field)
		}
		checkText(wrong, at+"text", c.Text, 1, NameMax)
	case OnAmount:
		c.checkAmount(wrong, at)
		return
	default:
		wrong.Addf(at+"field", "%q is none of text, merchant, counterparty, reference, category, "+
			"amount, account and currency", c.Field)
		return
	}
	if c.Amount != nil || c.To != nil {
		wrong.Addf(at+"amount", "does not go with %s", c.Field)
	}
}

func (c *Condition) checkText(wrong *problem.Fields, at string) {
	switch c.Op {
	case OpContains, OpEquals, OpBegins, OpEnds:
		checkText(wrong, at+"text", c.Text, 1, NameMax)
		if c.Text != "" && book.PlainLine(c.Text) == "" {
			wrong.Add(at+"text", "has blanks alone")
		}
	case OpRegexp:
		checkText(wrong, at+"text", c.Text, 1, RegexpMax)
		if _, err := compileRegexp(c.Text); err != nil && len(c.Text) <= RegexpMax {
			wrong.Addf(at+"text", "is no expression: %s", err)
		}
	default:
		wrong.Addf(at+"op", "%q does not go with %s; contains, equals, begins, ends and regexp do",
			c.Op, c.Field)
	}
}

func (c *Condition) checkAmount(wrong *problem.Fields, at string) {
	switch c.Op {
	case OpEquals, OpLess, OpMore, OpBetween:
	default:
		wrong.Addf(at+"op", "%q does not go with amount; equals, less, more and between do", c.Op)
	}
	if c.Text != "" {
		wrong.Add(at+"text", "does not go with amount")
	}
	if c.Amount == nil {
		wrong.Add(at+"amount", "is missing")
	}
	switch {
	case c.Op == OpBetween && c.To == nil:
		wrong.Add(at+"to", "is missing")
	case c.Op != OpBetween && c.To != nil:
		wrong.Add(at+"to", "goes with between alone")
	case c.To != nil && c.Amount != nil && c.Amount.Cmp(*c.To) > 0:
		wrong.Addf(at+"to", "is less than %s", c.Amount)
	}
}

// compileRegexp reads an expression that takes no notice of the case of letters.
func compileRegexp(text string) (*regexp.Regexp, error) {
	if len(text) > RegexpMax {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(text), RegexpMax)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s: %q", wrong.Code, wrong.Expr)
		}
		return nil, err
	}
	if regexpSteps(tree) > regexpStepsMax {
		return nil, fmt.Errorf("it repeats too much, more than %d steps", regexpStepsMax)
	}
	return regexp.Compile("(?i:" + text + ")")
}

// regexpSteps returns about how many steps an expression unfolds to, and stops counting when there
// are too many.
func regexpSteps(tree *syntax.Regexp) int {
	n := max(1, len(tree.Rune)/2)
	if tree.Op == syntax.OpLiteral {
		n = len(tree.Rune)
	}
	for _, sub := range tree.Sub {
		n += regexpSteps(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(1, tree.Min, tree.Max)
	}
	return min(n, 1_000*regexpStepsMax)
}
