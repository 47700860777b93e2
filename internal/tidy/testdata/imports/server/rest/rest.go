package rest

import (
	_ "github.com/danielgtaylor/huma/v2"
	_ "github.com/exchequer-dev/exchequer/dynamo"
	_ "github.com/exchequer-dev/exchequer/server"
	_ "github.com/exchequer-dev/exchequer/systems/ledger"
)
