package server

import (
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
	_ "github.com/exchequer-dev/exchequer/server/api"
	_ "github.com/exchequer-dev/exchequer/systems/ledger"
	_ "net/http"
)
