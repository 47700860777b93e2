package singletable

import (
	_ "github.com/exchequer-dev/exchequer/dynamo"
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
	_ "github.com/exchequer-dev/exchequer/money"
)
