package statements_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestTheModelIsSound(t *testing.T) {
	report := open(t, statements.Options{}).Model().Check()
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	for _, w := range report.Warnings {
		t.Log(w)
	}
}

func TestAnAppStartsWithOneQuery(t *testing.T) {
	b := open(t, statements.Options{})
	ctx, p := t.Context(), b.person("user-1234abcd")
	if _, err := p.SaveProfile(ctx, "user@example.com", statements.Preferences{
		Currency: "NZD", TimeZone: "Pacific/Auckland"}, 0); err != nil {
		t.Fatal(err)
	}
	a := b.account(p, "Everyday Checking")
	tag, made, err := p.CreateTag(ctx, " Groceries ")
	if err != nil || !made {
		t.Fatal(made, err)
	}
	again, made, err := p.CreateTag(ctx, "groceries")
	if err != nil || made || again.ID != tag.ID {
		t.Errorf("a second tag in another case: %v %v %v", again, made, err)
	}
	metered, meter := singletable.WithMeter(ctx)
	start, err := p.Start(metered)
	if err != nil {
		t.Fatal(err)
	}
	if !storetest.Strict() && meter.Calls() != 1 {
		t.Errorf("%d calls", meter.Calls())
	}
	if start.Profile == nil || start.Profile.Email != "user@example.com" {
		t.Errorf("profile %v", start.Profile)
	}
	if diff := cmp.Diff([]statements.Account{a}, start.Accounts,
		cmp.Comparer(money.Decimal.Equal)); diff != "" {
		t.Error(diff)
	}
	if len(start.Tags) != 1 || start.Tags[0].Text != "Groceries" {
		t.Errorf("tags: %v", start.Tags)
	}
	other, err := b.person("user-2").Start(ctx)
	if err != nil || other.Profile != nil || other.Accounts != nil || other.Tags != nil {
		t.Errorf("another user sees %v %v", other, err)
	}
}

func TestEqualRequestsForAnAccountAtOnceMakeOne(t *testing.T) {
	p := open(t, statements.Options{}).person("someone")
	n := statements.NewAccount{ID: "everyday", Name: "Everyday", Currency: "NZD"}
	var (
		wg   sync.WaitGroup
		made atomic.Int32
	)
	for range 20 {
		wg.Go(func() {
			a, first, err := p.CreateAccount(t.Context(), n)
			if err != nil || a.Name != n.Name {
				t.Errorf("got %v, %v", a, err)
			}
			if first {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
	n.Name = "Another"
	if _, _, err := p.CreateAccount(t.Context(), n); !errors.Is(err, statements.ErrKeyUsed) {
		t.Errorf("another one with the id: %v", err)
	}
}
