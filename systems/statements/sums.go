package statements

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
)

// join adds another flow.
func (f *Flow) join(other Flow) error {
	in, err := f.In.Add(other.In)
	if err != nil {
		return err
	}
	out, err := f.Out.Add(other.Out)
	if err != nil {
		return err
	}
	f.In, f.Out, f.Count = in, out, f.Count+other.Count
	return nil
}

// net is what came in less what went out.
func (f Flow) net() (money.Decimal, error) { return f.In.Add(f.Out) }

func sumOf(flows []Flow) (sum Flow, err error) {
	for _, f := range flows {
		if err := sum.join(f); err != nil {
			return Flow{}, err
		}
	}
	return sum, nil
}

// own is what was spent and earned: all but the transfers between the person's own accounts.
func (s *Sheet) own() (Flow, error) {
	out := s.All
	err := out.join(Flow{s.Transfers.In.Neg(), s.Transfers.Out.Neg(), -s.Transfers.Count})
	return out, err
}

// labelsOf are the names of accounts and the texts of tags by their ids.
func labelsOf(s Start) map[string]string {
	labels := map[string]string{}
	for _, a := range s.Accounts {
		labels[a.ID] = a.Name
	}
	for _, t := range s.Tags {
		labels[t.ID] = t.Text
	}
	return labels
}

// accountsNamed returns the accounts with some ids, or all where there are none, in the order of
// their ids. The error is ErrNoAccount.
func (p *Person) accountsNamed(ctx context.Context, ids []string) ([]Account, error) {
	var all []Account
	for a, err := range modelOf(p).accountsOf.All(ctx, p.store(), OfUser{p.id}) {
		if err != nil {
			return nil, failed("list accounts", err)
		}
		all = append(all, a)
	}
	return chosen(all, ids)
}

// chosen are the accounts with some ids, or all.
func chosen(all []Account, ids []string) ([]Account, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(a Account) bool { return a.ID == id }) {
			return nil, ErrNoAccount.With("account", id)
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	var out []Account
	for _, a := range all {
		if slices.Contains(ids, a.ID) {
			out = append(out, a)
		}
	}
	return out, nil
}

// sheetsOfAll reads the sheets of several accounts, a few in parallel. The answer is in the order
// of the accounts.
func (p monthReader) sheetsOfAll(
	ctx context.Context, accounts []string, from, to Date,
) ([][]Sheet, error) {
	out := make([][]Sheet, len(accounts))
	err := sideBySide(ctx, len(accounts), func(ctx context.Context, i int) error {
		var err error
		out[i], err = p.sheets(ctx, accounts[i], from, to)
		return err
	})
	return out, err
}

func idsOf(accounts []Account) []string {
	ids := make([]string, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	return ids
}

// inOrder makes walks over maps the same each time.
func inOrder[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
