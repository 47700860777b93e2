package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// emptyNames do not describe what a package holds.
var emptyNames = []string{"util", "utils", "common", "models", "helpers", "core"}

var (
	// A note of work left undone. Three crosses alone are ISO 4217's code for "no currency", so
	// they count only where they introduce a note.
	leftover = regexp.MustCompile(`\b(TODO|FIXME)\b|\bXXX[:(]`)

	// A path of the machine that something was written on. Other people do not have it.
	machinePath = regexp.MustCompile(`(^|[^\w.~-])(/(home|root|tmp|work)(/|\b))`)
)

// Names checks that every Go file parses, that packages have names that describe them, and
// that no package runs code when it is imported, because effects need an explicit call.
func Names(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.ParseErr != nil {
			found = append(found, Finding{f.Path, 0, "file does not parse: " + f.ParseErr.Error()})
		}
		for _, name := range []string{f.Syntax.Name.Name, path.Base(f.Dir)} {
			if slices.Contains(emptyNames, strings.TrimSuffix(name, "_test")) {
				text := fmt.Sprintf("a package named %s says nothing about what it holds", name)
				found = append(found, Finding{f.Path, f.line(f.Syntax.Name.Pos()), text})
				break
			}
		}
		for _, decl := range f.Syntax.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
				found = append(found, Finding{f.Path, f.line(d.Pos()), "init runs unasked"})
			}
		}
	}
	return sorted(found)
}

// Words checks for notes of work left undone in the comments of Go files, and for paths of one
// machine in all files that people read.
func Words(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		found = append(found, machinePaths(f.TextFile)...)
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				if m := leftover.FindString(c.Text); m != "" {
					text := strings.Trim(m, ":(") + " in a comment marks work left undone"
					found = append(found, Finding{f.Path, f.line(c.Pos()), text})
				}
			}
		}
	}
	for _, f := range t.Texts {
		found = append(found, machinePaths(f)...)
	}
	return sorted(found)
}

func machinePaths(f TextFile) []Finding {
	var found []Finding
	for i, line := range f.Lines {
		if m := machinePath.FindStringSubmatch(line); m != nil {
			found = append(found, Finding{f.Path, i + 1, m[2] + " is a path of one machine"})
		}
	}
	return found
}
