package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// Counter is an item whose attributes come and go.
type Counter struct {
	ID   string
	N    *int64   `dynamodbav:",omitempty"`
	M    *int64   `dynamodbav:",omitempty"`
	Text string   `dynamodbav:",omitempty"`
	List []string `dynamodbav:",omitempty"`
	Set  []string `dynamodbav:",stringset,omitempty"`
}

type counters struct {
	table *st.Table
	e     *st.Entity[Counter]
	n, m  st.Field[Counter, *int64]
	text  st.Field[Counter, string]
	list  st.Field[Counter, []string]
	set   st.Field[Counter, []string]
}

func newCounters() *counters {
	c := &counters{table: st.NewTable("counters", st.Keys("PK"))}
	c.e = st.NewEntity[Counter](c.table, "Counter", st.Primary("C#<ID>"))
	c.n = st.FieldOf(c.e, func(v *Counter) **int64 { return &v.N })
	c.m = st.FieldOf(c.e, func(v *Counter) **int64 { return &v.M })
	c.text = st.FieldOf(c.e, func(v *Counter) *string { return &v.Text })
	c.list = st.FieldOf(c.e, func(v *Counter) *[]string { return &v.List })
	c.set = st.FieldOf(c.e, func(v *Counter) *[]string { return &v.Set })
	return c
}

func ptr(i int64) *int64 { return &i }

// anyStep draws one change or condition.
func (c *counters) anyStep(t *rapid.T) st.Step[Counter] {
	small := ptr(rapid.Int64Range(-2, 3).Draw(t, "value"))
	f := c.n
	if rapid.Bool().Draw(t, "other number") {
		f = c.m
	}
	word := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "word")
	words := []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "element")}
	switch rapid.IntRange(0, 12).Draw(t, "step") {
	case 0:
		return f.Set(small)
	case 1, 2, 3, 4:
		return f.Add(small)
	case 5:
		return f.Subtract(small)
	case 6:
		return f.Remove()
	case 7:
		return f.SetIfAbsent(small)
	case 8:
		return c.text.Set(word)
	case 9:
		return c.list.ListAppend(words)
	case 10:
		return c.set.Add(words)
	case 11:
		return c.set.Subtract(words)
	}
	return c.anyCond(t, 2)
}

func (c *counters) anyCond(t *rapid.T, depth int) st.Cond[Counter] {
	v := ptr(rapid.Int64Range(-1, 3).Draw(t, "bound"))
	f := c.n
	if rapid.Bool().Draw(t, "other number") {
		f = c.m
	}
	kinds := 11
	if depth > 0 {
		kinds = 14
	}
	switch rapid.IntRange(0, kinds).Draw(t, "condition") {
	case 0:
		return f.AtLeast(v)
	case 1:
		return f.AtMost(v)
	case 2:
		return f.LessThan(v)
	case 3:
		return f.MoreThan(v)
	case 4:
		return f.Equals(v)
	case 5:
		return f.NotEquals(v)
	case 6:
		return f.Within(v, ptr(*v+1))
	case 7:
		return f.In(v, ptr(*v+2))
	case 8:
		return f.Exists()
	case 9:
		return f.Missing()
	case 10:
		return c.text.Equals("a")
	case 11:
		return c.e.Exists()
	case 12:
		return st.Not(c.anyCond(t, depth-1))
	case 13:
		return st.Or(c.anyCond(t, depth-1), c.anyCond(t, depth-1))
	}
	return st.And(c.anyCond(t, depth-1), c.anyCond(t, depth-1))
}

// planned is an action of a transaction.
type planned struct {
	check bool
	conds []st.Cond[Counter]
	steps []st.Step[Counter]
}

func (c *counters) anyActions(t *rapid.T) []planned {
	var out []planned
	for range rapid.IntRange(2, 4).Draw(t, "actions") {
		var p planned
		if rapid.IntRange(0, 4).Draw(t, "check") == 0 {
			p.check = true
			p.conds = append(p.conds, c.anyCond(t, 2))
		} else {
			for range rapid.IntRange(1, 3).Draw(t, "steps") {
				p.steps = append(p.steps, c.anyStep(t))
			}
			if rapid.Bool().Draw(t, "upsert") {
				p.steps = append(p.steps, c.e.Upsert())
			}
		}
		out = append(out, p)
	}
	return out
}

// oneByOne does the actions in transactions of their own and reports whether all were done.
func (c *counters) oneByOne(ctx context.Context, s *st.Store, id string, actions []planned) (bool,
	error) {
	for _, p := range actions {
		tx := s.NewTx()
		c.addTo(tx, id, p)
		err := tx.Commit(ctx)
		if errors.Is(err, st.ErrConditionFailed) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *counters) addTo(tx *st.Tx, id string, p planned) {
	if p.check {
		c.e.CheckTx(tx, Counter{ID: id}, p.conds...)
		return
	}
	c.e.UpdateTx(tx, Counter{ID: id}, p.steps...)
}

// TestMergedActionsHaveTheEffectOfAllInARow compares a transaction whose actions were merged with
// the same actions carried out one after the other on a twin.
func TestMergedActionsHaveTheEffectOfAllInARow(t *testing.T) {
	c := newCounters()
	s, _ := openTables(t, c.table)
	ctx := context.Background()
	n, merged := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		a, b := fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)
		if rapid.IntRange(0, 3).Draw(t, "exists") > 0 {
			v := Counter{Text: rapid.SampledFrom([]string{"", "a"}).Draw(t, "text")}
			if rapid.Bool().Draw(t, "has N") {
				v.N = ptr(rapid.Int64Range(-1, 3).Draw(t, "N"))
			}
			for _, id := range []string{a, b} {
				v.ID = id
				if err := c.e.Put(ctx, s, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		actions := c.anyActions(t)
		tx := s.NewTx()
		for _, p := range actions {
			c.addTo(tx, a, p)
		}
		err := tx.Commit(ctx)
		var merge *st.MergeError
		if errors.As(err, &merge) {
			return // refused, naming the attribute
		}
		merged++
		done, errB := c.oneByOne(ctx, s, b, actions)
		var invalid *dynamo.Error
		if errB != nil {
			if !errors.As(errB, &invalid) && !errors.As(errB, &merge) {
				t.Fatal(errB)
			}
			return
		}
		switch {
		case err == nil && !done:
			t.Fatal("the transaction was done, but one by one an action is refused")
		case errors.Is(err, st.ErrConditionFailed) && done:
			t.Fatalf("the transaction was refused, but one by one all are done: %v", err)
		case err != nil && !errors.Is(err, st.ErrConditionFailed):
			t.Fatal(err)
		case err != nil:
			return
		}
		va, _, err1 := c.e.Get(ctx, s, Counter{ID: a}, st.Consistent())
		vb, _, err2 := c.e.Get(ctx, s, Counter{ID: b}, st.Consistent())
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		vb.ID = va.ID
		if diff := cmp.Diff(vb, va); diff != "" {
			t.Fatalf("one by one (-), merged (+):\n%s", diff)
		}
	})
	if merged < n/4 {
		t.Errorf("only %d of %d transactions could be merged", merged, n)
	}
}
