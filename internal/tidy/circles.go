package tidy

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// circles finds circles of files: files of one package that use each other's declarations,
// directly or through others. No file of a circle can be read or moved without the rest.
//
// It type-checks the packages of the module from their source. Packages outside the module are
// empty, because checking them takes much longer and they do not refer to the module. A few of the
// standard library are an exception: their generic functions and types return what they are given,
// so that the uses of their results would be missed.
type circles struct {
	fset    *token.FileSet
	files   map[string][]*GoFile // by package
	checked map[string]*types.Package
	std     map[string]*types.Package
	info    map[string]*types.Info
}

// passing are the packages of the standard library that return what they are given.
var passing = []string{
	"cmp", "container/list", "iter", "maps", "slices", "sync", "sync/atomic", "unique", "weak",
}

func newCircles(t *Tree) *circles {
	c := &circles{
		fset: t.fset, files: map[string][]*GoFile{}, checked: map[string]*types.Package{},
		std: map[string]*types.Package{}, info: map[string]*types.Info{},
	}
	for _, f := range t.Go {
		if !f.Test && !f.Generated && f.ParseErr == nil && builds(f) {
			c.files[f.Dir] = append(c.files[f.Dir], f)
		}
	}
	return c
}

// builds reports whether a file is part of a build for Linux without cgo.
func builds(f *GoFile) bool {
	name := strings.TrimSuffix(path.Base(f.Path), ".go")
	for _, system := range []string{"windows", "darwin", "freebsd", "openbsd", "netbsd"} {
		if strings.HasSuffix(name, "_"+system) {
			return false
		}
	}
	for _, group := range f.Syntax.Comments {
		if group.Pos() > f.Syntax.Package {
			break
		}
		for _, c := range group.List {
			x, err := constraint.Parse(c.Text)
			if err == nil && !x.Eval(func(tag string) bool {
				return tag == "linux" || tag == "unix" || strings.HasPrefix(tag, "go1")
			}) {
				return false
			}
		}
	}
	return true
}

// Import implements [types.Importer].
func (c *circles) Import(name string) (*types.Package, error) {
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	if dir, ok := strings.CutPrefix(name, Module+"/"); ok {
		return c.check(dir), nil
	}
	if pkg := c.std[name]; pkg != nil {
		return pkg, nil
	}
	var files []*ast.File
	if slices.Contains(passing, name) {
		files = c.declarations(name)
	}
	config := types.Config{
		Importer: c, Error: func(error) {}, IgnoreFuncBodies: true, FakeImportC: true,
	}
	pkg, _ := config.Check(name, c.fset, files, nil) // it is incomplete, which is enough
	if pkg.Name() == "" {
		pkg = types.NewPackage(name, packageName(name))
	}
	pkg.MarkComplete()
	c.std[name] = pkg
	return pkg, nil
}

// packageName returns the name of a package outside the module, as its path has it.
func packageName(importPath string) string {
	name := path.Base(importPath)
	if strings.HasPrefix(name, "v") && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(importPath))
	}
	return strings.TrimPrefix(name, "go-")
}

// declarations parses a package of the standard library.
func (c *circles) declarations(name string) (files []*ast.File) {
	names, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", name, "*.go"))
	for _, file := range names {
		src, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(c.fset, file, src, parser.SkipObjectResolution)
		if err == nil {
			files = append(files, f)
		}
	}
	return files
}

// check type-checks a package of the module, after those that it imports.
func (c *circles) check(dir string) *types.Package {
	if pkg, ok := c.checked[dir]; ok {
		return pkg
	}
	c.checked[dir] = types.NewPackage(Module+"/"+dir, path.Base(dir)) // if it imports itself
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var files []*ast.File
	for _, f := range c.files[dir] {
		files = append(files, f.Syntax)
	}
	// The functions of a package that is too small for a circle are not read, to save time.
	bound, _ := boundOf(measureCircle)
	config := types.Config{
		Importer: c, Error: func(error) {}, FakeImportC: true,
		IgnoreFuncBodies: len(files) <= bound,
	}
	pkg, _ := config.Check(Module+"/"+dir, c.fset, files, info) // with unknown imports
	c.checked[dir], c.info[dir] = pkg, info
	return pkg
}

// largest returns the number of files in the largest circle of a package, or 0 if the package has
// too few files to be beyond the bound.
func (c *circles) largest(dir string) int {
	pkg := c.check(dir)
	uses := map[string]map[string]bool{}
	for id, o := range c.info[dir].Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() || !shared(o, pkg) {
			continue
		}
		from, to := c.fset.Position(id.Pos()).Filename, c.fset.Position(o.Pos()).Filename
		if from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	return largestCircle(uses)
}

// shared reports whether an object can be used from other files: it is a declaration of the
// package, a field or a method.
func shared(o types.Object, pkg *types.Package) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == pkg.Scope()
}

// largestCircle returns the size of the largest strongly connected component, or 0 without one of
// at least two nodes. It is Tarjan's algorithm.
func largestCircle(uses map[string]map[string]bool) int {
	index, low := map[string]int{}, map[string]int{}
	open := map[string]bool{}
	var stack []string
	largest := 0
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, open[v] = append(stack, v), true
		for w := range uses[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if open[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		size := 0
		for w := ""; w != v; size++ {
			w = stack[len(stack)-1]
			stack, open[w] = stack[:len(stack)-1], false
		}
		if size > 1 {
			largest = max(largest, size)
		}
	}
	for v := range uses {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}
