package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// definition is a store's description of a table. ttl is the attribute that items expire by, or
// empty.
type definition struct {
	table *dynamo.TableDescription
	ttl   string
}

// errUnknownOperation is what a store answers that implements a part of the protocol only.
var errUnknownOperation = &dynamo.Error{Code: "UnknownOperationException"}

func describe(ctx context.Context, s Store, table string) (*definition, error) {
	d, err := s.DescribeTable(ctx, table)
	if err != nil {
		return nil, err
	}
	ttl, err := s.DescribeTimeToLive(ctx, table)
	switch {
	case errors.Is(err, errUnknownOperation):
		return &definition{table: d}, nil
	case err != nil:
		return nil, fmt.Errorf("describe its expiry: %w", err)
	}
	return &definition{table: d, ttl: ttl.AttributeName}, nil
}

// inspect looks at both sides, and finds what an earlier run left.
func (c *copier) inspect(ctx context.Context) error {
	if err := c.describe(ctx); err != nil {
		return err
	}
	_, err := c.to.DescribeTable(ctx, c.table)
	if errors.Is(err, dynamo.ErrResourceNotFound) {
		return nil // anything that was copied is gone
	}
	if err != nil {
		return err
	}
	if err := c.await(ctx); err != nil {
		return err
	}
	target, err := describe(ctx, c.to, c.table)
	if err != nil {
		return err
	}
	if differences := c.source.differences(target); len(differences) > 0 {
		return &RefusedError{Differences: differences}
	}
	known := c.state.table(c.table)
	if known != nil && (known.Overwrite || !c.opts.Overwrite) {
		c.at, c.before = known, known.items()
		return nil
	}
	if c.opts.Overwrite {
		return nil
	}
	var page *dynamo.ScanOutput
	if err := c.retry(ctx, func() (err error) {
		page, err = c.to.Scan(ctx, &dynamo.ScanInput{
			TableName: c.table, Limit: 1, ConsistentRead: true,
		})
		return err
	}); err != nil {
		return err
	}
	if len(page.Items) > 0 {
		return &RefusedError{}
	}
	return nil
}

// begin makes the table unless it is there, and waits until it can be used.
func (c *copier) begin(ctx context.Context) error {
	_, err := c.to.CreateTable(ctx, c.source.input())
	if err != nil && !errors.Is(err, dynamo.ErrResourceInUse) {
		return fmt.Errorf("create it: %w", err)
	}
	if err := c.await(ctx); err != nil {
		return err
	}
	c.at = c.state.begin(c.table, c.opts.Segments, c.opts.Overwrite)
	return c.state.save()
}

// input returns a new table's definition. Expiry, stream and protection are enabled after the copy,
// because none of them should see it.
func (d *definition) input() *dynamo.CreateTableInput {
	t := d.table
	in := &dynamo.CreateTableInput{
		TableName: t.TableName, AttributeDefinitions: t.AttributeDefinitions,
		KeySchema: t.KeySchema, BillingMode: t.BillingMode,
		OnDemandThroughput: t.OnDemandThroughput, TableClass: t.TableClass,
	}
	provisioned := t.BillingMode != dynamo.BillingPayPerRequest
	if provisioned {
		throughput := t.ProvisionedThroughput
		in.ProvisionedThroughput = &throughput
	}
	for _, x := range t.GlobalSecondaryIndexes {
		index := dynamo.GlobalSecondaryIndex{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
			OnDemandThroughput: x.OnDemandThroughput,
		}
		if provisioned {
			throughput := x.ProvisionedThroughput
			index.ProvisionedThroughput = &throughput
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, index)
	}
	for _, x := range t.LocalSecondaryIndexes {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, dynamo.LocalSecondaryIndex{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
		})
	}
	return in
}

// awaitEvery is how often a table that is being made is looked at.
const awaitEvery = 200 * time.Millisecond

// await waits until the table on the other side, and its indexes, can be used.
func (c *copier) await(ctx context.Context) error {
	for {
		d, err := c.to.DescribeTable(ctx, c.table)
		if err != nil {
			return err
		}
		ready := d.TableStatus == dynamo.StatusActive
		switch d.TableStatus {
		case dynamo.StatusActive, dynamo.StatusCreating, dynamo.StatusUpdating:
		default:
			return fmt.Errorf("on the other side it is %s", d.TableStatus)
		}
		for _, x := range d.GlobalSecondaryIndexes {
			ready = ready && x.IndexStatus == dynamo.StatusActive
		}
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(awaitEvery):
		}
	}
}

// finish turns on what waited for the items.
func (c *copier) finish(ctx context.Context) error {
	source := c.source
	if err := c.copyTags(ctx, source.table); err != nil {
		return fmt.Errorf("copy its tags: %w", err)
	}
	target, err := describe(ctx, c.to, c.table)
	if err != nil {
		return err
	}
	if source.ttl != target.ttl {
		if err := c.to.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
			TableName: c.table, AttributeName: source.ttl, Enabled: true,
		}); err != nil {
			return fmt.Errorf("turn its expiry on: %w", err)
		}
	}
	if source.table.StreamSpecification != nil && target.table.StreamSpecification == nil {
		if err := c.update(ctx, &dynamo.UpdateTableInput{
			TableName: c.table, StreamSpecification: source.table.StreamSpecification,
		}); err != nil {
			return fmt.Errorf("turn its stream on: %w", err)
		}
	}
	if source.table.DeletionProtectionEnabled && !target.table.DeletionProtectionEnabled {
		on := true
		if err := c.update(ctx, &dynamo.UpdateTableInput{
			TableName: c.table, DeletionProtectionEnabled: &on,
		}); err != nil {
			return fmt.Errorf("protect it from deletion: %w", err)
		}
	}
	return nil
}

// update changes a table, which takes one change at a time, and waits until it is changed.
func (c *copier) update(ctx context.Context, in *dynamo.UpdateTableInput) error {
	if err := c.await(ctx); err != nil {
		return err
	}
	if _, err := c.to.UpdateTable(ctx, in); err != nil {
		return err
	}
	return c.await(ctx)
}

// reservedTag begins the keys of tags that only the service sets.
const reservedTag = "aws:"

func (c *copier) copyTags(ctx context.Context, source *dynamo.TableDescription) error {
	from, ok := c.from.(dynamo.Tagger)
	to, both := c.to.(dynamo.Tagger)
	if !ok || !both || source.TableArn == "" {
		return nil
	}
	in := &dynamo.ListTagsInput{ResourceArn: source.TableArn}
	var tags []dynamo.Tag
	for {
		out, err := from.ListTagsOfResource(ctx, in)
		if errors.Is(err, errUnknownOperation) {
			return nil
		}
		if err != nil {
			return err
		}
		tags = append(tags, out.Tags...)
		if in.NextToken = out.NextToken; in.NextToken == "" {
			break
		}
	}
	tags = slices.DeleteFunc(tags, func(t dynamo.Tag) bool {
		return strings.HasPrefix(t.Key, reservedTag)
	})
	if len(tags) == 0 {
		return nil
	}
	target, err := c.to.DescribeTable(ctx, c.table)
	if err != nil {
		return err
	}
	return to.TagResource(ctx, target.TableArn, tags)
}

// differences returns the differences between two tables that decide which items they can hold,
// which queries they answer, and what happens to their items. A setting that the other side has not
// enabled yet is not a difference, and neither is the billing mode, which may be chosen for each
// side.
func (d *definition) differences(other *definition) []string {
	var found []string
	differ := func(what, source, target string) {
		if source != target {
			found = append(found, fmt.Sprintf("%s: the source has %s, the other side %s", what,
				orNone(source), orNone(target)))
		}
	}
	differ("key", keyText(d.table, d.table.KeySchema), keyText(other.table, other.table.KeySchema))
	ours, theirs := indexTexts(d.table), indexTexts(other.table)
	names := slices.AppendSeq(slices.Collect(maps.Keys(ours)), maps.Keys(theirs))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		differ("index "+name, ours[name], theirs[name])
	}
	if other.ttl != "" {
		differ("attribute of expiry", d.ttl, other.ttl)
	}
	if s := other.table.StreamSpecification; s != nil && d.table.StreamSpecification != nil {
		differ("stream", string(d.table.StreamSpecification.StreamViewType),
			string(s.StreamViewType))
	}
	return found
}

// lacking names every difference from another definition, also what the other side has not turned
// on.
func (d *definition) lacking(other *definition) []string {
	found := d.differences(other)
	off := func(what, source string) {
		found = append(found, fmt.Sprintf("%s: the source has %s, the other side none", what,
			source))
	}
	if d.ttl != "" && other.ttl == "" {
		off("attribute of expiry", d.ttl)
	}
	ours, theirs := d.table.StreamSpecification, other.table.StreamSpecification
	switch {
	case ours != nil && theirs == nil:
		off("stream", string(ours.StreamViewType))
	case ours == nil && theirs != nil:
		found = append(found, "stream: the source has none, the other side "+
			string(theirs.StreamViewType))
	}
	if d.table.DeletionProtectionEnabled && !other.table.DeletionProtectionEnabled {
		off("deletion protection", "one")
	}
	return found
}

// keyText returns which attributes make a key.
func keyText(t *dynamo.TableDescription, schema []dynamo.KeySchemaElement) string {
	parts := make([]string, len(schema))
	for i, e := range schema {
		kind := dynamo.Absent
		for _, a := range t.AttributeDefinitions {
			if a.AttributeName == e.AttributeName {
				kind = a.AttributeType
			}
		}
		parts[i] = fmt.Sprintf("%s %s %s", e.KeyType, e.AttributeName, kind)
	}
	return strings.Join(parts, ", ")
}

// indexTexts returns a text with the definition of each index.
func indexTexts(t *dynamo.TableDescription) map[string]string {
	all := map[string]string{}
	add := func(kind, name string, schema []dynamo.KeySchemaElement, p dynamo.Projection) {
		text := fmt.Sprintf("%s, %s, %s", kind, keyText(t, schema), p.ProjectionType)
		if p.ProjectionType == dynamo.ProjectInclude {
			names := slices.Sorted(slices.Values(p.NonKeyAttributes))
			text += " " + strings.Join(names, " ")
		}
		all[name] = text
	}
	for _, x := range t.GlobalSecondaryIndexes {
		add("global", x.IndexName, x.KeySchema, x.Projection)
	}
	for _, x := range t.LocalSecondaryIndexes {
		add("local", x.IndexName, x.KeySchema, x.Projection)
	}
	return all
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
