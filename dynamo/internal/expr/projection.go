package expr

import (
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Projection is a projection expression with its names. It is safe for concurrent use.
type Projection struct {
	expr  *parsed
	scope *scope
	tree  []branch
}

// Apply returns the part of an item that the projection selects: each path with the maps and lists
// that contain it. List elements are moved together in ascending order of their indexes. Paths that
// do not exist are omitted, so the result may be empty; it is never nil. Values are shared.
func (p *Projection) Apply(item dynamo.Item) dynamo.Item {
	return project(p.tree, item)
}

// TopLevel returns the names of the attributes that the projection selects, completely or in part,
// without duplicates.
func (p *Projection) TopLevel() []string { return topLevel(p.expr.paths, p.scope, nil) }

// Nested returns the names of the attributes that the projection selects in part.
func (p *Projection) Nested() []string { return topLevel(p.expr.paths, p.scope, isNested) }

// branch is a step that several paths of an expression share, with the steps that follow it; none
// if a path ends. Branches are sorted, so that list elements are output in ascending order of their
// indexes.
type branch struct {
	name  string
	index int // index of the list element, or notIndexed
	kids  []branch
}

// branches returns the tree of paths, none of which leads into another.
func branches(paths []path, sc *scope) []branch {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(p, q path) int { return comparePaths(p, q, sc) })
	return grow(paths, 0, sc)
}

// grow returns the branches of sorted paths that share all steps above the given level.
func grow(paths []path, level int, sc *scope) []branch {
	var out []branch
	for len(paths) > 0 {
		first := paths[0]
		same := 1
		for same < len(paths) && paths[same][level].equal(first[level], sc) {
			same++
		}
		b := branch{name: first[level].resolve(sc), index: first[level].index}
		if len(first) > level+1 {
			b.kids = grow(paths[:same], level+1, sc)
		}
		out = append(out, b)
		paths = paths[same:]
	}
	return out
}

// project returns the given branches of an item.
func project(tree []branch, item dynamo.Item) dynamo.Item {
	out := make(dynamo.Item, min(len(tree), len(item)))
	for i := range tree {
		if v := tree[i].fragment(item[tree[i].name]); !v.IsAbsent() {
			out[tree[i].name] = v
		}
	}
	return out
}

// fragment returns the part of a value that the branch selects, or the absent value.
func (b *branch) fragment(v dynamo.Value) dynamo.Value {
	if b.kids == nil || v.IsAbsent() {
		return v
	}
	out := dynamo.Value{}
	if b.kids[0].index == notIndexed {
		members := make(map[string]dynamo.Value, len(b.kids))
		for i := range b.kids {
			kid := &b.kids[i]
			if part := kid.fragment(v.M()[kid.name]); !part.IsAbsent() {
				members[kid.name] = part
			}
		}
		if len(members) > 0 {
			out = dynamo.M(members)
		}
	} else {
		var elems []dynamo.Value
		for i := range b.kids {
			kid := &b.kids[i]
			if kid.index >= len(v.L()) {
				break
			}
			if part := kid.fragment(v.L()[kid.index]); !part.IsAbsent() {
				elems = append(elems, part)
			}
		}
		if len(elems) > 0 {
			out = dynamo.L(elems...)
		}
	}
	if v.Checked() && !out.IsAbsent() {
		out = dynamo.MarkChecked(out)
	}
	return out
}
