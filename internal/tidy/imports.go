package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Imports checks the import table and the homes of the dependencies.
func Imports(t *Tree) []Finding {
	var found []Finding
	dirs, files := t.packages()
	for _, dir := range dirs {
		r, ok := ruleOf(dir)
		if !ok {
			text := "package is missing from the import table"
			found = append(found, Finding{Path: dir, Text: text})
			continue
		}
		for _, f := range files[dir] {
			for _, spec := range f.Syntax.Imports {
				if text := judge(r, f, importPath(spec)); text != "" {
					found = append(found, Finding{f.Path, f.line(spec.Pos()), text})
				}
			}
		}
	}
	return sorted(found)
}

// judge gives the reason why a file may not import a package, or "".
func judge(r rule, f *GoFile, imported string) string {
	if own, ok := below(imported, Module); ok {
		return judgeOwn(r, f, own)
	}
	outside := strings.Contains(strings.SplitN(imported, "/", 2)[0], ".")
	if outside && r.std && !f.Test {
		return fmt.Sprintf("%s uses the standard library only, not %s", r.pkg, imported)
	}
	i := slices.IndexFunc(homes, func(h home) bool {
		_, ok := below(imported, h.prefix)
		return ok
	})
	switch {
	case i < 0 && outside:
		return imported + " is missing from the list of dependencies and their homes"
	case i < 0 || matchesAny(homes[i].code, f.Dir):
		return ""
	case f.Test && matchesAny(homes[i].tests, f.Dir):
		return ""
	}
	return fmt.Sprintf("%s may not be imported here: %s", imported, homes[i].places())
}

func judgeOwn(r rule, f *GoFile, own string) string {
	switch {
	case own == checksDir && f.Dir != checksDir:
		return "nothing imports " + checksDir
	case f.Test || matchesAny(r.may, own):
		return ""
	case strings.HasSuffix(r.pkg, "/...") && matches(r.pkg, own):
		return ""
	case len(r.may) == 0:
		return fmt.Sprintf("%s may import nothing from this project, not %s", r.pkg, own)
	}
	return fmt.Sprintf("%s may not import %s, only %s", r.pkg, own, strings.Join(r.may, ", "))
}

func (h home) places() string {
	code, tests := strings.Join(h.code, ", "), strings.Join(h.tests, ", ")
	switch {
	case code == "" && tests == "...":
		return "it is for tests"
	case tests == "" || tests == "...":
		return "its home is " + code
	}
	return fmt.Sprintf("its home is %s, and tests of %s", code, tests)
}

// ruleOf finds the longest pattern that matches a package.
func ruleOf(dir string) (rule, bool) {
	var best rule
	found := false
	for _, r := range layout {
		if matches(r.pkg, dir) && (!found || len(r.pkg) > len(best.pkg)) {
			best, found = r, true
		}
	}
	return best, found
}

// matches reports whether a package's path is taken in by a pattern.
func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		_, ok := below(dir, prefix)
		return ok
	}
	return pattern == dir
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// below gives the rest of a path under a prefix, "." when they are the same.
func below(p, prefix string) (string, bool) {
	if p == prefix {
		return ".", true
	}
	return strings.CutPrefix(p, prefix+"/")
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser has accepted it, so this is a file that does not parse
		return spec.Path.Value
	}
	return p
}

// Signatures checks that the modules listed as hidden show in no exported signature.
func Signatures(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Test || slices.Contains(strings.Split(f.Dir, "/"), "internal") {
			continue
		}
		names := hiddenNames(f)
		if len(names) == 0 {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			for _, e := range exportedTypes(decl) {
				ast.Inspect(e, func(n ast.Node) bool {
					sel, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] {
						text := x.Name + "." + sel.Sel.Name + " shows in an exported signature"
						found = append(found, Finding{f.Path, f.line(sel.Pos()), text})
					}
					return true
				})
			}
		}
	}
	return sorted(found)
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// hiddenNames gives the names under which a file knows packages of hidden modules.
func hiddenNames(f *GoFile) map[string]bool {
	names := map[string]bool{}
	for _, spec := range f.Syntax.Imports {
		p := importPath(spec)
		for _, module := range hidden {
			if _, ok := below(p, module); !ok {
				continue
			}
			name := path.Base(p)
			if majorVersion.MatchString(name) {
				name = path.Base(path.Dir(p))
			}
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = true
		}
	}
	return names
}

// exportedTypes gives the type expressions of a declaration that a caller can see.
func exportedTypes(decl ast.Decl) []ast.Node {
	var nodes []ast.Node
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) {
			nodes = append(nodes, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					nodes = append(nodes, visibleParts(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
					nodes = append(nodes, s.Type)
				}
			}
		}
	}
	return nodes
}

// visibleParts leaves out a struct's unexported fields: there a hidden module may be held.
func visibleParts(e ast.Expr) []ast.Node {
	s, ok := e.(*ast.StructType)
	if !ok {
		return []ast.Node{e}
	}
	var nodes []ast.Node
	for _, field := range s.Fields.List {
		embedded := len(field.Names) == 0
		if embedded || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			nodes = append(nodes, field.Type)
		}
	}
	return nodes
}

// exportedReceiver reports whether a function is no method, or one of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
