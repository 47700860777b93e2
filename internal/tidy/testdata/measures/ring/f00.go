// Package ring has files that use each other, which is one more than allowed.
package ring

// f00 uses the next file.
func f00() { f01() }
