package tidy

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// maps are the pages that must name every folder at the root.
var maps = []string{"README.md", "docs/architecture.md"}

var (
	// A row of a table that begins with a folder: "| `dynamo/engine/` | ...".
	folderRow = regexp.MustCompile("^\\|\\s*`([\\w./-]+)/`")
	// The target of a link in Markdown, without its anchor.
	linkTarget = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)
)

// Folders checks the maps of the project against its folders, both ways: each folder at the root
// is named on each map, and each folder that begins a row of a table there exists.
func Folders(t *Tree) ([]Finding, error) {
	roots, err := t.rootFolders()
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, page := range maps {
		src, err := fs.ReadFile(t.FS, page)
		if errors.Is(err, fs.ErrNotExist) {
			found = append(found, Finding{page, 0, "the page is missing"})
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, root := range roots {
			if !names(string(src), root) {
				text := fmt.Sprintf("folder %s/ is not named on this page", root)
				found = append(found, Finding{page, 0, text})
			}
		}
		for i, line := range splitLines(src) {
			m := folderRow.FindStringSubmatch(line)
			if m != nil && !isDir(t.FS, m[1]) {
				text := fmt.Sprintf("folder %s/ is on the map and does not exist", m[1])
				found = append(found, Finding{page, i + 1, text})
			}
		}
	}
	return sorted(found), nil
}

// names reports whether a page names a folder as a folder: the word alone would be found by chance.
func names(page, folder string) bool {
	return regexp.MustCompile("(?m)(^|[\\s`(|])" + regexp.QuoteMeta(folder) + "/").MatchString(page)
}

// rootFolders lists the folders at the root that hold any file, as git would see them.
func (t *Tree) rootFolders() ([]string, error) {
	entries, err := fs.ReadDir(t.FS, ".")
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || t.ignored[e.Name()] {
			continue
		}
		holdsFile := false
		err := fs.WalkDir(t.FS, e.Name(), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			holdsFile = true
			return fs.SkipAll
		})
		if err != nil {
			return nil, err
		}
		if holdsFile {
			roots = append(roots, e.Name())
		}
	}
	return roots, nil
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// Links checks that every relative link of a Markdown page leads to a file or folder of the tree.
func Links(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Texts {
		if !strings.HasSuffix(f.Path, ".md") {
			continue
		}
		fenced := false
		for i, line := range f.Lines {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, m := range linkTarget.FindAllStringSubmatch(line, -1) {
				if u, err := url.Parse(m[1]); err == nil && u.Scheme != "" {
					continue
				}
				target := path.Join(path.Dir(f.Path), m[1])
				if _, err := fs.Stat(t.FS, target); err != nil {
					text := fmt.Sprintf("link to %s, which is not there", m[1])
					found = append(found, Finding{f.Path, i + 1, text})
				}
			}
		}
	}
	return sorted(found)
}
