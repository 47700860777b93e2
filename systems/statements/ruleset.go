package statements

import "context"

// ruleset is a user's rules, ready to be tried.
type ruleset struct{ rules []Rule }

// ruleset reads the user's rules.
func (p *Person) ruleset(ctx context.Context) (*ruleset, error) {
	r := &ruleset{}
	for rule, err := range p.model().rulesOf.All(ctx, p.store(), OfUser{p.id}) {
		if err != nil {
			return nil, failed("read rules", err)
		}
		r.rules = append(r.rules, rule)
	}
	return r, nil
}

// apply lets the rules set what no person has set, and reports whether they changed anything. It
// looks at what the bank wrote, which never changes.
func (r *ruleset) apply(t *Transaction) bool { return r.try(t, nil) }

func (r *ruleset) try(t *Transaction, only []string) bool { return false }
