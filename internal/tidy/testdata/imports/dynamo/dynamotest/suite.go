package dynamotest

import (
	_ "github.com/exchequer-dev/exchequer/dynamo"
	_ "pgregory.net/rapid"
	_ "testing"
)
