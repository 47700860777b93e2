package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Document is an item to read attributes from. [dynamo.Item] is one.
type Document interface {
	// Attribute returns the attribute of that name and reports whether it exists.
	Attribute(name string) (dynamo.Value, bool)
}

// scope holds the values of the placeholders of a call, by their slot in the plan.
type scope struct {
	names  []string       // "" if the call does not define it
	values []dynamo.Value // absent if the call does not define it
}

// notIndexed and unnamed mark the steps of a path that are not a list index or not a placeholder.
const (
	notIndexed = -1
	unnamed    = -1
)

// step is one part of a document path: a literal name, the placeholder of a name, or a list index.
type step struct {
	name  string
	slot  int // number of the placeholder, or unnamed
	index int // index of the list element, or notIndexed
}

// path is a document path. Its first step is never an index.
type path []step

func (s step) isIndex() bool { return s.index != notIndexed }

func (s step) resolve(sc *scope) string {
	if s.slot != unnamed {
		return sc.names[s.slot]
	}
	return s.name
}

// equal reports whether two steps lead to the same place.
func (s step) equal(t step, sc *scope) bool {
	return s.index == t.index && (s.isIndex() || s.resolve(sc) == t.resolve(sc))
}

// named reports whether a step of the path is a placeholder.
func (p path) named() bool {
	for _, s := range p {
		if s.slot != unnamed {
			return true
		}
	}
	return false
}

func (p path) indexed() bool {
	for _, s := range p {
		if s.isIndex() {
			return true
		}
	}
	return false
}

// find returns the value at the path, or the absent value.
func (p path) find(doc Document, sc *scope) dynamo.Value {
	v, ok := doc.Attribute(p[0].resolve(sc))
	if !ok {
		return dynamo.Value{}
	}
	for _, s := range p[1:] {
		v = s.into(v, sc)
	}
	return v
}

// into returns the element or member of v at the step, or the absent value.
func (s step) into(v dynamo.Value, sc *scope) dynamo.Value {
	if !s.isIndex() {
		return v.M()[s.resolve(sc)]
	}
	if elems := v.L(); s.index < len(elems) {
		return elems[s.index]
	}
	return dynamo.Value{}
}

// render formats the path as in the service's messages: [a, b, [1]].
func (p path) render(sc *scope) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range p {
		if i > 0 {
			b.WriteString(", ")
		}
		if s.isIndex() {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		} else {
			b.WriteString(s.resolve(sc))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// relation is the relation between two paths of one expression.
type relation uint8

const (
	apart    relation = iota
	overlap           // the paths are equal, or one leads into the other
	conflict          // the paths disagree about whether a value is a list or a map
)

func relate(p, q path, sc *scope) relation {
	for i := range min(len(p), len(q)) {
		if p[i].isIndex() != q[i].isIndex() {
			return conflict
		}
		if !p[i].equal(q[i], sc) {
			return apart
		}
	}
	return overlap
}

// clash returns the refusal of paths that cannot be used together, or "". An overlap is reported
// before a conflict.
func clash(paths []path, sc *scope) string {
	const remedy = "; must remove or rewrite one of these paths; path one: "
	first := ""
	for j, q := range paths {
		for _, p := range paths[:j] {
			switch relate(p, q, sc) {
			case overlap:
				return "Two document paths overlap with each other" + remedy +
					p.render(sc) + ", path two: " + q.render(sc)
			case conflict:
				if first == "" {
					first = "Two document paths conflict with each other" + remedy +
						p.render(sc) + ", path two: " + q.render(sc)
				}
			}
		}
	}
	return first
}

// comparePaths orders paths so that paths with a common beginning are adjacent and list indexes
// ascend.
func comparePaths(p, q path, sc *scope) int {
	for i := range min(len(p), len(q)) {
		order := cmp.Compare(p[i].index, q[i].index)
		if order == 0 && !p[i].isIndex() {
			order = cmp.Compare(p[i].resolve(sc), q[i].resolve(sc))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// topLevel returns the names of the attributes at the beginning of the paths, in order and without
// duplicates. It uses only the paths for which keep is true; a nil keep uses all.
func topLevel(paths []path, sc *scope, keep func(path) bool) []string {
	var names []string
	for _, p := range paths {
		if keep != nil && !keep(p) {
			continue
		}
		if name := p[0].resolve(sc); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// begins reports whether one of the paths begins with the attribute of that name.
func begins(paths []path, sc *scope, name string) bool {
	for _, p := range paths {
		if p[0].resolve(sc) == name {
			return true
		}
	}
	return false
}

// isNested reports whether the path leads into an attribute.
func isNested(p path) bool { return len(p) > 1 }
