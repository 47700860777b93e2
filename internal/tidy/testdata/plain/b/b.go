// Package b has as many words as the table allows: it says so, and tells it.
package b
