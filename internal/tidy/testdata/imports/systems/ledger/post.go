package ledger

import (
	_ "github.com/exchequer-dev/exchequer/dynamo"
	_ "github.com/exchequer-dev/exchequer/money"
	_ "github.com/exchequer-dev/exchequer/problem"
	_ "github.com/exchequer-dev/exchequer/singletable"
	_ "net/http/httptest"
)
