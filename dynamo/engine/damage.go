package engine

import (
	"github.com/cockroachdb/pebble/v2"
)

// corruption is called when a file turns out to be damaged while it is read, by a call or by work
// in the background.
func (db *DB) corruption(info pebble.DataCorruptionInfo) {
	if _, logged := db.damaged.LoadOrStore(info.Path, true); !logged {
		db.opts.Logger.Error("a file of the database is damaged: restore a copy of the directory",
			"directory", db.dir, "file", info.Path, "error", info.Details)
	}
}
