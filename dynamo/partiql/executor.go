package partiql

import (
	"context"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

// Store is the part of a store that statements need. Every store that is a [dynamo.DB] and a
// [dynamo.Admin] is one.
type Store interface {
	dynamo.DB
	// DescribeTable describes a table; see [dynamo.Admin].
	DescribeTable(ctx context.Context, tableName string) (*dynamo.TableDescription, error)
}

// Executor executes statements over a store. It is safe for concurrent use. It caches parsed
// statements, so an Executor should live as long as its store.
type Executor struct {
	db          Store
	statements  syntax.Parser
	expressions *expr.Parser
}

var _ dynamo.PartiQL = (*Executor)(nil)

// New returns an executor over a store.
func New(db Store) *Executor {
	return &Executor{db: db, expressions: expr.NewParser()}
}
