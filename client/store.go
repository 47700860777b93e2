package client

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// Table is a table of the store.
type Table struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	// PartitionKey and SortKey are the names of the key attributes; a table may have no SortKey.
	PartitionKey string  `json:"partitionKey"`
	SortKey      string  `json:"sortKey,omitempty"`
	Indexes      []Index `json:"indexes"`
	// TTL is the attribute by which items expire; empty if none do.
	TTL string `json:"ttl,omitempty"`
	// Items and Bytes may be out of date.
	Items     int64     `json:"items"`
	Bytes     int64     `json:"bytes"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Created reports, in the result of CreateTables, whether the table was created by the call.
	Created bool `json:"created,omitempty"`
}

// Index is a secondary index of a table.
type Index struct {
	Name string `json:"name"`
	// Kind is "global" or "local".
	Kind         string `json:"kind"`
	Status       string `json:"status,omitempty"`
	PartitionKey string `json:"partitionKey"`
	SortKey      string `json:"sortKey,omitempty"`
	// Projection is ALL, KEYS_ONLY or INCLUDE.
	Projection string   `json:"projection"`
	Attributes []string `json:"attributes,omitempty"`
	Items      int64    `json:"items"`
	Bytes      int64    `json:"bytes"`
}

// TableCheck is a comparison of a table with its definition in the server.
type TableCheck struct {
	Name string `json:"name"`
	// OK reports whether everything was compared and nothing differs.
	OK bool `json:"ok"`
	// Verdict is VerdictSound, VerdictFaulty or VerdictUndecided.
	Verdict string `json:"verdict"`
	// Differences are sentences, one for each difference.
	Differences []string `json:"differences"`
	// Undecided are sentences, one for each part that cannot be compared because the store is
	// changing it.
	Undecided []string `json:"undecided"`
}

// Tables returns the tables of the server's systems that exist.
func (c *Client) Tables(ctx context.Context) ([]Table, error) {
	page, err := answer[Page[Table]](ctx, c.get("/v1/tables", nil))
	return page.Rows(err)
}

// Table describes a table.
func (c *Client) Table(ctx context.Context, name string) (Table, error) {
	return answer[Table](ctx, c.get("/v1/tables/"+segment(name), nil))
}

// CreateTables creates the missing tables of the server's systems, and returns all tables.
func (c *Client) CreateTables(ctx context.Context) ([]Table, error) {
	r := c.post("/v1/tables", nil)
	r.safe = true // only missing tables are created
	page, err := answer[Page[Table]](ctx, r)
	return page.Rows(err)
}

// CheckTable compares a table with its definition in the server.
func (c *Client) CheckTable(ctx context.Context, name string) (TableCheck, error) {
	return answer[TableCheck](ctx, c.get("/v1/tables/"+segment(name)+"/check", nil))
}

// CheckTables compares each table of the server's systems with its definition in the server, also
// one that is missing.
func (c *Client) CheckTables(ctx context.Context) ([]TableCheck, error) {
	page, err := answer[Page[TableCheck]](ctx, c.get("/v1/tables/-/check", nil))
	return page.Rows(err)
}

// ExportModel returns the tables of the server's systems in the format of another tool: workbench,
// cloudformation or terraform. The result is the text of a file.
func (c *Client) ExportModel(ctx context.Context, format string) (string, error) {
	export, err := answer[struct {
		Content string `json:"content"`
	}](ctx, c.get("/v1/model", url.Values{"format": {format}}))
	return export.Content, err
}

// Pattern is a named access pattern: one query of a table.
type Pattern struct {
	Name string `json:"name"`
	// Sentence describes the result.
	Sentence string `json:"sentence"`
	// System is the system of the pattern.
	System string `json:"system"`
	Table  string `json:"table"`
	// Index is empty for a pattern that reads the table itself.
	Index string `json:"index,omitempty"`
	// Operation is GetItem, Query or Scan.
	Operation string `json:"operation"`
	// Where is the key condition, with inputs in angle brackets.
	Where string `json:"where,omitempty"`
	// Partitions describes the partitions with the rows.
	Partitions string `json:"partitions"`
	// Entities are the kinds of items in the result.
	Entities []string       `json:"entities,omitempty"`
	Inputs   []PatternInput `json:"inputs"`
	// Plan is the requests and the cost of a page, with the names of inputs as values. It is set
	// only in the response for one pattern.
	Plan *Plan `json:"plan,omitempty"`
}

// PatternInput is an input of a pattern.
type PatternInput struct {
	Name string `json:"name"`
	// Type is how the text is parsed: text, time, integer, number, boolean or bytes.
	Type     string `json:"type"`
	Required bool   `json:"required"`
	// Use describes the purpose of the input.
	Use string `json:"use"`
}

// Plan describes a pattern before it is executed.
type Plan struct {
	// Requests are the requests to the store, in DynamoDB's terms.
	Requests []json.RawMessage `json:"requests"`
	// Calls is the typical number of calls for a page and ReadUnits the typical capacity.
	Calls     int     `json:"calls"`
	ReadUnits float64 `json:"readUnits"`
	// CallsMost and ReadUnitsMost are their maximum values.
	CallsMost     int     `json:"callsMost"`
	ReadUnitsMost float64 `json:"readUnitsMost"`
	// Notes are the assumptions of the figures.
	Notes []string `json:"notes"`
}

// PatternQuery is the inputs of a pattern, as text by name, and the page to read.
type PatternQuery struct {
	Inputs map[string]string
	PageQuery
}

// PatternRun is the result of a pattern.
type PatternRun struct {
	// Rows are the items, as JSON objects.
	Rows []json.RawMessage `json:"rows"`
	// Next is the cursor of the next page; empty on the last page.
	Next string `json:"next,omitempty"`
	// Unreadable are the stored items among the rows of this page that cannot be read.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
	Plan       Plan             `json:"plan"`
	// Calls, ReadUnits and Took are the measured cost of the page.
	Calls     int           `json:"calls"`
	ReadUnits float64       `json:"readUnits"`
	Took      time.Duration `json:"tookNanoseconds"`
}

// Patterns returns the access patterns of the server's systems.
func (c *Client) Patterns(ctx context.Context) ([]Pattern, error) {
	page, err := answer[Page[Pattern]](ctx, c.get("/v1/patterns", nil))
	return page.Rows(err)
}

// Pattern returns an access pattern with its plan.
func (c *Client) Pattern(ctx context.Context, name string) (Pattern, error) {
	return answer[Pattern](ctx, c.get("/v1/patterns/"+segment(name), nil))
}

// RunPattern executes an access pattern and returns a page of rows, the plan and the measured cost.
func (c *Client) RunPattern(
	ctx context.Context, name string, q PatternQuery,
) (PatternRun, error) {
	r := c.post("/v1/patterns/"+segment(name)+"/run",
		patternRunJSON{Inputs: q.Inputs, Limit: q.Limit, Cursor: q.Cursor})
	r.safe = true // a pattern only reads
	return answer[PatternRun](ctx, r)
}
