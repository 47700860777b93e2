package rest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Tables is what the API asks of the store about its tables.
type Tables interface {
	// List returns the tables of the systems that exist, by name.
	List(ctx context.Context) ([]Table, error)
	// Describe returns a table, and whether it exists.
	Describe(ctx context.Context, name string) (Table, bool, error)
	// Create creates the tables of the systems that are missing and returns all of them.
	Create(ctx context.Context) ([]Table, error)
	// Names returns the names of the tables that the systems need, in alphabetical order.
	Names() []string
	// Check compares a table with what the systems need, and reports whether they need it.
	Check(ctx context.Context, name string) (c singletable.Comparison, known bool, err error)
}

// Table is a table of the store.
type Table struct {
	Name         string
	Status       string
	PartitionKey string
	SortKey      string
	Indexes      []Index
	TTL          string
	Items, Bytes int64
	CreatedAt    time.Time
	// Created reports that the call made the table.
	Created bool
}

// Index is a secondary index of a table.
type Index struct {
	Name         string   `json:"name" example:"GSI1"`
	Kind         string   `json:"kind" enum:"global,local"`
	Status       string   `json:"status,omitempty" example:"ACTIVE"`
	PartitionKey string   `json:"partitionKey" example:"GSI1PK"`
	SortKey      string   `json:"sortKey,omitempty" example:"GSI1SK"`
	Projection   string   `json:"projection" enum:"ALL,KEYS_ONLY,INCLUDE"`
	Attributes   []string `json:"attributes,omitempty" nullable:"false" doc:"The attributes that INCLUDE names"`
	Items        int64    `json:"items" doc:"May lag"`
	Bytes        int64    `json:"bytes" doc:"May lag"`
}

// table is a table in an answer.
type table struct {
	Name         string  `json:"name" example:"FinancialTransactions"`
	Status       string  `json:"status" example:"ACTIVE"`
	PartitionKey string  `json:"partitionKey" doc:"The attribute" example:"PK"`
	SortKey      string  `json:"sortKey,omitempty" doc:"The attribute, if there is one" example:"SK"`
	Indexes      []Index `json:"indexes" nullable:"false"`
	TTL          string  `json:"ttl,omitempty" doc:"The attribute that expires items"`
	Items        int64   `json:"items" doc:"How many items there are; may lag"`
	Bytes        int64   `json:"bytes" doc:"How large they are together; may lag"`
	CreatedAt    instant `json:"createdAt,omitzero"`
	Created      bool    `json:"created,omitempty" doc:"Whether this request created the table"`
}

func tableOf(t Table) table {
	if t.Indexes == nil {
		t.Indexes = []Index{}
	}
	return table{
		Name: t.Name, Status: t.Status, PartitionKey: t.PartitionKey, SortKey: t.SortKey,
		Indexes: t.Indexes, TTL: t.TTL, Items: t.Items, Bytes: t.Bytes,
		CreatedAt: instant(t.CreatedAt), Created: t.Created,
	}
}

// tableCheck compares a table with what the systems need.
type tableCheck struct {
	Name        string   `json:"name" example:"FinancialTransactions"`
	OK          bool     `json:"ok" doc:"Whether the verdict is sound"`
	Verdict     string   `json:"verdict" enum:"sound,faulty,undecided" doc:"sound: everything was compared and nothing differs; faulty: something differs; undecided: nothing differs, but not everything could be compared"`
	Differences []string `json:"differences" nullable:"false" doc:"A sentence about each difference"`
	Undecided   []string `json:"undecided" nullable:"false" doc:"A sentence about each part that cannot be compared, because the store is changing it"`
}

type tableParams struct {
	Name string `path:"name" doc:"The table's name" example:"FinancialTransactions"`
}

func (a *API) registerTables() {
	const tag = "Tables"
	register(a.Router, operation{
		id: "list-tables", method: http.MethodGet, path: "/v1/tables", tag: tag,
		scope: api.StoreRead, summary: "List the tables",
		description: "Those of the systems of this server that exist.",
	}, a.tables)
	register(a.Router, operation{
		id: "create-tables", method: http.MethodPost, path: "/v1/tables", tag: tag,
		scope: api.StoreAdmin, summary: "Create the tables that are missing",
		description: "A table that exists is left as it is.",
	}, a.createTables)
	register(a.Router, operation{
		id: "get-table", method: http.MethodGet, path: "/v1/tables/{name}", tag: tag,
		scope: api.StoreRead, summary: "Describe a table",
		problems: []*problem.Definition{ErrTableNotFound},
	}, a.table)
	register(a.Router, operation{
		id: "check-table", method: http.MethodGet, path: "/v1/tables/{name}/check", tag: tag,
		scope: api.StoreRead, summary: "Compare a table with what the systems need",
		problems: []*problem.Definition{ErrTableNotFound},
	}, a.checkTable)
	register(a.Router, operation{
		id: "check-tables", method: http.MethodGet, path: "/v1/tables/-/check", tag: tag,
		scope: api.StoreRead, summary: "Compare all tables with what the systems need",
		description: "The name - means all. Each table that the systems of this server need is in the answer, also if it " +
			"is missing in the store.",
	}, a.checkTables)
	register(a.Router, operation{
		id: "export-model", method: http.MethodGet, path: "/v1/model", tag: tag,
		scope: api.StoreRead, summary: "Write the tables for another tool",
		description: "The tables of the systems of this server as a NoSQL Workbench model, which has the " +
			"entities and access patterns too, or as a template that creates them on AWS.",
	}, a.exportModel)
}

func (a *API) tables(ctx context.Context, _ *struct{}) (*answer[list[table]], error) {
	return tablesOf(a.deps.Tables.List(ctx))
}

func (a *API) createTables(ctx context.Context, _ *struct{}) (*answer[list[table]], error) {
	return tablesOf(a.deps.Tables.Create(ctx))
}

func tablesOf(tables []Table, err error) (*answer[list[table]], error) {
	if err != nil {
		return nil, err
	}
	return &answer[list[table]]{Body: list[table]{Items: All(tables, tableOf)}}, nil
}

func (a *API) table(ctx context.Context, in *tableParams) (*answer[table], error) {
	t, found, err := a.deps.Tables.Describe(ctx, in.Name)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, ErrTableNotFound.With("table", in.Name)
	}
	return &answer[table]{Body: tableOf(t)}, nil
}

func (a *API) checkTable(ctx context.Context, in *tableParams) (*answer[tableCheck], error) {
	c, known, err := a.deps.Tables.Check(ctx, in.Name)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, ErrTableNotFound.With("table", in.Name)
	}
	return &answer[tableCheck]{Body: tableCheckOf(in.Name, c)}, nil
}

func (a *API) checkTables(
	ctx context.Context, _ *struct{},
) (*answer[list[tableCheck]], error) {
	var checks []tableCheck
	for _, name := range a.deps.Tables.Names() {
		c, _, err := a.deps.Tables.Check(ctx, name)
		if err != nil {
			return nil, err
		}
		checks = append(checks, tableCheckOf(name, c))
	}
	return &answer[list[tableCheck]]{Body: list[tableCheck]{Items: checks}}, nil
}

func tableCheckOf(name string, c singletable.Comparison) tableCheck {
	verdict := c.Verdict()
	return tableCheck{
		Name: name, OK: verdict == singletable.VerdictSound, Verdict: string(verdict),
		Differences: append([]string{}, c.Differences...),
		Undecided:   append([]string{}, c.Undecided...),
	}
}

type exportParams struct {
	Format string `query:"format" required:"true" enum:"workbench,cloudformation,terraform" doc:"The form to write"`
}

// export is a model in the form of another tool.
type export struct {
	Format  string `json:"format" enum:"workbench,cloudformation,terraform"`
	Content string `json:"content" doc:"The text of the file"`
}

func (a *API) exportModel(_ context.Context, in *exportParams) (*answer[export], error) {
	tables := []*singletable.Table{}
	var patterns []singletable.AccessPattern
	for _, m := range a.models() {
		tables = append(tables, m.Tables()...)
		patterns = append(patterns, m.Patterns()...)
	}
	model := singletable.NewModel("exchequer", append(tables, a.deps.Keys.Table()), patterns...)
	content, err := model.Export(singletable.Format(in.Format), time.Now())
	if err != nil {
		return nil, fmt.Errorf("write the tables as %s: %w", in.Format, err)
	}
	return &answer[export]{Body: export{Format: in.Format, Content: string(content)}}, nil
}
