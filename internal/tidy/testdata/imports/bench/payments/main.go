package main

import (
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
)
