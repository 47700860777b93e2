package problem

import (
	_ "github.com/exchequer-dev/exchequer/money"
	_ "github.com/oklog/ulid/v2"
)
