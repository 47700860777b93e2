package singletable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// TestConditionsMeanWhatTheySay tries each condition on an account as a guard of an update, and as
// what the kit makes of the item that a failed guard found.
func TestConditionsMeanWhatTheySay(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	limit := st.FieldOf(b.accounts, func(a *Account) **st.Number { return &a.Limit })
	v := account("a", "100")
	v.Tags, v.Notes = []string{"x", "y"}, []string{"first note"}
	if err := b.accounts.Create(ctx, s, v); err != nil {
		t.Fatal(err)
	}
	ten := st.Number("10")
	tags := make([]string, 100)
	for name, c := range map[string]struct {
		cond  st.Cond[Account]
		holds bool
	}{
		"equals":             {b.balance.Equals("100.0"), true},
		"equals nothing":     {limit.Equals(nil), true},
		"not nothing":        {limit.NotEquals(nil), false},
		"differs if absent":  {limit.NotEquals(&ten), true},
		"absent is not less": {limit.LessThan(&ten), false},
		"less":               {b.balance.LessThan("100"), false},
		"at most":            {b.balance.AtMost("100"), true},
		"more":               {b.balance.MoreThan("99.9"), true},
		"within":             {b.balance.Within("50", "100"), true},
		"in":                 {b.status.In("closed", "active"), true},
		"not in":             {st.Not(b.status.In("closed", "active")), false},
		"begins":             {b.status.BeginsWith("act"), true},
		"text contains":      {b.status.Contains("tiv"), true},
		"set contains":       {b.tags.Contains("y"), true},
		"list contains":      {b.notes.Contains("note"), false},
		"exists":             {b.tags.Exists(), true},
		"missing":            {b.tags.Missing(), false},
		"item missing":       {b.accounts.Missing(), false},
		"or":                 {st.Or(b.tags.Missing(), b.status.Equals("active")), true},
		"and":                {st.And(b.tags.Exists(), b.status.Equals("closed")), false},
		"nothing to hold":    {st.And[Account](), true},
		"one of one":         {st.Or(b.status.Equals("active")), true},
	} {
		t.Run(name, func(t *testing.T) {
			tx := s.NewTx()
			b.accounts.CheckTx(tx, Account{ID: "a"}, b.accounts.Exists(), c.cond)
			err := tx.Commit(ctx)
			if (err == nil) != c.holds || err != nil && !errors.Is(err, st.ErrConditionFailed) {
				t.Errorf("holds: %t, error: %v", c.holds, err)
			}
		})
	}
	for name, c := range map[string]st.Cond[Account]{
		"order with nothing": limit.AtLeast(nil), "too many": b.status.In(tags...),
		"too few": b.status.In(),
	} {
		tx := s.NewTx()
		b.accounts.CheckTx(tx, Account{ID: "a"}, c)
		if tx.Err() == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}

func TestChangesThatMakeNoSenseAreRefused(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	at := Account{ID: "a"}
	id := st.FieldOf(b.accounts, func(a *Account) *string { return &a.ID })
	for want, step := range map[string]st.Step[Account]{
		"neither a Number nor a set":       b.status.Add("x"),
		"neither a Number nor a set ":      b.status.Subtract("x"),
		"it is not a list":                 b.balance.ListAppend("1"),
		"part of the primary key":          id.Set("b"),
		"there is nothing to add":          b.tags.Add(nil),
		"ReadFirst cannot be part of a tr": b.accounts.ReadFirst(),
	} {
		tx := s.NewTx()
		b.accounts.UpdateTx(tx, at, step)
		err := tx.Commit(ctx)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := b.accounts.Update(ctx, s, at, b.user.Set("u"), b.accounts.Upsert()); err == nil {
		t.Error("an upsert that leaves an index key unknown is allowed")
	}
	other := newBank()
	lost := st.FieldOf(other.accounts, func(*Account) *string { return new(string) })
	if _, err := other.accounts.Update(ctx, s, at, lost.Set("x")); err == nil {
		t.Error("a handle of no field can be used")
	}
}

func TestEnumsRefuseOtherValues(t *testing.T) {
	type Ticket struct{ ID, State string }
	table := st.NewTable("tickets", st.Keys("PK"))
	e := st.NewEntity[Ticket](table, "Ticket", st.Primary("T#<ID>"),
		st.Enum("State", "open", "done"), st.About("What somebody has to do."))
	state := st.FieldOf(e, func(v *Ticket) *string { return &v.State })
	s, _ := openTables(t, table)
	ctx := context.Background()
	if err := e.Create(ctx, s, Ticket{"1", "opne"}); err == nil ||
		!strings.Contains(err.Error(), `State is "opne", not one of open, done`) {
		t.Error(err)
	}
	if err := e.Create(ctx, s, Ticket{"1", "open"}); err != nil {
		t.Error(err)
	}
	if _, err := e.Update(ctx, s, Ticket{ID: "1"}, state.Set("gone")); err == nil {
		t.Error("an update to another value is allowed")
	}
	if v, err := e.Update(ctx, s, Ticket{ID: "1"}, state.Set("done")); err != nil ||
		v.State != "done" {
		t.Error(v, err)
	}
}

func TestMetersAndHooksSeeEveryCall(t *testing.T) {
	b, _, f, _ := openFaulty(t, st.Retry{})
	var seen []string
	s := st.NewStore(f, st.Options{
		Sleep:  func(context.Context, time.Duration) error { return nil },
		OnCall: func(c st.Call) { seen = append(seen, c.Operation+" "+c.Pattern) },
	})
	type ByID struct{ ID string }
	byID := st.NewLookup[ByID](b.accounts, "by-id")
	f.fail = firstCalls("Get", 2, dynamo.ErrThrottling, false)
	ctx, meter := st.WithMeter(context.Background())
	if _, found, err := byID.First(ctx, s, ByID{"a"}); found || err != nil {
		t.Fatal(found, err)
	}
	if got := strings.Join(seen, ", "); got != "GetItem by-id, GetItem by-id, GetItem by-id" {
		t.Errorf("the hook saw %s", got)
	}
	if meter.Calls() != 3 || meter.Retries() != 2 || meter.Read() != 0.5 {
		t.Errorf("%d calls, %d retries, %v units", meter.Calls(), meter.Retries(), meter.Read())
	}
}
