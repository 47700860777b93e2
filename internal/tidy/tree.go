package tidy

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is the import path of this project.
const Module = "github.com/exchequer-dev/exchequer"

// Finding is one place where a rule is broken.
type Finding struct {
	Path string // slash-separated, relative to the root of the tree
	Line int    // 0 when the finding is about the whole file or folder
	Text string
}

// String gives the finding in the form that editors can jump to.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// sorted puts findings in the order of paths and lines, so that output can be compared.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return found
}

// TextFile is a file that people read: a page, a script, a recipe.
type TextFile struct {
	Path  string
	Lines []string
}

// GoFile is one parsed Go file. A file with a syntax error is there as far as it could be parsed.
type GoFile struct {
	TextFile
	Dir       string // the package's path below the module, "." for the root
	Test      bool   // the name ends in _test.go
	Generated bool   // carries the standard "Code generated" line
	Source    []byte
	Syntax    *ast.File
	Fset      *token.FileSet
	ParseErr  error
}

// line gives the line of a position in the file.
func (f *GoFile) line(pos token.Pos) int { return f.Fset.Position(pos).Line }

// Tree is what the checks look at: the Go files and the texts of one module, without
// testdata, hidden folders, nested modules and what .gitignore names at the root.
type Tree struct {
	FS    fs.FS
	Go    []*GoFile
	Texts []TextFile

	ignored map[string]bool
	fset    *token.FileSet // of all files, so that the files of a package can be type-checked
}

// textNames are the suffixes, or whole names, of files that are read as text.
var textNames = []string{".md", ".txt", ".yaml", ".yml", ".sh", "Makefile", ".ci/run"}

// Load reads and parses a tree. The error is that of the file system; a Go file that does not
// parse is no error here, Names reports it.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{FS: fsys, ignored: ignoredAtRoot(fsys), fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && t.skipsDir(p):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular() || t.ignored[p]:
			return nil
		case strings.HasSuffix(p, ".go"):
			return t.addGo(p)
		case slices.ContainsFunc(textNames, func(n string) bool { return strings.HasSuffix(p, n) }):
			return t.addText(p)
		}
		return nil
	})
	return t, err
}

func (t *Tree) skipsDir(p string) bool {
	base := path.Base(p)
	switch {
	case p == "." || p == ".ci":
		return false
	case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"):
		return true
	case base == "testdata" || base == "vendor" || t.ignored[p]:
		return true
	}
	_, err := fs.Stat(t.FS, path.Join(p, "go.mod"))
	return err == nil
}

func (t *Tree) addGo(p string) error {
	src, err := fs.ReadFile(t.FS, p)
	if err != nil {
		return err
	}
	f := &GoFile{
		TextFile: TextFile{Path: p, Lines: splitLines(src)},
		Dir:      path.Dir(p),
		Test:     strings.HasSuffix(p, "_test.go"),
		Source:   src,
		Fset:     t.fset,
	}
	mode := parser.ParseComments | parser.SkipObjectResolution
	f.Syntax, f.ParseErr = parser.ParseFile(f.Fset, p, src, mode)
	f.Generated = ast.IsGenerated(f.Syntax)
	t.Go = append(t.Go, f)
	return nil
}

func (t *Tree) addText(p string) error {
	src, err := fs.ReadFile(t.FS, p)
	if err != nil {
		return err
	}
	t.Texts = append(t.Texts, TextFile{Path: p, Lines: splitLines(src)})
	return nil
}

// packages gives the Go files by folder, folders in order.
func (t *Tree) packages() (dirs []string, files map[string][]*GoFile) {
	files = map[string][]*GoFile{}
	for _, f := range t.Go {
		files[f.Dir] = append(files[f.Dir], f)
	}
	for dir := range files {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, files
}

// ignoredAtRoot reads the names that .gitignore anchors at the root: "/bin/", "/data/".
func ignoredAtRoot(fsys fs.FS) map[string]bool {
	ignored := map[string]bool{}
	src, err := fs.ReadFile(fsys, ".gitignore")
	if err != nil {
		return ignored
	}
	for _, line := range splitLines(src) {
		if name, ok := strings.CutPrefix(line, "/"); ok {
			ignored[strings.TrimSuffix(name, "/")] = true
		}
	}
	return ignored
}

func splitLines(src []byte) []string {
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(src))
	scan.Buffer(nil, len(src)+1)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	return lines
}
