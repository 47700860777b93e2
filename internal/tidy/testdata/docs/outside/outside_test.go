// Package outside_test documents the tests, which is not enough.
package outside_test
