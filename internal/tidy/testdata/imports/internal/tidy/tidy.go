package tidy

import (
	_ "github.com/exchequer-dev/exchequer/problem"
	_ "github.com/google/go-cmp/cmp"
)
