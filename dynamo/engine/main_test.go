package engine_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain turns the test binary into the other process of the tests that need one, and lets
// EXCHEQUER_ROUNDS set how many cases the properties try.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir, os.Getenv(childDeedEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if checks := os.Getenv("EXCHEQUER_ROUNDS"); checks != "" {
		if err := flag.Set("rapid.checks", checks); err != nil {
			fmt.Fprintln(os.Stderr, "EXCHEQUER_ROUNDS:", err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
