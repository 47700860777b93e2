package rest

import (
	"context"
	"slices"

	"github.com/exchequer-dev/exchequer/singletable"
)

// models returns the designs of all systems.
func (a *API) models() []*singletable.Model {
	return slices.Concat(
		[]*singletable.Model{a.deps.Ledger.Model(), a.deps.Locations.Model()}, a.deps.Models,
		a.deps.Personal, []*singletable.Model{a.deps.Payments.Model()})
}

// currentModels is models with the numbers of shards as they are now: one that is out of date would
// hide what is in newer shards. If they cannot be read, what is asked next fails for the same
// reason.
func (a *API) currentModels(ctx context.Context) []*singletable.Model {
	unmetered, _ := singletable.WithMeter(ctx)
	_, _ = a.deps.Ledger.Epochs(unmetered)
	_, _ = a.deps.Payments.Epochs(unmetered)
	_, _ = a.deps.Locations.Shards(unmetered)
	return a.models()
}
