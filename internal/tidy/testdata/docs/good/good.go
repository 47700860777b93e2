// Package good is documented.
package good

// Verb does something.
func Verb() {}
