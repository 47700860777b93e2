package engine

import (
	_ "github.com/cockroachdb/pebble/v2/vfs"
	_ "github.com/exchequer-dev/exchequer/dynamo"
	_ "github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	_ "github.com/exchequer-dev/exchequer/singletable"
	_ "github.com/google/go-cmp/cmp"
)
