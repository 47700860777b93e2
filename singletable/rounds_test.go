package singletable_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets EXCHEQUER_ROUNDS set how many cases each property tries. A property that fails
// prints the seed that brings the failure back.
func TestMain(m *testing.M) {
	flag.Parse()
	if n := os.Getenv("EXCHEQUER_ROUNDS"); n != "" {
		if err := flag.Set("rapid.checks", n); err != nil {
			fmt.Fprintln(os.Stderr, "EXCHEQUER_ROUNDS:", err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
