package dynamo

import (
	_ "github.com/exchequer-dev/exchequer/money"
	_ "github.com/google/uuid"
	_ "net/http"
	_ "strings"
)
