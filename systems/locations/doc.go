// Package locations keeps a directory of places with a code that people know them by.
package locations
