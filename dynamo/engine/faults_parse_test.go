package engine_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

func TestFaultsAreReadFromText(t *testing.T) {
	got, err := engine.ParseFaults("throttle, table=Orders ,op=PutItem,rate=0.1",
		" index-lag,index=byStatus,delay=50ms..200ms; conflict,every=7,times=3;; seed=42",
		"stale-read,held", "unprocessed,all", "early-page,items=1", "strict",
		"throttle,code=ThrottlingException,reason=TableReadKeyRangeThroughputExceeded")
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Faults{Seed: 42, Rules: []engine.Fault{
		{Kind: engine.FaultThrottle, Table: "Orders", Operation: "PutItem", Rate: 0.1},
		{Kind: engine.FaultIndexLag, Index: "byStatus", Delay: 50 * time.Millisecond,
			DelayMax: 200 * time.Millisecond},
		{Kind: engine.FaultConflict, Every: 7, Times: 3},
		{Kind: engine.FaultStaleRead, Held: true},
		{Kind: engine.FaultUnprocessed, All: true},
		{Kind: engine.FaultEarlyPage, Items: 1},
	}}
	want.Rules = append(want.Rules, engine.Strict().Rules...)
	want.Rules = append(want.Rules, engine.Fault{
		Kind: engine.FaultThrottle, Code: dynamo.CodeThrottling,
		Reason: "TableReadKeyRangeThroughputExceeded",
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTextsThatAreNoFaultsSayWhatIsKnown lists texts and what their error must name.
func TestTextsThatAreNoFaultsSayWhatIsKnown(t *testing.T) {
	for text, says := range map[string]string{
		"throtle":                       "expiry-delay",
		"strict,rate=0.5":               "unknown fault",
		"seed=many":                     "whole number",
		"throttle,tabel=Orders":         "reason",
		"throttle,table":                "table=VALUE",
		"throttle,table=":               "table=VALUE",
		"throttle,rate=0":               "above 0",
		"throttle,rate=NaN":             "from 0 to 1",
		"throttle,rate=1.5":             "from 0 to 1",
		"throttle,rate=0.1,every=3":     "not both",
		"throttle,every=0":              "above 0",
		"throttle,op=Put":               "PutItem",
		"throttle,code=TooMuch":         "RequestLimitExceeded",
		"throttle,reason=Tired":         "IndexWriteAccountLimitExceeded",
		"throttle,held":                 "no held",
		"conflict,op=GetItem":           "TransactWriteItems",
		"conflict,index=byStatus":       "no index",
		"early-page,delay=5ms":          "no delay",
		"latency":                       "needs a delay",
		"latency,delay=5":               "20ms",
		"latency,delay=-5ms":            "negative",
		"latency,delay=5ms..1ms":        "not possible",
		"index-lag":                     "needs a delay",
		"index-lag,held,delay=5ms":      "not both",
		"index-lag,held=yes":            "no value",
		"unprocessed,items=3":           "no items",
		"expiry-delay,delay=1h,rate=1":  "no rate",
		"expiry-delay,delay=1h,op=Scan": "no op",
	} {
		f, err := engine.ParseFaults(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %+v, %v; want an error that says %q", text, f, err, says)
		}
	}
}

func TestADatabaseWithImpossibleFaultsDoesNotOpen(t *testing.T) {
	for _, rule := range []engine.Fault{
		{}, {Kind: "gremlin"}, {Kind: engine.FaultThrottle, Rate: math.NaN()},
		{Kind: engine.FaultEarlyPage, Items: -1},
	} {
		opts := engine.Options{Faults: engine.Faults{Rules: []engine.Fault{rule}}}
		if db, err := engine.OpenMemory(opts); err == nil {
			t.Errorf("%+v opens", rule)
			_ = db.Close()
		}
	}
}

// TestARuleIsItsText checks that what a rule is written as is read as the rule, or refused where
// the rule is.
func TestARuleIsItsText(t *testing.T) {
	db := openMemory(t)
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		f := engine.Fault{Kind: rapid.SampledFrom(engine.FaultKinds()).Draw(t, "kind")}
		parts := []func(){
			func() { f.Table = "Orders" },
			func() { f.Index = "byStatus" },
			func() { f.Operation = rapid.SampledFrom([]string{"Query", "PutItem"}).Draw(t, "op") },
			func() { f.Rate = rapid.Float64Range(0, 1).Draw(t, "rate") },
			func() { f.Every = rapid.IntRange(1, 9).Draw(t, "every") },
			func() { f.Times = rapid.IntRange(1, 9).Draw(t, "times") },
			func() { f.Delay = time.Duration(rapid.IntRange(1, 1e9).Draw(t, "delay")) },
			func() { f.DelayMax = time.Duration(rapid.IntRange(1, 1e9).Draw(t, "most")) },
			func() { f.Held = true },
			func() { f.Items = rapid.IntRange(1, 9).Draw(t, "items") },
			func() { f.All = true },
			func() { f.Reason = rapid.SampledFrom(engine.ThrottleReasons()).Draw(t, "reason") },
		}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			rapid.SampledFrom(parts).Draw(t, "part")()
		}
		want := engine.Faults{Rules: []engine.Fault{f}}
		wrong := db.SetFaults(want)
		got, err := engine.ParseFaults(f.String())
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%s: its text says %v, the rule itself %v", f, err, wrong)
		}
		if err != nil {
			return
		}
		if accepted++; !cmp.Equal(want, got) {
			t.Fatalf("%s is read as %s", f, got.Rules[0])
		}
	})
	if accepted == 0 {
		t.Error("no rule was possible")
	}
}
