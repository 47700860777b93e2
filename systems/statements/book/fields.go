package book

import (
	"maps"
	"slices"
)

// Clone returns a copy that shares nothing with the transaction.
func (t *Transaction) Clone() *Transaction {
	c := *t
	c.TagIDs, c.Tags = slices.Clone(t.TagIDs), slices.Clone(t.Tags)
	c.Annotations, c.Edited = slices.Clone(t.Annotations), slices.Clone(t.Edited)
	c.Splits, c.Ruled = slices.Clone(t.Splits), maps.Clone(t.Ruled)
	for i := range c.Splits {
		s := &c.Splits[i]
		s.TagIDs, s.Tags = slices.Clone(s.TagIDs), slices.Clone(s.Tags)
	}
	return &c
}

// IsEdited reports whether a field is a person's.
func (t *Transaction) IsEdited(field string) bool { return slices.Contains(t.Edited, field) }

// Mark makes a field the person's, even if a rule had set it.
func (t *Transaction) Mark(field string) {
	if !t.IsEdited(field) {
		t.Edited = append(t.Edited, field)
		slices.Sort(t.Edited)
	}
	delete(t.Ruled, field)
	if len(t.Ruled) == 0 {
		t.Ruled = nil
	}
}

// AnnotationAt returns the place of an annotation, or -1.
func (t *Transaction) AnnotationAt(id string) int {
	return slices.IndexFunc(t.Annotations, func(a Annotation) bool { return a.ID == id })
}

// Difference names the first member in which an annotation is not the one asked for, or returns "".
func (a *Annotation) Difference(found Annotation) string {
	switch {
	case a.Text != found.Text:
		return "text"
	case a.Type != found.Type:
		return "type"
	case a.Author != found.Author:
		return "author"
	}
	return ""
}
