// Package machine describes the computer that the measurements ran on, as far as its system reports
// it.
package machine
