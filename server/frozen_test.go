package server_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// Programs branch on kinds, codes and statuses, and stored API keys hold scopes: they are only ever
// added to.
func TestCodesAndScopesAreFrozen(t *testing.T) {
	var samples []frozen.Sample
	for _, kind := range problem.Kinds() {
		samples = append(samples, frozen.Sample{Name: "kind " + string(kind), Value: string(kind)})
	}
	for _, c := range rest.Catalogues() {
		for _, d := range c.Definitions() {
			if d.System() != "" {
				continue // It is among the shared ones.
			}
			samples = append(samples, frozen.Sample{
				Name: "code " + string(d.Code()), Value: string(d.Kind()),
			})
		}
	}
	for _, s := range api.Scopes() {
		samples = append(samples, frozen.Sample{Name: "scope " + string(s), Value: string(s)})
	}
	frozen.Check(t, "codes", samples...)
}
