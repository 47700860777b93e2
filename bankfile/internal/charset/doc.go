// Package charset finds the encoding of a bank's file and decodes it.
//
// A byte order mark, or a file that is UTF-8 from its beginning to its end, proves the encoding.
// Otherwise the first of these decides: the user's choice, the declaration of the file, names of
// columns that are known in one code page only, and the letters within words. If none does, the
// result has the choices for a person; see [Found].
package charset
