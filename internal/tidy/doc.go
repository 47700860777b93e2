// Package tidy holds tests about the code itself: what may import what, how long a file may be,
// what must be documented, which words to avoid.
//
// Each check is a function from a Tree, the parsed sources of the module, to Findings. The tests
// run every check twice: over this module, where it must find nothing, and over a small tree under
// testdata that breaks each of its rules, where it must find exactly what is written in the golden
// file next to that tree. A check that cannot fail would be found there.
//
// Plain counts words with a plainer alternative against plain.txt. After a package has fewer,
// "go test ./internal/tidy -update" lowers its limit. If code with such words moves to another
// package, rewrite the comments instead of raising a limit.
//
// Measures compares the lines of code of each package, the methods of its widest type, its largest
// circle of files and its share of comments with bounds. A package beyond a bound has its value in
// measures.txt and may not get worse. "go test ./internal/tidy -update" records better values. If
// a worse value is right, as after a package was split, "go test ./internal/tidy -accept" records
// it; give the reason in the commit.
//
// The sources are parsed and never built, so the checks still work while a package does not
// compile. Only the standard library is used.
package tidy
