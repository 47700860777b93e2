package singletable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	st "github.com/exchequer-dev/exchequer/singletable"
)

func seedModels() []*st.Model {
	l, p, s, r, o := newLedgerModel("FinancialTransactions", 1), newPaymentsModel(),
		newStatementsModel(), newRatesModel(), newLocationsModel("aolfclub-entities")
	return []*st.Model{
		st.NewModel("ledger", []*st.Table{l.table}, l.accountsOfUser, l.byStatus,
			l.byIdempotencyKey, l.withLegs, l.accountHistory),
		st.NewModel("payments", []*st.Table{p.scheduler, p.history}, p.ofAccount, p.byStatus,
			p.byTime, p.byID),
		st.NewModel("statements", []*st.Table{s.table}, s.startup, s.tagsOfUser, s.inPeriod,
			s.latest, s.uploadsOf, s.accountsOfUser),
		st.NewModel("rates", []*st.Table{r.table}, r.byPair, r.byBase),
		st.NewModel("locations", []*st.Table{o.table}, o.byID, o.all),
	}
}

func TestTheSeedsHaveNoErrorsAndTheWarningsTheyDeserve(t *testing.T) {
	want := map[string][]string{
		"ledger": {
			`Transaction: partition key "STATUS#<Status><ID:shardSuffix(1)>" of index GSI1 ` +
				`has about 5 values: each takes at most 1000 write units a second, however many items ` +
				`there are; add a shard`,
		},
		"payments": {
			`ScheduledPayment: partition key "<PaymentID:shard(5)>" of index ` +
				`Query_All_Scheduled_Payments has about 5 values: each takes at most 1000 write ` +
				`units a second, however many items there are; add a shard`,
		},
	}
	for _, m := range seedModels() {
		r := m.Check()
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
		var got []string
		for _, w := range r.Warnings {
			if !strings.Contains(w.Text, "no description") {
				got = append(got, w.String())
			}
		}
		t.Log(m.Name(), strings.Join(got, "\n"))
		for _, w := range want[m.Name()] {
			found := false
			for _, g := range got {
				found = found || g == w
			}
			if !found {
				t.Errorf("%s: no warning %q", m.Name(), w)
			}
		}
	}
}

func TestCheckReportsAllProblemsAtOnce(t *testing.T) {
	type Thing struct {
		ID     string
		Price  float64
		Count  int
		Status string
		Day    time.Time
		TTL    string `dynamodbav:"ttl"`
		GSI9PK string
	}
	type In struct {
		ID       string
		From, To int
	}
	table := st.NewTable("t", st.Keys("PK", "SK"), st.GSI("GSI9", "GSI9PK", ""),
		st.GSI("Bad", "BPK", "BSK", st.Include()), st.TTL("ttl"), st.NumberKeys("nothing"))
	clean := func(name string, opts ...st.EntityOption) *st.Entity[struct {
		ID     string
		Count  int
		Status string
		Day    time.Time
	}] {
		return st.NewEntity[struct {
			ID     string
			Count  int
			Status string
			Day    time.Time
		}](table, name, opts...)
	}
	a := clean("A", st.Primary("X#<ID>", "<Status>#<Count>"), st.Discriminator("type", "same"))
	clean("B", st.Primary("X#<ID>", "<ID>#<Count:int(5)>"), st.Discriminator("type", "same"))
	clean("C", st.Primary("<Day:day>", "C#<ID>"))
	clean("D", st.Primary("X#<ID>", "D#<ID>#E"))
	clean("E", st.Primary("X#<ID>", "D#<ID>"))
	st.NewEntity[Thing](table, "Thing", st.Primary("T#<Idd>", "<Day:fortnight>"),
		st.On("GSI7", "x", ""))
	q := st.NewQuery[In](a, "q", st.Between("Count", "From", "To"))
	r := st.NewModel("m", []*st.Table{table}, q, st.NewQuery[struct{}](a, "q")).Check()
	text := r.String()
	for _, want := range []string{
		"error: t: a table's name has 3 to 255",
		"error: t: index Bad includes no attributes; use KeysOnly",
		"error: t: nothing has a key type but is not a key attribute",
		"error: B: A has the same discriminator type=same",
		"error: A: an item can have the same key as one of B",
		"error: Thing: field Price: a float cannot hold decimals exactly",
		`error: Thing: primary key: template "T#<Idd>": part <Idd>: singletable_test.Thing has no ` +
			`field or attribute Idd`,
		`error: Thing: primary key: template "<Day:fortnight>": part <Day:fortnight>: unknown ` +
			`format "fortnight"`,
		"error: Thing: there is no index GSI7 in table t",
		"error: pattern q: range of Count: it is not the first part of the sort key",
		"error: pattern q: two patterns have this name",
		"error: pattern q: no input gives part <ID> of the partition key",
		`warning: C: partition key "<Day:day>" of the table is a bare date`,
		`warning: A: <Status> in sort key "<Status>#<Count>" of the table`,
		"warning: D: a query of its sort keys \"D#<ID>#E\" also reads E",
		"warning: t: no pattern uses index GSI9",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no finding %q", want)
		}
	}
	if t.Failed() {
		t.Log("\n" + text)
	}
}

func TestLoadSaysHowManyShardsAreNeeded(t *testing.T) {
	// One million writes of 8 KB in 30 minutes are 556 a second, or 4,448 units.
	type Payment struct{ ID, Status string }
	warnings := func(shards string) string {
		table := st.NewTable("payments", st.Keys("ID"), st.GSI("due", "Shard", "Status"))
		st.NewEntity[Payment](table, "Payment", st.Primary("<ID>"), st.Typical(8<<10), st.Load(556),
			st.On("due", "<ID:shard("+shards+")>", "<Status>"))
		return st.NewModel("m", []*st.Table{table}).Check().String()
	}
	if got := warnings("5"); got != "" {
		t.Errorf("five shards are enough, but: %s", got)
	}
	if got := warnings("4"); !strings.Contains(got, "needs at least 5 shards; it has 4") {
		t.Errorf("four shards are too few, but: %s", got)
	}
}

func TestRangeOverAnUnorderedPartIsAnError(t *testing.T) {
	type Thing struct {
		ID    string
		Count int
	}
	type In struct {
		ID       string
		From, To int
	}
	table := st.NewTable("things", st.Keys("PK", "SK"))
	e := st.NewEntity[Thing](table, "Thing", st.Primary("T#<ID>", "N#<Count>"))
	r := st.NewModel("m", []*st.Table{table},
		st.NewQuery[In](e, "q", st.Between("Count", "From", "To"), st.Describe("d"))).Check()
	want := []st.Finding{{Subject: "pattern q",
		Text: "range of Count: the text of <Count> does not " +
			"sort as its values do; use a fixed-width format"}}
	if diff := cmp.Diff(want, r.Errors); diff != "" {
		t.Error(diff)
	}
}

func TestCheckKnowsWhatTheStoreWillRefuse(t *testing.T) {
	type Item struct {
		ID, State, Owner string
		Kind             string `dynamodbav:"type"`
		TTL              string `dynamodbav:"ttl"`
		Long             int64
		Part             st.Part
	}
	type ByOwner struct{ Owner string }
	table := st.NewTable("items", st.Keys("PK"), st.GSI("ByOwner", "Owner", "", st.KeysOnly()),
		st.GSI("ByState", "X", "Y"), st.TTL("ttl"))
	e := st.NewEntity[Item](table, "Item", st.Primary("I#<ID>"), st.Discriminator("type", "Item"),
		st.On("ByOwner", "<Owner>", "", st.SparseWhen("State", "open")),
		st.On("ByState", "S#<State>", strings.Repeat("long", 256)+"<Long:int(5)>"), st.Reservable())
	st.NewEntity[Item](table, "Stray", st.Primary("S#<ID>"))
	owner := st.FieldOf(e, func(i *Item) *string { return &i.Owner })
	state := st.FieldOf(e, func(i *Item) *string { return &i.State })
	q := func(name string, opts ...st.PatternOption) *st.Pattern[ByOwner, Item] {
		return st.NewQuery[ByOwner](e, name, append(opts, st.UseIndex("ByOwner"))...)
	}
	text := st.NewModel("m", []*st.Table{table},
		q("key filter", st.Filter(owner.Exists())), q("lost filter", st.Filter(state.Equals("x"))),
		q("consistent", st.Consistent()), q("range", st.Between("State", "Owner", "")),
		q("budget", st.CallsMax(0)),
		st.NewLookup[ByOwner](e, "lookup", st.Descending()),
		st.NewQuery[ByOwner](e, "nowhere", st.UseIndex("None"))).Check().String()
	for _, want := range []string{
		"error: Item: Copy and Reservable are for unique values",
		"error: Item: field Kind has the discriminator's attribute type",
		"error: Item: expiry ttl must be stored as a Number: give field TTL the option unixtime",
		`of index ByState can be 1030 bytes long, more than 1024`,
		"error: Item: index ByOwner cannot be sparse by a rule",
		"warning: Stray: its attributes put it into index ByOwner",
		"error: pattern key filter: a filter cannot name the key attribute Owner",
		"error: pattern lost filter: index ByOwner does not hold State, which a filter names",
		"error: pattern consistent: a global index cannot be read consistently",
		"error: pattern range: range of State: it is not the first part",
		"error: pattern budget: CallsMax and Segments are at least 1",
		"error: pattern lookup: a lookup is by primary key alone",
		"error: pattern nowhere: there is no index None in table items",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no finding %q", want)
		}
	}
	if t.Failed() {
		t.Log("\n" + text)
	}
}
