package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

func TestTagsAreKeptWithTheirTable(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := streamed(dynamo.ViewKeysOnly)
	in.Tags = []dynamo.Tag{{Key: "env", Value: "test"}}
	d, err := db.CreateTable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.TagResource(t.Context(), d.TableArn, []dynamo.Tag{
		{Key: "env", Value: "live"}, {Key: "team", Value: ""},
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.UntagResource(t.Context(), d.TableArn, []string{"none"}); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open(dir, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	list := func() []dynamo.Tag {
		t.Helper()
		out, err := db.ListTagsOfResource(t.Context(), &dynamo.ListTagsInput{
			ResourceArn: d.TableArn,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Tags
	}
	want := []dynamo.Tag{{Key: "env", Value: "live"}, {Key: "team"}}
	if got := list(); !slices.Equal(got, want) {
		t.Errorf("tags %v, want %v", got, want)
	}
	if err := db.UntagResource(t.Context(), d.TableArn, []string{"env"}); err != nil {
		t.Error(err)
	}
	if got := list(); len(got) != 1 {
		t.Errorf("tags %v, want one", got)
	}
}

func TestBadTagsChangeNothing(t *testing.T) {
	db, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{})
	d, err := db.DescribeTable(t.Context(), streamTable)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]dynamo.Tag, 51)
	for i := range many {
		many[i].Key = fmt.Sprint("k", i)
	}
	long := strings.Repeat
	for name, c := range map[string]struct {
		arn  string
		tags []dynamo.Tag
		want dynamo.ErrorCode
	}{
		"no tags":      {d.TableArn, nil, dynamo.CodeValidation},
		"an empty key": {d.TableArn, []dynamo.Tag{{}}, dynamo.CodeValidation},
		"a long key":   {d.TableArn, []dynamo.Tag{{Key: long("ü", 129)}}, dynamo.CodeValidation},
		"a long value": {
			d.TableArn, []dynamo.Tag{{Key: "k", Value: long("v", 257)}}, dynamo.CodeValidation,
		},
		"a reserved key": {d.TableArn, []dynamo.Tag{{Key: "AWS:x"}}, dynamo.CodeValidation},
		"a key twice":    {d.TableArn, []dynamo.Tag{{Key: "k"}, {Key: "k"}}, dynamo.CodeValidation},
		"too many":       {d.TableArn, many, dynamo.CodeLimitExceeded},
		"no ARN":         {"x", many[:1], dynamo.CodeValidation},
		"no such table":  {d.TableArn + "x", many[:1], dynamo.CodeAccessDenied},
	} {
		if err := db.TagResource(t.Context(), c.arn, c.tags); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	out, err := db.ListTagsOfResource(t.Context(), &dynamo.ListTagsInput{ResourceArn: d.TableArn})
	if err != nil || len(out.Tags) != 0 {
		t.Errorf("tags %v, %v", out, err)
	}
}

func TestCapsOfThroughputAreMerged(t *testing.T) {
	db, _ := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{})
	update := func(in dynamo.UpdateTableInput) (*dynamo.TableDescription, error) {
		in.TableName = streamTable
		return db.UpdateTable(t.Context(), &in)
	}
	caps := func(read, write int64) *dynamo.OnDemandThroughput {
		return &dynamo.OnDemandThroughput{MaxReadRequestUnits: read, MaxWriteRequestUnits: write}
	}
	for _, c := range []struct {
		in   dynamo.UpdateTableInput
		want *dynamo.OnDemandThroughput
		code dynamo.ErrorCode
	}{
		{in: dynamo.UpdateTableInput{OnDemandThroughput: caps(10, 0)}, want: caps(10, 0)},
		{in: dynamo.UpdateTableInput{OnDemandThroughput: caps(0, 20)}, want: caps(10, 20)},
		{in: dynamo.UpdateTableInput{OnDemandThroughput: caps(-2, 0)}, code: dynamo.CodeValidation},
		{in: dynamo.UpdateTableInput{OnDemandThroughput: caps(-1, 0)}, want: caps(0, 20)},
		{in: dynamo.UpdateTableInput{TableClass: "GOLD"}, code: dynamo.CodeValidation},
		{
			in:   dynamo.UpdateTableInput{TableClass: dynamo.ClassInfrequentAccess},
			want: caps(0, 20),
		},
		{in: dynamo.UpdateTableInput{
			BillingMode: dynamo.BillingProvisioned, ProvisionedThroughput: unitsASecond(1, 1),
		}},
		{in: dynamo.UpdateTableInput{OnDemandThroughput: caps(5, 5)}, code: dynamo.CodeValidation},
	} {
		d, err := update(c.in)
		if code(err) != c.code || err != nil && c.code == "" {
			t.Fatalf("%+v: %v, want %q", c.in, err, c.code)
		}
		if err == nil && (d.OnDemandThroughput == nil) != (c.want == nil) ||
			err == nil && c.want != nil && *d.OnDemandThroughput != *c.want {
			t.Errorf("%+v: %+v, want %+v", c.in, d.OnDemandThroughput, c.want)
		}
	}
	d, err := db.DescribeTable(t.Context(), streamTable)
	if err != nil || d.TableClass != dynamo.ClassInfrequentAccess {
		t.Errorf("the class is %q, %v", d.TableClass, err)
	}
}

func unitsASecond(read, write int64) *dynamo.ProvisionedThroughput {
	return &dynamo.ProvisionedThroughput{ReadCapacityUnits: read, WriteCapacityUnits: write}
}
