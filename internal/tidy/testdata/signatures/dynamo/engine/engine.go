package engine

import (
	"github.com/cockroachdb/pebble/v2"
	disk "github.com/cockroachdb/pebble/v2/vfs"
)

// The store may be held in an unexported field.
type DB struct {
	store *pebble.DB
	Stats pebble.Metrics
	*pebble.Batch
}

type Options struct {
	FS    disk.FS
	inner pebble.Options
}

type Filer interface {
	File() disk.File
}

var Default, other *pebble.Options

func Open(dir string, o *pebble.Options) (*DB, error) { return nil, nil }

func (d *DB) Each(f func(pebble.InternalKey)) {}

func open(fs disk.FS) (*pebble.DB, error) { return nil, nil }

type hidden struct{}

func (hidden) Store() *pebble.DB { return nil }
