package tidy

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// codeForm is the form of the code of a problem.
	codeForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

	// states are words that describe a noun, so a code ends with them.
	states = []string{"invalid", "no", "not", "missing", "unknown", "unsupported", "wrong", "bad"}
)

// Codes checks the codes of problems where they are defined. A code is a literal of lower-case
// words joined by underscores, the noun comes before its state, and no code is defined twice in all
// catalogues, because a program that reads a code cannot ask where it comes from.
func Codes(t *Tree) []Finding {
	var found []Finding
	first := map[string]string{}
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		for call := range definitions(f.Syntax) {
			report := func(format string, args ...any) {
				text := fmt.Sprintf(format, args...)
				found = append(found, Finding{f.Path, f.line(call.Pos()), text})
			}
			literal, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				report("the code of a problem is not a literal")
				continue
			}
			code, err := strconv.Unquote(literal.Value)
			word, _, _ := strings.Cut(code, "_")
			switch {
			case err != nil || !codeForm.MatchString(code):
				report("%s is no code: lower-case words joined by underscores", literal.Value)
			case slices.Contains(states, word):
				report("the code %s begins with a state: the noun comes first", code)
			case first[code] != "":
				report("the code %s is defined in %s already", code, first[code])
			default:
				first[code] = f.Path
			}
		}
	}
	return sorted(found)
}

// definitions yields the calls in a file that define a problem.
func definitions(file *ast.File) func(yield func(*ast.CallExpr) bool) {
	return func(yield func(*ast.CallExpr) bool) {
		more := true
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 4 || !more {
				return more
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Define" {
				more = yield(call)
			}
			return more
		})
	}
}
