package layout

// Two templates overlap if some text could be a key of both. Templates are converted to small
// automata, which are traversed together. The text of a part is approximated by the set of its
// possible bytes, so an overlap is never missed but is sometimes reported wrongly.

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)    { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) remove(c byte) { s[c>>6] &^= 1 << (c & 63) }
func (s *byteSet) addText(t string) {
	for i := range len(t) {
		s.add(t[i])
	}
}

func (s byteSet) meets(o byteSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// anyByte returns the set of all bytes.
func anyByte() byteSet { return byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// node is a step of an automaton: one byte of a set. loop allows repetition and skip allows
// omission.
type node struct {
	set  byteSet
	loop bool
	skip bool
}

// Nodes returns the automaton of a template.
func (t *Template) Nodes() []node {
	var out []node
	for i := range t.Parts {
		p := &t.Parts[i]
		if !p.IsField() {
			for j := range len(p.Literal) {
				var n node
				n.set.add(p.Literal[j])
				out = append(out, n)
			}
			continue
		}
		out = append(out, p.nodes()...)
	}
	return out
}

// Nodes returns the automaton of a part.
func (p *Piece) nodes() []node {
	var digits byteSet
	digits.addText("0123456789")
	switch {
	case p.Ring != nil && p.Ring.suffix:
		if p.Format.Few <= 1 {
			return nil
		}
		var hash byteSet
		hash.add('#')
		return []node{{set: hash, skip: true}, {set: digits, loop: true, skip: true}}
	case p.Ring != nil:
		return []node{{set: digits, loop: true}}
	case p.Format.width > 0:
		set := digits
		if p.Format.Name != "reverse" {
			set.addText("-:.TZ")
		}
		if p.Format.Name == "layout" {
			set = anyByte()
		}
		out := make([]node, p.Format.width)
		for i := range out {
			out[i] = node{set: set}
		}
		return out
	}
	var set byteSet
	switch p.Format.Name {
	case "int", "digits", "decimal":
		set = digits
		set.addText("-.")
	case "bool":
		set.addText("truefals")
	case "hex":
		set = digits
		set.addText("abcdef")
	default:
		set = anyByte()
		set.remove('#')
		for i := range len(p.Escape) {
			set.remove(p.Escape[i])
		}
	}
	return []node{{set: set, loop: true}}
}

// Overlap reports whether two automata accept a common text or, with tail, whether a accepts a text
// that begins with one that b accepts.
func Overlap(a, b []node, tail bool) bool {
	type state struct{ i, j int }
	seen := map[state]bool{}
	var visit func(i, j int) bool
	visit = func(i, j int) bool {
		if seen[state{i, j}] {
			return false
		}
		seen[state{i, j}] = true
		if j == len(b) && (tail || ends(a, i)) {
			return true
		}
		if i < len(a) && a[i].skip && visit(i+1, j) {
			return true
		}
		if j < len(b) && b[j].skip && visit(i, j+1) {
			return true
		}
		if i == len(a) || j == len(b) || !a[i].set.meets(b[j].set) {
			return false
		}
		for _, ni := range after(a, i) {
			for _, nj := range after(b, j) {
				if visit(ni, nj) {
					return true
				}
			}
		}
		return false
	}
	return visit(0, 0)
}

// after returns the states after the i-th node: the next one and, if it loops, itself.
func after(n []node, i int) []int {
	if n[i].loop {
		return []int{i + 1, i}
	}
	return []int{i + 1}
}

func ends(n []node, i int) bool {
	for ; i < len(n); i++ {
		if !n[i].skip {
			return false
		}
	}
	return true
}

// CouldEqual reports whether two key attributes could have the same value.
func (k *KeyAttr) CouldEqual(o *KeyAttr) bool {
	if k == nil || o == nil {
		return k == o
	}
	if k.Native >= 0 || o.Native >= 0 {
		return true
	}
	return Overlap(k.Template.Nodes(), o.Template.Nodes(), false)
}
