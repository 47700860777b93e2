package dynamo

import (
	_ "github.com/exchequer-dev/exchequer/dynamo/engine"
	_ "pgregory.net/rapid"
	_ "testing"
)
