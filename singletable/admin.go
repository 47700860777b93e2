package singletable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// CreateTableInput returns the request that creates the table with all its indexes and on-demand
// billing. Expiry is enabled by another request; see [Table.TimeToLiveInput].
func (t *Table) CreateTableInput() *dynamo.CreateTableInput {
	in := &dynamo.CreateTableInput{TableName: t.name, KeySchema: schemaOf(t.keys),
		BillingMode: dynamo.BillingPayPerRequest}
	t.eachKeyAttribute(func(attr string) {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			dynamo.AttributeDefinition{AttributeName: attr, AttributeType: t.keyKind(attr)})
	})
	for _, x := range t.indexes {
		if x.local {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes,
				dynamo.LocalSecondaryIndex{IndexName: x.name, KeySchema: schemaOf(x.keys),
					Projection: x.projection})
			continue
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			dynamo.GlobalSecondaryIndex{IndexName: x.name, KeySchema: schemaOf(x.keys),
				Projection: x.projection})
	}
	return in
}

// TimeToLiveInput returns the request that enables expiry, or nil for a table without expiry.
func (t *Table) TimeToLiveInput() *dynamo.UpdateTimeToLiveInput {
	if t.ttl == "" {
		return nil
	}
	return &dynamo.UpdateTimeToLiveInput{TableName: t.name, AttributeName: t.ttl, Enabled: true}
}

func schemaOf(k KeyNames) []dynamo.KeySchemaElement {
	if k.Sort == "" {
		return dynamo.HashKey(k.Partition)
	}
	return dynamo.HashRangeKey(k.Partition, k.Sort)
}

// Ensure creates the table unless it exists, waits until the table and its indexes can be used, and
// enables expiry. An existing table is compared with the definition but not changed: differences
// are a [*DriftError]. Only a disabled expiry is enabled, because an interrupted creation leaves it
// so.
func (t *Table) Ensure(ctx context.Context, admin dynamo.Admin) error {
	if len(t.problems) > 0 {
		return &ModelError{Subject: t.name, Problems: t.problems}
	}
	if err := t.create(ctx, admin); err != nil {
		return fmt.Errorf("create table %s: %w", t.name, err)
	}
	err := t.Verify(ctx, admin)
	var drift *DriftError
	if !errors.As(err, &drift) || !drift.Harmless || !drift.ExpiryOff {
		return err
	}
	if err := admin.UpdateTimeToLive(ctx, t.TimeToLiveInput()); err != nil {
		if t.Verify(ctx, admin) == nil {
			return nil // Another caller enabled it first, so the store refused to do it again.
		}
		return fmt.Errorf("turn on expiry of table %s: %w", t.name, err)
	}
	if len(drift.Additional) == 0 {
		return nil
	}
	return t.Verify(ctx, admin)
}

// AddIndexes creates the global indexes of the definition that the table lacks, one after the
// other as the service requires, and returns their names once they can be read. Items are in a new
// index if they have its key attributes.
func (t *Table) AddIndexes(ctx context.Context, admin dynamo.Admin) (added []string, err error) {
	d, err := admin.DescribeTable(ctx, t.name)
	if err != nil {
		return nil, fmt.Errorf("describe table %s: %w", t.name, err)
	}
	whole := t.CreateTableInput()
	for _, x := range whole.GlobalSecondaryIndexes {
		if slices.ContainsFunc(d.GlobalSecondaryIndexes,
			func(s dynamo.GlobalSecondaryIndexDescription) bool {
				return s.IndexName == x.IndexName
			}) {
			continue
		}
		_, err := admin.UpdateTable(ctx, &dynamo.UpdateTableInput{
			TableName: t.name, AttributeDefinitions: definitionsOf(whole, x.KeySchema),
			GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{Create: &x}},
		})
		if err == nil {
			err = t.create(ctx, admin) // waits until the index is built
		}
		if err != nil {
			return added, fmt.Errorf("add index %s to table %s: %w", x.IndexName, t.name, err)
		}
		added = append(added, x.IndexName)
	}
	return added, nil
}

// definitionsOf returns the definitions of the attributes of a key.
func definitionsOf(
	whole *dynamo.CreateTableInput, schema []dynamo.KeySchemaElement,
) (of []dynamo.AttributeDefinition) {
	for _, a := range whole.AttributeDefinitions {
		if slices.ContainsFunc(schema, func(e dynamo.KeySchemaElement) bool {
			return e.AttributeName == a.AttributeName
		}) {
			of = append(of, a)
		}
	}
	return of
}

// Intervals between checks whether a table is active. A new table takes seconds on the service; a
// local store creates it at once.
const (
	lookFirst = 20 * time.Millisecond
	lookMax   = 2 * time.Second
)

// create waits until the table exists and is active with all its indexes, whether this or another
// caller created it.
func (t *Table) create(ctx context.Context, admin dynamo.Admin) error {
	asked := false
	for pause := lookFirst; ; pause = min(2*pause, lookMax) {
		d, err := admin.DescribeTable(ctx, t.name)
		missing := errors.Is(err, dynamo.ErrResourceNotFound)
		switch {
		case missing && !asked:
			_, err := admin.CreateTable(ctx, t.CreateTableInput())
			if err != nil && !errors.Is(err, dynamo.ErrResourceInUse) {
				return err
			}
			asked, pause = true, 0
		case missing: // The service may briefly report a table as missing after it was created.
		case err != nil:
			return err
		case d.TableStatus == dynamo.StatusDeleting:
			asked = false
		case usable(d):
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause = max(pause, lookFirst/2)
		}
	}
}

// usable reports whether a table that is not being deleted can be read and written, and its indexes
// can be read.
func usable(d *dynamo.TableDescription) bool {
	building := func(x dynamo.GlobalSecondaryIndexDescription) bool {
		return x.IndexStatus == dynamo.StatusCreating || x.Backfilling
	}
	return d.TableStatus != dynamo.StatusCreating &&
		!slices.ContainsFunc(d.GlobalSecondaryIndexes, building)
}

// Verdict is the result of a comparison of a table in one word.
type Verdict string

// The verdicts.
const (
	// VerdictSound means that everything was compared and nothing differs.
	VerdictSound Verdict = "sound"
	// VerdictFaulty means that something differs.
	VerdictFaulty Verdict = "faulty"
	// VerdictUndecided means that nothing differs, but that not everything could be compared.
	VerdictUndecided Verdict = "undecided"
)

// Comparison is the result of comparing a table in the store with its definition. Differences and
// Undecided are sentences: one for each difference, and one for each part that cannot be compared
// because the store is changing it.
type Comparison struct{ Differences, Undecided []string }

// Verdict returns the verdict.
func (c Comparison) Verdict() Verdict {
	switch {
	case len(c.Differences) > 0:
		return VerdictFaulty
	case len(c.Undecided) > 0:
		return VerdictUndecided
	}
	return VerdictSound
}

// Compare compares the definition with the table in the store. Unlike [Table.Verify], which reports
// whether the table can be used, it includes the parts that the store is changing.
func (t *Table) Compare(ctx context.Context, admin dynamo.Admin) (c Comparison, err error) {
	d, ttl, err := t.describe(ctx, admin)
	if err != nil {
		return c, err
	}
	c.Differences = t.Drift(d, ttl)
	ending, changing := unsettled(d, ttl)
	c.Differences = append(c.Differences, ending...)
	c.Undecided = changing
	return c, nil
}

// unsettled returns a sentence for each part of a table that the store is changing. The parts that
// are ending will be missing. The final state of the others, which are changing, is not known: an
// index that is being built lacks entries.
func unsettled(
	d *dynamo.TableDescription, ttl *dynamo.TimeToLiveDescription,
) (ending, changing []string) {
	switch d.TableStatus {
	case dynamo.StatusActive:
	case dynamo.StatusCreating, dynamo.StatusUpdating:
		changing = append(changing, fmt.Sprintf("the table is %s", d.TableStatus))
	default:
		ending = append(ending, fmt.Sprintf("the table is %s", d.TableStatus))
	}
	for _, x := range d.GlobalSecondaryIndexes {
		text := fmt.Sprintf("index %s is %s", x.IndexName, x.IndexStatus)
		switch {
		case x.IndexStatus == dynamo.StatusDeleting:
			ending = append(ending, text)
		case x.IndexStatus != dynamo.StatusActive && x.IndexStatus != "":
			changing = append(changing, text)
		case x.Backfilling:
			changing = append(changing, fmt.Sprintf("index %s is being filled", x.IndexName))
		}
	}
	if ttl.TimeToLiveStatus == dynamo.TimeToLiveEnabling {
		changing = append(changing,
			fmt.Sprintf("expiry by %q is being turned on", ttl.AttributeName))
	}
	return ending, changing
}

// describe returns the table in the store and its expiry.
func (t *Table) describe(
	ctx context.Context, admin dynamo.Admin,
) (*dynamo.TableDescription, *dynamo.TimeToLiveDescription, error) {
	d, err := admin.DescribeTable(ctx, t.name)
	if err != nil {
		return nil, nil, fmt.Errorf("describe table %s: %w", t.name, err)
	}
	ttl, err := admin.DescribeTimeToLive(ctx, t.name)
	if err != nil {
		return nil, nil, fmt.Errorf("describe expiry of table %s: %w", t.name, err)
	}
	return d, ttl, nil
}

// Verify compares the definition with the table in the store. Differences are a [*DriftError].
func (t *Table) Verify(ctx context.Context, admin dynamo.Admin) error {
	d, ttl, err := t.describe(ctx, admin)
	if err != nil {
		return err
	}
	if diffs := t.Drift(d, ttl); len(diffs) > 0 {
		additional := t.additional(d)
		return &DriftError{
			Table: t.name, Differences: diffs, Additional: additional,
			ExpiryOff: t.ttl != "" && ttl.AttributeName == "",
			Harmless: len(t.Drift(d, nil)) == len(additional) &&
				(ttl.AttributeName == "" || len(diffs) == len(additional)),
		}
	}
	return nil
}

// DriftError reports a table in the store that differs from its definition.
type DriftError struct {
	Table       string
	Differences []string
	// Additional are the names of indexes that the definition does not have. They cost writes but
	// change nothing else.
	Additional []string
	// ExpiryOff reports a disabled expiry, which [Table.Ensure] enables if Harmless.
	ExpiryOff bool
	// Harmless reports whether nothing differs except additional indexes and expiry that is off, so
	// that the table can be used.
	Harmless bool
}

// Error lists the differences.
func (e *DriftError) Error() string {
	return fmt.Sprintf("table %s is not as defined: %s", e.Table,
		strings.Join(e.Differences, "; "))
}

// Drift returns every difference between the definition and a table in the store. ttl may be nil if
// it is unknown. Additional indexes in the store are differences, too, because each index adds to
// the cost of writes.
func (t *Table) Drift(d *dynamo.TableDescription, ttl *dynamo.TimeToLiveDescription) []string {
	var diffs []string
	differ := func(format string, args ...any) {
		diffs = append(diffs, fmt.Sprintf(format, args...))
	}
	if want, have := schemaText(schemaOf(t.keys)), schemaText(d.KeySchema); want != have {
		differ("the key is %s, not %s", have, want)
	}
	types := map[string]dynamo.Kind{}
	for _, a := range d.AttributeDefinitions {
		types[a.AttributeName] = a.AttributeType
	}
	t.eachKeyAttribute(func(attr string) {
		if have, ok := types[attr]; ok && have != t.keyKind(attr) {
			differ("key attribute %s is of type %s, not %s", attr, have, t.keyKind(attr))
		}
	})
	t.driftIndexes(d, differ)
	switch {
	case ttl == nil:
	case t.ttl != ttl.AttributeName:
		differ("expiry is by %q, not %q", ttl.AttributeName, t.ttl)
	case t.ttl != "" && ttl.TimeToLiveStatus == dynamo.TimeToLiveDisabling:
		differ("expiry by %q is being turned off", t.ttl)
	}
	return diffs
}

// storedIndex holds the properties that global and local indexes of a description share.
type storedIndex struct {
	name       string
	local      bool
	schema     []dynamo.KeySchemaElement
	projection dynamo.Projection
}

func (t *Table) driftIndexes(d *dynamo.TableDescription, differ func(string, ...any)) {
	var stored []storedIndex
	for _, x := range d.GlobalSecondaryIndexes {
		stored = append(stored, storedIndex{x.IndexName, false, x.KeySchema, x.Projection})
	}
	for _, x := range d.LocalSecondaryIndexes {
		stored = append(stored, storedIndex{x.IndexName, true, x.KeySchema, x.Projection})
	}
	for _, x := range t.indexes {
		at := slices.IndexFunc(stored, func(s storedIndex) bool { return s.name == x.name })
		if at < 0 {
			differ("index %s is missing", x.name)
			continue
		}
		have := stored[at]
		if have.local != x.local {
			differ("index %s is local=%t, not %t", x.name, have.local, x.local)
		}
		if w, h := schemaText(schemaOf(x.keys)), schemaText(have.schema); w != h {
			differ("the key of index %s is %s, not %s", x.name, h, w)
		}
		if w, h := projectionText(x.projection), projectionText(have.projection); w != h {
			differ("index %s projects %s, not %s", x.name, h, w)
		}
	}
	for _, name := range t.additional(d) {
		differ("index %s is not defined here", name)
	}
}

// additional returns the names of the indexes of a table that the definition does not have.
func (t *Table) additional(d *dynamo.TableDescription) (names []string) {
	for _, x := range d.GlobalSecondaryIndexes {
		if t.index(x.IndexName) == nil {
			names = append(names, x.IndexName)
		}
	}
	for _, x := range d.LocalSecondaryIndexes {
		if t.index(x.IndexName) == nil {
			names = append(names, x.IndexName)
		}
	}
	return names
}

func schemaText(elems []dynamo.KeySchemaElement) string {
	names := make([]string, len(elems))
	for i, e := range elems {
		names[i] = e.AttributeName
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func projectionText(p dynamo.Projection) string {
	names := slices.Clone(p.NonKeyAttributes)
	slices.Sort(names)
	return strings.TrimSpace(string(p.ProjectionType) + " " + strings.Join(names, ", "))
}
