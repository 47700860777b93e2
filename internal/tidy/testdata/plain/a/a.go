// Package a tells nobody that it has no line in the table.
package a

// F runs side by side with G. G stands for nothing here.
func F() {}

// At least one word is like others, and a standard is not a stand.
var _ = "it says nothing in a string"
