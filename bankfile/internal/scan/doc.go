// Package scan cuts the text of a bank's file into lines, rows of delimited cells, and tags. It
// knows no format: what a line, a row or a tag means is decided by its callers.
//
// Nothing in a text makes it fail, because files of real banks have stray quotation marks,
// ampersands and line ends. It reports what is odd, and cuts what is longer than a limit, so that
// its memory is bounded. The only errors are those of the reader.
package scan
