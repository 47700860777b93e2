package tidy

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// The limits of size. A file near 500 lines and a function near 70 are what is aimed at; these are
// where a reader is certainly lost.
const (
	fileLinesMax     = 800
	functionLinesMax = 100
	lineColumnsMax   = 100

	// A tab counts as wide as most readers have set it.
	tabColumns = 4

	// A string this long is a message or an address that people search for, or a struct tag.
	// Cutting it in two to fit the line would hide it from them.
	uncutStringMin = 60
)

// Sizes checks the length of files, lines and functions. Generated files are exempt. So are, for
// lines: those inside a raw string over several lines, those that hold one long string, and
// comments with a web address; for functions in tests: the lines of tables.
func Sizes(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Generated {
			continue
		}
		if n := len(f.Lines); n > fileLinesMax {
			text := fmt.Sprintf("file has %d lines, the limit is %d", n, fileLinesMax)
			found = append(found, Finding{f.Path, 0, text})
		}
		found = append(found, longLines(f)...)
		found = append(found, longFunctions(f)...)
	}
	return sorted(found)
}

func longLines(f *GoFile) []Finding {
	var found []Finding
	var exempt map[int]bool // made when the first long line is met: most files have none
	for i, line := range f.Lines {
		n := columns(line)
		if n <= lineColumnsMax {
			continue
		}
		if exempt == nil {
			exempt = exemptLines(f)
		}
		if !exempt[i+1] {
			text := fmt.Sprintf("line has %d columns, the limit is %d", n, lineColumnsMax)
			found = append(found, Finding{f.Path, i + 1, text})
		}
	}
	return found
}

// columns counts characters, not bytes.
func columns(line string) int {
	tabs := strings.Count(line, "\t")
	return utf8.RuneCountInString(line) + tabs*(tabColumns-1)
}

func exemptLines(f *GoFile) map[int]bool {
	exempt := map[int]bool{}
	fset := token.NewFileSet()
	file := fset.AddFile(f.Path, fset.Base(), len(f.Source))
	var s scanner.Scanner
	s.Init(file, f.Source, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return exempt
		}
		first, breaks := file.Line(pos), strings.Count(text, "\n")
		switch {
		case tok == token.COMMENT && strings.Contains(text, "://"):
			for i, line := range strings.Split(text, "\n") {
				exempt[first+i] = exempt[first+i] || strings.Contains(line, "://")
			}
		case tok == token.STRING && breaks > 0:
			for i := range breaks + 1 {
				exempt[first+i] = true
			}
		case tok == token.STRING && len(text) >= uncutStringMin:
			exempt[first] = true
		}
	}
}

func longFunctions(f *GoFile) []Finding {
	var found []Finding
	for _, decl := range f.Syntax.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		n := f.line(d.End()) - f.line(d.Pos()) + 1
		if f.Test {
			n -= tableLines(f, d)
		}
		if n > functionLinesMax {
			text := fmt.Sprintf("function %s has %d lines, the limit is %d",
				d.Name.Name, n, functionLinesMax)
			found = append(found, Finding{f.Path, f.line(d.Pos()), text})
		}
	}
	return found
}

// tableLines counts the lines inside the outermost composite literals of slices, arrays and maps.
func tableLines(f *GoFile, d *ast.FuncDecl) int {
	n := 0
	ast.Inspect(d, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch lit.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			n += f.line(lit.End()) - f.line(lit.Pos())
			return false
		}
		return true
	})
	return n
}
