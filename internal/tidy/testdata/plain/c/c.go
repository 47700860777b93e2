// Package c has one word more than the table allows: it says so
// anew.
package c
