// Package machine tells what the measurements say about the computer that they ran on, as far as
// its system lets it know.
package machine
