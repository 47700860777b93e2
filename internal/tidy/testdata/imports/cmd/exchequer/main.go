package main

import (
	_ "example.org/progress"
	_ "github.com/exchequer-dev/exchequer/client"
	_ "github.com/exchequer-dev/exchequer/internal/tidy"
	_ "github.com/exchequer-dev/exchequer/server"
	_ "github.com/spf13/cobra"
	_ "net/http/httptest"
)
