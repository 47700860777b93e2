package tidy

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// plain maps words that Go engineers do not use in comments to the words that they use. The keys
// are parts of one regular expression.
var plain = []struct{ avoid, write string }{
	{`tells?|told`, "reports, returns, is written"},
	{`says?|said`, "reports, returns, is"},
	{`stands?|stood`, "represents, exists, is stored"},
	{`nobody|somebody|someone|whoever`, "the caller, a client, another writer"},
	{`whatever`, "any, all, regardless of"},
	{`greatest`, "maximum"},
	{`anew|once more`, "again"},
	{`abreast|side by side`, "concurrently, in parallel"},
	{`besides?`, "next to, in addition to"},
	{`meanwhile`, "concurrently, in the meantime"},
	{`at last`, "finally"},
	{`for ever`, "permanently, always"},
	{`under way`, "in progress"},
	{`(?:came|become|becomes|became) of`, "the result"},
	{`let go of`, "release"},
	{`insists?`, "retry until the deadline"},
	{`ghosts?`, "pending delete, tombstone"},
	{`twins?`, "duplicate"},
}

var plainWord = func() *regexp.Regexp {
	var parts []string
	for _, p := range plain {
		parts = append(parts, "("+p.avoid+")")
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(parts, "|") + `)\b`)
}()

// plainTable is the file with the number of such words that each package may still have.
const plainTable = checksDir + "/plain.txt"

// Plain checks the comments of Go files, except tests, for words that have a plainer one. A package
// may have as many as its line in the table; a package without a line may have none.
func Plain(t *Tree) ([]Finding, error) {
	limits, err := PlainLimits(t)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for dir, hits := range plainHits(t) {
		limit := limits[dir]
		if len(hits) <= limit {
			continue
		}
		found = append(found, Finding{dir, 0, fmt.Sprintf("comments have %d words that have "+
			"a plainer one, the limit in %s is %d", len(hits), plainTable, limit)})
		found = append(found, hits...)
	}
	return sorted(found), nil
}

// PlainLimits returns the limits of the table by package.
func PlainLimits(t *Tree) (map[string]int, error) {
	src, err := fs.ReadFile(t.FS, plainTable)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	limits := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(src))
	for lines.Scan() {
		dir, count, _ := strings.Cut(lines.Text(), " ")
		if limits[dir], err = strconv.Atoi(count); err != nil {
			return nil, fmt.Errorf("%s: %w", plainTable, err)
		}
	}
	return limits, lines.Err()
}

// LowerPlainLimits returns the text of the table with the present numbers of words. No limit is
// raised, because the table may only get shorter.
func LowerPlainLimits(t *Tree) (string, error) {
	limits, err := PlainLimits(t)
	if err != nil {
		return "", err
	}
	var lines []string
	for dir, hits := range plainHits(t) {
		if n := min(len(hits), limits[dir]); n > 0 {
			lines = append(lines, fmt.Sprintf("%s %d\n", dir, n))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ""), nil
}

// plainHits returns the places of the words by package.
func plainHits(t *Tree) map[string][]Finding {
	hits := map[string][]Finding{}
	for _, f := range t.Go {
		if f.Test || f.Generated {
			continue
		}
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				for _, m := range plainWord.FindAllStringSubmatch(c.Text, -1) {
					i := slices.IndexFunc(m[1:], func(s string) bool { return s != "" })
					text := fmt.Sprintf("%q in a comment; write for example: %s", m[0],
						plain[i].write)
					hits[f.Dir] = append(hits[f.Dir], Finding{f.Path, f.line(c.Pos()), text})
				}
			}
		}
	}
	for _, h := range hits {
		slices.SortStableFunc(h, func(a, b Finding) int { return cmp.Compare(a.Path, b.Path) })
	}
	return hits
}
