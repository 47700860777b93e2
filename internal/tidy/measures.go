package tidy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// The measures of a package. Files of tests, generated files and files with a build constraint that
// does not hold are not counted.
const (
	measureLines    = "lines"    // lines with code, in all files together
	measureMethods  = "methods"  // methods of the type with the most
	measureCircle   = "circle"   // files that use each other, directly or through others
	measureComments = "comments" // lines with only comments, in percent of these and the code
)

// bounds are the values that a package may have without a line in the table. They are the goals of
// the code base. Fewer comments are worse, more of everything else is.
var bounds = []struct {
	measure string
	bound   int
	step    int // recorded values are rounded to it, so that a small change is not a finding
}{
	{measureLines, 2000, 100},
	{measureMethods, 40, 1},
	{measureCircle, 10, 1},
	{measureComments, 14, 1},
}

// smallPackage is the number of lines of code below which comments are not measured, because a
// percentage of few lines means little.
const smallPackage = 200

// measuresTable is the file with the values of packages that are beyond a bound.
const measuresTable = checksDir + "/measures.txt"

// worseHint is the next step if a worse value is right.
const worseHint = `if that is right, "go test ./internal/tidy -accept" records it in ` +
	measuresTable

// measured is the value of one measure of one package.
type measured struct {
	dir, measure string
}

// Measures checks that no package is beyond a bound, or, if the table has its value, that it is not
// worse than that.
func Measures(t *Tree) ([]Finding, error) {
	limits, err := measureLimits(t)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for m, value := range measure(t) {
		limit, recorded := limits[m]
		bound, _ := boundOf(m.measure)
		if !recorded {
			limit = bound
		}
		switch {
		case m.measure == measureComments && value < limit:
			found = append(found, Finding{m.dir, 0, fmt.Sprintf(
				"%d percent of the lines are comments, the minimum is %d; %s", value, limit,
				worseHint)})
		case m.measure != measureComments && value > limit:
			found = append(found, Finding{m.dir, 0, fmt.Sprintf(
				"%s: %d, the limit is %d; %s", measureTexts[m.measure], value, limit,
				worseHint)})
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Text, b.Text) })
	return sorted(found), nil
}

// measureTexts are the words for the measures in findings.
var measureTexts = map[string]string{
	measureLines:   "lines of code of the package",
	measureMethods: "methods of its widest type",
	measureCircle:  "files in its largest circle of files that use each other",
}

// LowerMeasures returns the text of the table with the present values. No value gets worse, because
// the table is a ratchet.
func LowerMeasures(t *Tree) (string, error) {
	limits, err := measureLimits(t)
	if err != nil {
		return "", err
	}
	return measuresText(t, func(m measured, value int) int {
		limit, recorded := limits[m]
		switch bound, _ := boundOf(m.measure); {
		case !recorded:
			return bound
		case m.measure == measureComments:
			return max(value, limit)
		}
		return min(value, limit)
	}), nil
}

// AcceptMeasures returns the text of the table with the present values, also where they are worse.
func AcceptMeasures(t *Tree) (string, error) {
	return measuresText(t, func(_ measured, value int) int { return value }), nil
}

// measuresText returns the table of the values that choose returns for the present ones. Values
// within their bound have no line.
func measuresText(t *Tree, choose func(m measured, value int) int) string {
	var lines []string
	for m, value := range measure(t) {
		bound, step := boundOf(m.measure)
		beyond := false
		if m.measure == measureComments {
			value = choose(m, value)
			beyond = value < bound
		} else {
			value = choose(m, (value+step-1)/step*step)
			beyond = value > bound
		}
		if beyond {
			lines = append(lines, fmt.Sprintf("%s %s %d\n", m.dir, m.measure, value))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func boundOf(measure string) (bound, step int) {
	for _, b := range bounds {
		if b.measure == measure {
			return b.bound, b.step
		}
	}
	return 0, 1
}

// measureLimits reads the table.
func measureLimits(t *Tree) (map[measured]int, error) {
	limits := map[measured]int{}
	src, err := fs.ReadFile(t.FS, measuresTable)
	if errors.Is(err, fs.ErrNotExist) {
		return limits, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(src))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || !slices.ContainsFunc(bounds, func(b struct {
			measure     string
			bound, step int
		}) bool {
			return b.measure == words[1]
		}) {
			return nil, fmt.Errorf("%s: %q is not a package, a measure and a value",
				measuresTable, lines.Text())
		}
		value, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", measuresTable, err)
		}
		limits[measured{words[0], words[1]}] = value
	}
	return limits, lines.Err()
}

// measure returns all values of the tree.
func measure(t *Tree) map[measured]int {
	values := map[measured]int{}
	circles := newCircles(t)
	for dir, files := range circles.files {
		code, comments := 0, 0
		methods := map[string]int{}
		for _, f := range files {
			c, o := countLines(f.Source)
			code, comments = code+c, comments+o
			countMethods(f.Syntax, methods)
		}
		values[measured{dir, measureLines}] = code
		if code >= smallPackage {
			values[measured{dir, measureComments}] = comments * 100 / (code + comments)
		}
		for _, n := range methods {
			m := measured{dir, measureMethods}
			values[m] = max(values[m], n)
		}
		values[measured{dir, measureCircle}] = circles.largest(dir)
	}
	return values
}

// countLines returns the number of lines with code, and of lines with only comments.
func countLines(src []byte) (code, comments int) {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	const isCode, isComment = 2, 1
	lines := make([]byte, bytes.Count(src, []byte("\n"))+2)
	for {
		pos, tok, text := s.Scan()
		kind := byte(isCode)
		switch {
		case tok == token.EOF:
			for _, kind := range lines {
				switch kind {
				case isCode:
					code++
				case isComment:
					comments++
				}
			}
			return code, comments
		case tok == token.SEMICOLON && text == "\n":
			continue
		case tok == token.COMMENT:
			kind = isComment
		}
		first := file.Line(pos)
		for i := first; i <= first+strings.Count(text, "\n"); i++ {
			lines[i] = max(lines[i], kind)
		}
	}
}

// countMethods adds the methods of a file to those of their types.
func countMethods(f *ast.File, methods map[string]int) {
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || len(fn.Recv.List) == 0 {
			continue
		}
		typ := fn.Recv.List[0].Type
		for {
			switch x := typ.(type) {
			case *ast.StarExpr:
				typ = x.X
				continue
			case *ast.IndexExpr:
				typ = x.X
				continue
			case *ast.IndexListExpr:
				typ = x.X
				continue
			case *ast.Ident:
				methods[x.Name]++
			}
			break
		}
	}
}
