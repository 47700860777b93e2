package statements

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// ruleset is a user's rules, ready to be tried. It is not safe for concurrent use.
type ruleset struct {
	rules []readyRule
	texts map[string]string // Of the tags that the rules set, by id.
}

type readyRule struct {
	Rule
	conditions []readyCondition
}

// readyCondition is a condition with what is made of its text once.
type readyCondition struct {
	Condition
	text   string
	regexp *regexp.Regexp
}

// ruleset reads the user's rules, those that are not disabled.
func (p rulebook) ruleset(ctx context.Context) (*ruleset, error) {
	rules, err := p.Rules(ctx)
	if err != nil {
		return nil, err
	}
	return p.rulesetOf(ctx, slices.DeleteFunc(rules, func(r Rule) bool { return r.Disabled }))
}

// rulesetOf makes rules ready, in their order. A tag that was merged into another is the other one
// at once, also before the job has come to the rule; one that is gone otherwise is left out.
func (p rulebook) rulesetOf(ctx context.Context, rules []Rule) (*ruleset, error) {
	r := &ruleset{texts: map[string]string{}}
	var ids []string
	for _, rule := range rules {
		ready := readyRule{Rule: rule}
		for _, c := range rule.Conditions {
			one := readyCondition{Condition: c, text: ruleText(c.Text)}
			if c.Op == OpRegexp {
				// One that another program wrote, and that cannot be read, never holds.
				one.regexp, _ = compileRegexp(c.Text)
			}
			ready.conditions = append(ready.conditions, one)
		}
		r.rules = append(r.rules, ready)
		ids = append(ids, rule.Set.TagIDs...)
	}
	if len(ids) == 0 {
		return r, nil
	}
	var err error
	if r.texts, err = p.tagger().textsOf(ctx, ids); err != nil ||
		len(r.texts) == len(distinct(ids)) {
		return r, err
	}
	gone, err := p.tagger().successors(ctx, r.texts)
	if err != nil {
		return nil, err
	}
	for i := range r.rules {
		// The copy keeps the rule of the caller as it is.
		set := &r.rules[i].Set
		set.TagIDs = slices.Clone(set.TagIDs)
		for j, id := range set.TagIDs {
			if next := gone[id]; next != "" {
				set.TagIDs[j] = next
			}
		}
	}
	return r, nil
}

// apply lets the rules set what no person has set, and reports whether they changed anything. It
// looks at what the bank wrote, which never changes.
func (r *ruleset) apply(t *Transaction) bool { return r.try(t, nil) }

// try is apply for some fields alone; none means all.
func (r *ruleset) try(t *Transaction, only []string) bool {
	if len(r.rules) == 0 {
		return false
	}
	s := setter{t: t, only: only, texts: r.texts}
	row := facts{t: t}
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.holds(&row) {
			continue
		}
		s.set(rule)
		if rule.Stop {
			break
		}
	}
	return s.changed
}

// setter sets fields of one row. The first rule to set a field wins.
type setter struct {
	t       *Transaction
	only    []string
	texts   map[string]string
	taken   [3]bool // The merchant, the notes and the transfer were set.
	changed bool
}

func (s *setter) set(r *readyRule) {
	t := s.t
	if name := r.Set.Merchant; name != "" && s.take(0, FieldMerchant) && t.Merchant != name {
		t.Merchant = name
		s.ruled(FieldMerchant, r.ID)
	}
	if notes := r.Set.Notes; notes != "" && s.take(1, FieldNotes) && t.Notes != notes {
		t.Notes = notes
		s.ruled(FieldNotes, r.ID)
	}
	if is := r.Set.Transfer; is != nil && s.take(2, FieldTransfer) && t.Transfer != *is {
		t.Transfer = *is
		s.ruled(FieldTransfer, r.ID)
	}
	// The tags of a divided row are those of its parts, which no rule knows.
	if len(r.Set.TagIDs) > 0 && len(t.Splits) == 0 && s.free(FieldTags) {
		s.addTags(r)
	}
}

func (s *setter) addTags(r *readyRule) {
	t := s.t
	for _, id := range r.Set.TagIDs {
		text, there := s.texts[id]
		if !there || slices.Contains(t.TagIDs, id) || len(t.TagIDs) >= TagsOfOneMax {
			continue
		}
		for len(t.Tags) < len(t.TagIDs) {
			t.Tags = append(t.Tags, "") // Another program left texts out.
		}
		t.TagIDs, t.Tags = append(t.TagIDs, id), append(t.Tags[:len(t.TagIDs)], text)
		s.ruled(FieldTags, r.ID)
	}
}

// free reports whether rules may set a field.
func (s *setter) free(field string) bool {
	return !s.t.IsEdited(field) && (s.only == nil || slices.Contains(s.only, field))
}

func (s *setter) take(i int, field string) bool {
	if s.taken[i] || !s.free(field) {
		return false
	}
	s.taken[i] = true
	return true
}

func (s *setter) ruled(field, rule string) {
	if s.t.Ruled == nil {
		s.t.Ruled = map[string]string{}
	}
	s.t.Ruled[field] = rule
	s.changed = true
}

// facts are what conditions look at in one row, each made when it is first asked for.
type facts struct {
	t     *Transaction
	ready [5]bool
	plain [5]string // As the bank wrote it, on one line.
	lower [5]string
}

// The places of fields among facts.
var factOf = map[RuleField]int{
	OnText: 0, OnMerchant: 1, OnCounterparty: 2, OnReference: 3, OnCategory: 4,
}

func (f *facts) text(field RuleField) (plain, lower string) {
	i := factOf[field]
	if !f.ready[i] {
		switch field {
		case OnText:
			plain = f.t.Text
		case OnMerchant:
			plain = book.MerchantOfText(f.t.Text)
		case OnCounterparty:
			plain = f.t.Counterparty
		case OnReference:
			plain = f.t.Reference
		case OnCategory:
			plain = f.t.Category
		}
		plain = book.PlainLine(plain)
		f.ready[i], f.plain[i], f.lower[i] = true, plain, strings.ToLower(plain)
	}
	return f.plain[i], f.lower[i]
}

// ruleText is a text as texts are compared: in lower case, with single blanks.
func ruleText(text string) string { return strings.ToLower(book.PlainLine(text)) }

func (r *readyRule) holds(row *facts) bool {
	for i := range r.conditions {
		if r.conditions[i].holds(row) == r.Any {
			return r.Any
		}
	}
	return !r.Any && len(r.conditions) > 0
}

func (c *readyCondition) holds(row *facts) bool { return c.is(row) != c.Not }

func (c *readyCondition) is(row *facts) bool {
	switch c.Field {
	case OnAccount:
		return row.t.AccountID == c.Text
	case OnCurrency:
		return strings.EqualFold(string(row.t.Currency), c.Text)
	case OnAmount:
		return c.isAmount(row.t)
	}
	plain, lower := row.text(c.Field)
	switch c.Op {
	case OpContains:
		return strings.Contains(lower, c.text)
	case OpEquals:
		return lower == c.text
	case OpBegins:
		return strings.HasPrefix(lower, c.text)
	case OpEnds:
		return strings.HasSuffix(lower, c.text)
	case OpRegexp:
		return c.regexp != nil && c.regexp.MatchString(plain)
	}
	return false
}

func (c *readyCondition) isAmount(t *Transaction) bool {
	if c.Amount == nil {
		return false
	}
	order := t.Amount.Cmp(*c.Amount)
	switch c.Op {
	case OpEquals:
		return order == 0
	case OpLess:
		return order < 0
	case OpMore:
		return order > 0
	case OpBetween:
		return order >= 0 && c.To != nil && t.Amount.Cmp(*c.To) <= 0
	}
	return false
}
