package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Apart is a view of a store in which all table names have a prefix that is visible only to the
// store. Tests with fixed table names can therefore share a store without conflicts.
type Apart struct {
	store  Store
	prefix string

	mu     sync.Mutex
	tables map[string]bool // the tables that it created, with the prefix
}

// NewApart returns a view of a store that has no tables.
func NewApart(store Store) *Apart {
	return &Apart{
		store: store, prefix: "apart-" + rand.Text()[:10] + "-", tables: map[string]bool{},
	}
}

// Drop deletes the tables of the view.
func (a *Apart) Drop(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for table := range a.tables {
		gone := await(ctx, func() bool {
			_, err := a.store.DeleteTable(ctx, table)
			if err != nil && !errors.Is(err, dynamo.ErrResourceNotFound) {
				if errors.Is(err, dynamo.ErrResourceInUse) {
					return false
				}
				errs = append(errs, err)
			}
			return true
		})
		if !gone {
			errs = append(errs, errors.New("table "+table+" is still there"))
		}
	}
	clear(a.tables)
	return errors.Join(errs...)
}

// inner returns the name of a table in the store. An empty name stays empty.
func (a *Apart) inner(table string) string {
	if table == "" {
		return ""
	}
	return a.prefix + table
}

func (a *Apart) outer(table string) string { return strings.TrimPrefix(table, a.prefix) }

func (a *Apart) used(c *dynamo.ConsumedCapacity) {
	if c != nil {
		c.TableName = a.outer(c.TableName)
	}
}

func (a *Apart) usedEach(cs []dynamo.ConsumedCapacity) {
	for i := range cs {
		a.used(&cs[i])
	}
}

// Get implements [dynamo.DB].
func (a *Apart) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Get(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// Put implements [dynamo.DB].
func (a *Apart) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Put(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// Update implements [dynamo.DB].
func (a *Apart) Update(ctx context.Context, in *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Update(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// Delete implements [dynamo.DB].
func (a *Apart) Delete(ctx context.Context, in *dynamo.DeleteInput) (*dynamo.DeleteOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Delete(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// Query implements [dynamo.DB].
func (a *Apart) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Query(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// Scan implements [dynamo.DB].
func (a *Apart) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	out, err := a.store.Scan(ctx, &asked)
	if err == nil {
		a.used(out.ConsumedCapacity)
	}
	return out, err
}

// renamed returns a map by table name with other names.
func renamed[V any](byTable map[string]V, name func(string) string) map[string]V {
	if byTable == nil {
		return nil
	}
	out := make(map[string]V, len(byTable))
	for table, v := range byTable {
		out[name(table)] = v
	}
	return out
}

// BatchGet implements [dynamo.DB].
func (a *Apart) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	asked := *in
	asked.RequestItems = renamed(in.RequestItems, a.inner)
	out, err := a.store.BatchGet(ctx, &asked)
	if err == nil {
		out.Responses = renamed(out.Responses, a.outer)
		out.UnprocessedKeys = renamed(out.UnprocessedKeys, a.outer)
		a.usedEach(out.ConsumedCapacity)
	}
	return out, err
}

// BatchWrite implements [dynamo.DB].
func (a *Apart) BatchWrite(
	ctx context.Context, in *dynamo.BatchWriteInput,
) (*dynamo.BatchWriteOutput, error) {
	asked := *in
	asked.RequestItems = renamed(in.RequestItems, a.inner)
	out, err := a.store.BatchWrite(ctx, &asked)
	if err == nil {
		out.UnprocessedItems = renamed(out.UnprocessedItems, a.outer)
		out.ItemCollectionMetrics = renamed(out.ItemCollectionMetrics, a.outer)
		a.usedEach(out.ConsumedCapacity)
	}
	return out, err
}

// TransactGet implements [dynamo.DB].
func (a *Apart) TransactGet(
	ctx context.Context, in *dynamo.TransactGetInput,
) (*dynamo.TransactGetOutput, error) {
	asked := *in
	asked.Items = slices.Clone(in.Items)
	for i := range asked.Items {
		asked.Items[i].TableName = a.inner(asked.Items[i].TableName)
	}
	out, err := a.store.TransactGet(ctx, &asked)
	if err == nil {
		a.usedEach(out.ConsumedCapacity)
	}
	return out, err
}

// TransactWrite implements [dynamo.DB].
func (a *Apart) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	asked := *in
	asked.Items = make([]dynamo.TransactWriteItem, len(in.Items))
	for i, action := range in.Items {
		asked.Items[i] = a.action(action)
	}
	out, err := a.store.TransactWrite(ctx, &asked)
	if err == nil {
		out.ItemCollectionMetrics = renamed(out.ItemCollectionMetrics, a.outer)
		a.usedEach(out.ConsumedCapacity)
	}
	return out, err
}

func (a *Apart) action(action dynamo.TransactWriteItem) dynamo.TransactWriteItem {
	if action.ConditionCheck != nil {
		check := *action.ConditionCheck
		check.TableName = a.inner(check.TableName)
		action.ConditionCheck = &check
	}
	if action.Put != nil {
		put := *action.Put
		put.TableName = a.inner(put.TableName)
		action.Put = &put
	}
	if action.Update != nil {
		update := *action.Update
		update.TableName = a.inner(update.TableName)
		action.Update = &update
	}
	if action.Delete != nil {
		remove := *action.Delete
		remove.TableName = a.inner(remove.TableName)
		action.Delete = &remove
	}
	return action
}

func (a *Apart) description(
	d *dynamo.TableDescription, err error,
) (*dynamo.TableDescription, error) {
	if err == nil {
		d.TableName = a.outer(d.TableName)
	}
	return d, err
}

// CreateTable implements [dynamo.Admin].
func (a *Apart) CreateTable(
	ctx context.Context, in *dynamo.CreateTableInput,
) (*dynamo.TableDescription, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	d, err := a.store.CreateTable(ctx, &asked)
	if err == nil {
		a.mu.Lock()
		a.tables[asked.TableName] = true
		a.mu.Unlock()
	}
	return a.description(d, err)
}

// DescribeTable implements [dynamo.Admin].
func (a *Apart) DescribeTable(
	ctx context.Context, tableName string,
) (*dynamo.TableDescription, error) {
	return a.description(a.store.DescribeTable(ctx, a.inner(tableName)))
}

// ListTables implements [dynamo.Admin]. The tables of the view are adjacent in the store's order,
// so the first table without the prefix ends the list.
func (a *Apart) ListTables(
	ctx context.Context, in *dynamo.ListTablesInput,
) (*dynamo.ListTablesOutput, error) {
	asked := *in
	// The list begins after the prefix alone, which is not the name of a table.
	asked.ExclusiveStartTableName = a.prefix + in.ExclusiveStartTableName
	out, err := a.store.ListTables(ctx, &asked)
	if err != nil {
		return nil, err
	}
	own := &dynamo.ListTablesOutput{}
	for _, table := range out.TableNames {
		if strings.HasPrefix(table, a.prefix) {
			own.TableNames = append(own.TableNames, a.outer(table))
		}
	}
	if strings.HasPrefix(out.LastEvaluatedTableName, a.prefix) {
		own.LastEvaluatedTableName = a.outer(out.LastEvaluatedTableName)
	}
	return own, nil
}

// UpdateTable implements [dynamo.Admin].
func (a *Apart) UpdateTable(
	ctx context.Context, in *dynamo.UpdateTableInput,
) (*dynamo.TableDescription, error) {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	return a.description(a.store.UpdateTable(ctx, &asked))
}

// DeleteTable implements [dynamo.Admin].
func (a *Apart) DeleteTable(
	ctx context.Context, tableName string,
) (*dynamo.TableDescription, error) {
	return a.description(a.store.DeleteTable(ctx, a.inner(tableName)))
}

// UpdateTimeToLive implements [dynamo.Admin].
func (a *Apart) UpdateTimeToLive(ctx context.Context, in *dynamo.UpdateTimeToLiveInput) error {
	asked := *in
	asked.TableName = a.inner(in.TableName)
	return a.store.UpdateTimeToLive(ctx, &asked)
}

// DescribeTimeToLive implements [dynamo.Admin].
func (a *Apart) DescribeTimeToLive(
	ctx context.Context, tableName string,
) (*dynamo.TimeToLiveDescription, error) {
	return a.store.DescribeTimeToLive(ctx, a.inner(tableName))
}
