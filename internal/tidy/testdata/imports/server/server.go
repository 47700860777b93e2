package server

import (
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
	_ "github.com/exchequer-dev/exchequer/server/rest"
	_ "github.com/exchequer-dev/exchequer/systems/ledger"
	_ "net/http"
)
