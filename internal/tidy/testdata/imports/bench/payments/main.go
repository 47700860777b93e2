package main

import (
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"
)
