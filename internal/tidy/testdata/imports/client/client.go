package client

import (
	_ "github.com/exchequer-dev/exchequer/money"
	_ "github.com/exchequer-dev/exchequer/server/rest"
	_ "github.com/exchequer-dev/exchequer/systems/ledger"
	_ "net/http"
)
