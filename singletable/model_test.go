package singletable_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden compares text with a file, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-), now (+); -update rewrites it:\n%s", path, diff)
	}
}

func TestPagesDescribeTheModels(t *testing.T) {
	var keys, patterns strings.Builder
	for _, m := range seedModels() {
		keys.WriteString("# " + m.Name() + "\n\n" + m.KeysMarkdown())
		patterns.WriteString("# " + m.Name() + "\n\n" + m.PatternsMarkdown() + "\n")
	}
	golden(t, "keys.md", keys.String())
	golden(t, "patterns.md", patterns.String())
}

func TestTablesAreCreatedOnceAndDriftIsNamed(t *testing.T) {
	ctx := context.Background()
	for _, m := range seedModels() {
		_, db := openTables(t)
		if err := m.Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		if err := m.Ensure(ctx, db); err != nil {
			t.Errorf("%s: a second Ensure says %v", m.Name(), err)
		}
		if err := m.Verify(ctx, db); err != nil {
			t.Error(err)
		}
	}
	_, db := openTables(t, st.NewTable("drift", st.Keys("PK"), st.GSI("Same", "A", "B"),
		st.GSI("Other", "A", ""), st.GSI("Less", "C", "", st.KeysOnly()), st.GSI("More", "D", ""),
		st.NumberKeys("B")))
	err := st.NewTable("drift", st.Keys("PK", "SK"), st.GSI("Same", "A", "B"),
		st.GSI("Other", "A", "B"), st.GSI("Less", "C", "", st.Include("x")), st.GSI("New", "E", ""),
		st.TTL("ttl")).Ensure(ctx, db)
	var drift *st.DriftError
	if !errors.As(err, &drift) {
		t.Fatal(err)
	}
	want := []string{
		"the key is (PK), not (PK, SK)",
		"key attribute B is of type N, not S",
		"the key of index Other is (A), not (A, B)",
		"index Less projects KEYS_ONLY, not INCLUDE x",
		"index New is missing",
		"index More is not defined here",
		`expiry is by "", not "ttl"`,
	}
	if diff := cmp.Diff(want, drift.Differences); diff != "" {
		t.Error(diff)
	}
}

func TestATableThatTakesTimeIsThereWhenEnsureReturns(t *testing.T) {
	ctx := t.Context()
	db, err := engine.OpenMemory(engine.Options{
		SweepInterval: -1, TableDelay: 60 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := st.NewTable("slow", st.Keys("PK"), st.GSI("GSI1", "A", ""), st.TTL("ttl"))
	for _, state := range []string{"missing", "there", "being deleted"} {
		if state == "being deleted" {
			if _, err := db.DeleteTable(ctx, "slow"); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Ensure(ctx, db); err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		d, err := db.DescribeTable(ctx, "slow")
		if err != nil || d.TableStatus != dynamo.StatusActive {
			t.Errorf("%s: got %v, %v", state, d, err)
		}
		if err := table.Verify(ctx, db); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestAnExpiryThatIsOffIsTurnedOn(t *testing.T) {
	ctx := t.Context()
	_, db := openTables(t)
	table := st.NewTable("expiring", st.Keys("PK"), st.TTL("ttl"))
	if _, err := db.CreateTable(ctx, table.CreateTableInput()); err != nil {
		t.Fatal(err)
	}
	var drift *st.DriftError
	if err := table.Verify(ctx, db); !errors.As(err, &drift) || !drift.Harmless ||
		!drift.ExpiryOff {
		t.Errorf("before: %v", err)
	}
	if err := table.Ensure(ctx, db); err != nil {
		t.Fatal(err)
	}
	if err := table.Verify(ctx, db); err != nil {
		t.Error(err)
	}
	other := st.NewTable("expiring", st.Keys("PK"), st.TTL("other"))
	if err := other.Ensure(ctx, db); !errors.As(err, &drift) || drift.Harmless {
		t.Errorf("another attribute: %v", err)
	}
}

func TestATableWithAnotherIndexIsUsable(t *testing.T) {
	ctx := t.Context()
	_, db := openTables(t)
	more := st.NewTable("more", st.Keys("PK"), st.GSI("GSI1", "A", ""), st.GSI("GSI2", "B", "C"))
	if _, err := db.CreateTable(ctx, more.CreateTableInput()); err != nil {
		t.Fatal(err)
	}
	plain := st.NewTable("more", st.Keys("PK"), st.GSI("GSI1", "A", ""), st.TTL("ttl"))
	var drift *st.DriftError
	err := plain.Ensure(ctx, db)
	if !errors.As(err, &drift) || !drift.Harmless || drift.ExpiryOff ||
		!slices.Equal(drift.Additional, []string{"GSI2"}) {
		t.Errorf("an additional index: %v", err)
	}
	for name, other := range map[string]*st.Table{
		"an index is missing": st.NewTable("more", st.Keys("PK"), st.TTL("ttl"),
			st.GSI("GSI1", "A", ""), st.GSI("GSI2", "B", "C"), st.GSI("GSI3", "D", "")),
		"an index has another key": st.NewTable("more", st.Keys("PK"), st.TTL("ttl"),
			st.GSI("GSI1", "B", "")),
		"an index has less": st.NewTable("more", st.Keys("PK"), st.TTL("ttl"),
			st.GSI("GSI1", "A", "", st.KeysOnly())),
		"the expiry is another": st.NewTable("more", st.Keys("PK"), st.TTL("end"),
			st.GSI("GSI1", "A", "")),
	} {
		if err := other.Verify(ctx, db); !errors.As(err, &drift) || drift.Harmless {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIndexesThatAreMissingAreAdded(t *testing.T) {
	ctx := t.Context()
	_, db := openTables(t)
	plain := st.NewTable("grown", st.Keys("PK"))
	if err := plain.Ensure(ctx, db); err != nil {
		t.Fatal(err)
	}
	more := st.NewTable("grown", st.Keys("PK"), st.GSI("GSI1", "A", ""),
		st.GSI("GSI2", "B", "C", st.Include("D")))
	added, err := more.AddIndexes(ctx, db)
	if err != nil || !slices.Equal(added, []string{"GSI1", "GSI2"}) {
		t.Errorf("added %v, %v", added, err)
	}
	if err := more.Verify(ctx, db); err != nil {
		t.Error(err)
	}
	if added, err = more.AddIndexes(ctx, db); err != nil || len(added) != 0 {
		t.Errorf("a second time: added %v, %v", added, err)
	}
}

// outrun is a store where someone else turns expiry on just before.
type outrun struct{ dynamo.Admin }

func (o outrun) UpdateTimeToLive(ctx context.Context, in *dynamo.UpdateTimeToLiveInput) error {
	if err := o.Admin.UpdateTimeToLive(ctx, in); err != nil {
		return err
	}
	return o.Admin.UpdateTimeToLive(ctx, in)
}

func TestAnExpiryThatSomeoneElseTurnedOnIsOn(t *testing.T) {
	_, db := openTables(t)
	table := st.NewTable("expiring", st.Keys("PK"), st.TTL("ttl"))
	if err := table.Ensure(t.Context(), outrun{db}); err != nil {
		t.Error(err)
	}
	if err := table.Verify(t.Context(), db); err != nil {
		t.Error(err)
	}
}

func TestAnExpiryThatIsBeingTurnedOffDiffers(t *testing.T) {
	_, db := openTables(t)
	table := st.NewTable("expiring", st.Keys("PK"), st.TTL("ttl"))
	if err := table.Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	d, err := db.DescribeTable(t.Context(), "expiring")
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[dynamo.TimeToLiveStatus][]string{
		dynamo.TimeToLiveEnabling:  nil,
		dynamo.TimeToLiveDisabling: {`expiry by "ttl" is being turned off`},
	} {
		got := table.Drift(d, &dynamo.TimeToLiveDescription{
			TimeToLiveStatus: status, AttributeName: "ttl",
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", status, diff)
		}
	}
}

func TestEnsureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1, TableDelay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = st.NewTable("slow", st.Keys("PK")).Ensure(ctx, db)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestRowsAreGenericAndInTheOrderOfTheStruct(t *testing.T) {
	m := newStatementsModel()
	s, db := openTables(t, m.table)
	ctx := context.Background()
	err := m.transactions.Create(ctx, s, BankTransaction{UserID: "u", AccountID: "a",
		TransactionID: "t", Date: "2025-08-13", Amount: "150.75", Currency: "NZD",
		Tags: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := m.transactions.Key(BankTransaction{UserID: "u", AccountID: "a", TransactionID: "t",
		Date: "2025-08-13"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Update(ctx, &dynamo.UpdateInput{TableName: "PuteaMatai", Key: key,
		UpdateExpression: "SET extra = :x", Expressions: dynamo.Expressions{
			ExpressionAttributeValues: map[string]dynamo.Value{":x": dynamo.Int(7)}}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := m.inPeriod.RunText(ctx, s, map[string]string{"userid": "u", "AccountID": "a",
		"From": "2025-08-01", "To": "2025-08-31"}, 10, "")
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(page.Items)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"userId":"u","accountId":"a","transactionId":"t","date":"2025-08-13",` +
		`"amount":150.75,"currency":"NZD","tags":["x"],"extra":7}]`
	if string(out) != want {
		t.Errorf("rows are\n%s\nwant\n%s", out, want)
	}
	if v, ok := page.Items[0].Get("date"); !ok || v != "2025-08-13" {
		t.Error(v, ok)
	}
}

// Due is found by number and by time in indexes of other kinds: local, keys alone, without a sort
// key, with Numbers for keys.
type Due struct {
	Owner    string
	ID       string
	Priority int
	At       time.Time `dynamodbav:",unixtime"`
	Note     string
	Rate     st.Number
	Part     st.Part // Rows of an index that holds keys only are read in part.
}

func TestIndexesOfEveryKind(t *testing.T) {
	type In struct {
		Owner    string
		Priority *int
		From, To time.Time
	}
	type Rates struct {
		Owner    string
		Low, Top *st.Number
	}
	table := st.NewTable("dues", st.Keys("Owner", "ID"), st.LSI("ByRate", "Rate"),
		st.GSI("ByPriority", "Priority", "At", st.KeysOnly()), st.NumberKeys("Priority", "At",
			"Rate"))
	e := st.NewEntity[Due](table, "Due", st.Primary("<Owner>", "<ID>"), st.On("ByRate", "",
		"<Rate>"),
		st.On("ByPriority", "<Priority>", "<At>"))
	byTime := func(name string, opts ...st.PatternOption) *st.Pattern[In, Due] {
		return st.NewQuery[In](e, name, append(opts, st.UseIndex("ByPriority"),
			st.Between("At", "From", "To"))...)
	}
	keys, whole := byTime("keys"), byTime("whole", st.Hydrate())
	byRate := st.NewQuery[Rates](e, "rates", st.UseIndex("ByRate"), st.Between("Rate", "Low",
		"Top"),
		st.Consistent())
	model := st.NewModel("dues", []*st.Table{table}, keys, whole, byRate)
	if err := model.Check().Err(); err != nil {
		t.Fatal(err)
	}
	s, _ := openTables(t, table)
	ctx := context.Background()
	start := time.Unix(1_700_000_000, 0).UTC()
	var all []Due
	for i, rate := range []st.Number{"1", "0.1", "100", "99.999", "0", "-3"} {
		all = append(all, Due{Owner: "o", ID: string(rune('a' + i)), Priority: i % 2,
			At: start.Add(time.Duration(i) * time.Minute), Note: "note", Rate: rate})
	}
	if err := e.PutAll(ctx, s, all); err != nil {
		t.Fatal(err)
	}
	one := 1
	in := In{Priority: &one, From: start.Add(time.Minute), To: start.Add(5 * time.Minute)}
	ids := func(seq func(func(Due, error) bool)) string {
		var out strings.Builder
		for d, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(d.ID + d.Note + " ")
		}
		return out.String()
	}
	if got := ids(keys.All(ctx, s, in)); got != "b d " {
		t.Errorf("keys alone: %q", got)
	}
	if got := ids(whole.All(ctx, s, in)); got != "bnote dnote " {
		t.Errorf("whole items: %q", got)
	}
	page, err := whole.Page(ctx, s, in, 1, "")
	if err != nil || page.Items[0].Rate != "0.1" {
		t.Error(page, err)
	}
	zero, hundred := st.Number("0"), st.Number("100")
	if got := ids(byRate.All(ctx, s, Rates{Owner: "o", Low: &zero,
		Top: &hundred})); got != "enote bnote anote dnote " {
		t.Errorf("rates from 0 below 100: %q", got)
	}
	if got := ids(byRate.All(ctx, s, Rates{Owner: "o", Top: &zero})); got != "fnote " {
		t.Errorf("rates below 0: %q", got)
	}
	if err := model.Check().Err(); err != nil {
		t.Error(err)
	}
}

func TestSparseIndexesOnPlainAttributes(t *testing.T) {
	type Parcel struct {
		ID     string
		Driver string
		Note   string
	}
	type ByDriver struct{ Driver string }
	table := st.NewTable("parcels", st.Keys("PK"), st.GSI("ByDriver", "Driver", ""))
	e := st.NewEntity[Parcel](table, "Parcel", st.Primary("P#<ID>"),
		st.On("ByDriver", "<Driver>", "", st.Sparse()))
	driver := st.FieldOf(e, func(p *Parcel) *string { return &p.Driver })
	of := st.NewQuery[ByDriver](e, "parcels-of-driver", st.UseIndex("ByDriver"))
	s, _ := openTables(t, table)
	ctx := context.Background()
	count := func(want int) {
		t.Helper()
		if n, err := of.Count(ctx, s, ByDriver{"d"}); err != nil || n != want {
			t.Errorf("the driver has %d parcels, %v, want %d", n, err, want)
		}
	}
	if err := e.Put(ctx, s, Parcel{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	count(0)
	for _, d := range []string{"d", "", "d"} {
		if _, err := e.Update(ctx, s, Parcel{ID: "1"}, driver.Set(d)); err != nil {
			t.Fatal(err)
		}
		count(len(d))
	}
	if _, err := e.Update(ctx, s, Parcel{ID: "1"}, driver.Remove()); err != nil {
		t.Fatal(err)
	}
	count(0)
}

func TestLiveLeavesOutWhatHasExpired(t *testing.T) {
	m := newRatesModel()
	live := st.NewLookup[Pair](m.rates, "live-rate", st.Live())
	_, db := openTables(t, m.table)
	now := time.Unix(1_800_000_000, 0).UTC()
	s := st.NewStore(db, st.Options{Now: func() time.Time { return now }})
	ctx := context.Background()
	err := m.rates.Put(ctx, s, Rate{Base: "USD", Target: "EUR", Timestamp: now, TTL: now.Add(1e9)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		_, found, err := live.First(ctx, s, Pair{"USD", "EUR"})
		n, errCount := live.Count(ctx, s, Pair{"USD", "EUR"})
		if err != nil || errCount != nil || found != want || (n == 1) != want {
			t.Errorf("found %t, counted %d, want %t: %v, %v", found, n, want, err, errCount)
		}
		now = now.Add(time.Minute)
	}
}

func TestPagesTellTheirOwnCallsAndUnits(t *testing.T) {
	m := newEventModel()
	s, _ := openTables(t, m.table)
	ctx := context.Background()
	for i := range 20 {
		at := firstDay.Add(time.Duration(i) * time.Hour)
		err := m.events.Put(ctx, s, Event{ID: string(rune('a' + i)), Group: "g", At: at,
			Day: "2025-11-28"})
		if err != nil {
			t.Fatal(err)
		}
	}
	metered, meter := st.WithMeter(ctx)
	first, err := m.shards.Page(metered, s, InGroup{Group: "g"}, 5, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.shards.Page(metered, s, InGroup{Group: "g"}, 5, first.Next)
	if err != nil {
		t.Fatal(err)
	}
	if first.Calls < 5 || first.Capacity != float64(first.Calls)/2 {
		t.Errorf("the first page took %d calls and %v units", first.Calls, first.Capacity)
	}
	if meter.Calls() != first.Calls+second.Calls ||
		meter.Read() != first.Capacity+second.Capacity {
		t.Errorf("the meter says %d calls and %v units, the pages %d and %v", meter.Calls(),
			meter.Read(), first.Calls+second.Calls, first.Capacity+second.Capacity)
	}
}
