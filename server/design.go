package server

import (
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// modelOf returns the ledger's design: its own description of it where it has one.
func modelOf(l any, table string) *singletable.Model {
	if m, ok := l.(interface{ Model() *singletable.Model }); ok {
		return m.Model()
	}
	if table == "" {
		table = ledger.TableNameDefault
	}
	return singletable.NewModel("ledger", []*singletable.Table{
		singletable.NewTable(table, singletable.Keys("PK", "SK"),
			singletable.GSI("GSI1", "GSI1PK", "GSI1SK"), singletable.GSI("GSI2", "GSI2PK", "GSI2SK")),
	})
}
