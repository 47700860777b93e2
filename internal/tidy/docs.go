package tidy

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// contracts are methods whose meaning the standard library fixes; a comment could only repeat it.
var contracts = []string{
	"Error", "Unwrap", "String", "GoString", "Len", "Less", "Swap",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
}

// Docs checks that every package, and every exported name outside tests, has a comment. In a group
// of constants or variables the group's comment will do. Fields of structs and methods of
// interfaces are left to the reader's judgement.
func Docs(t *Tree) []Finding {
	var found []Finding
	dirs, files := t.packages()
	for _, dir := range dirs {
		if !slices.ContainsFunc(files[dir], documentsPackage) {
			found = append(found, Finding{Path: dir, Text: "package has no doc comment"})
		}
		for _, f := range files[dir] {
			if f.Test {
				continue
			}
			for _, decl := range f.Syntax.Decls {
				for _, name := range undocumented(decl) {
					text := name.Name + " is exported and has no doc comment"
					found = append(found, Finding{f.Path, f.line(name.Pos()), text})
				}
			}
		}
	}
	return sorted(found)
}

func documentsPackage(f *GoFile) bool {
	return f.Syntax.Doc.Text() != "" && !strings.HasSuffix(f.Syntax.Name.Name, "_test")
}

func undocumented(decl ast.Decl) []*ast.Ident {
	var names []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		known := d.Recv != nil && slices.Contains(contracts, d.Name.Name)
		if d.Name.IsExported() && exportedReceiver(d) && !known && d.Doc.Text() == "" {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				alone := !d.Lparen.IsValid() && d.Doc.Text() != ""
				if s.Name.IsExported() && !alone && s.Doc.Text() == "" {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				names = append(names, undocumentedValues(d, s)...)
			}
		}
	}
	return names
}

func undocumentedValues(d *ast.GenDecl, s *ast.ValueSpec) []*ast.Ident {
	if d.Tok == token.IMPORT || d.Doc.Text()+s.Doc.Text()+s.Comment.Text() != "" {
		return nil
	}
	var names []*ast.Ident
	for _, name := range s.Names {
		if name.IsExported() {
			names = append(names, name)
		}
	}
	return names
}
