// Package parsed stores the rows of a bank's file as they were read, so that a file is parsed once
// although an import needs its rows several times. It is pure: it writes to an io.Writer and reads
// from an io.ReaderAt.
//
// A stored file begins with a [Header], which has everything that was decided for the whole file,
// and a key. A reader passes the key that it expects. Rows that were stored under a different key
// are [ErrOutdated]: the file, the mapping or the program is not the same any more, and the file
// must be parsed again.
//
// The rows are compressed. They take less space than the file they come from, because rows that are
// entries are stored without their raw text. The package does not detect damage: the caller
// compares the stored bytes with their hash before it reads them.
package parsed
