package statements

import (
	"context"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// NewAnnotation is a remark to be made on a transaction.
type NewAnnotation struct {
	// ID is the id to use, so that the request can be repeated; empty means a new one.
	ID   string
	Text string // At most AnnotationMax bytes, on one or more lines.
	Type string // Such as "advisory"; at most AnnotationTypeMax bytes, or empty.
	// Author is the person or the program that makes the remark.
	Author string
}

// AnnotationChange is what to change of an annotation; nil leaves as is.
type AnnotationChange struct {
	Text *string
	Type *string
}

// Annotate adds an annotation to a transaction and returns both. It marks nothing as edited. A
// repeat with the same id and contents changes nothing, and made is false. The error is ErrInvalid,
// ErrNoTransaction, ErrKeyUsed for an id of another annotation of the transaction, or ErrTooMany.
func (p *Person) Annotate(
	ctx context.Context, at At, n NewAnnotation,
) (_ Annotation, _ Transaction, made bool, _ error) {
	a := Annotation{ID: n.ID, Text: n.Text, Type: n.Type, Author: n.Author}
	if a.ID == "" {
		a.ID = p.newID("ann")
	}
	if err := checkAnnotation(&a); err != nil {
		return Annotation{}, Transaction{}, false, err
	}
	a.CreatedAt = p.now().Truncate(time.Second) // As it is stored.
	t, err := p.rows().revise(ctx, at, 0, func(t *Transaction) error {
		made = false
		if i := t.AnnotationAt(a.ID); i >= 0 {
			return keyUsed(a.ID, a.Difference(t.Annotations[i]))
		}
		if len(t.Annotations) >= AnnotationsMax {
			return ErrTooMany.With("what", "annotations on the transaction").
				With("limit", AnnotationsMax)
		}
		t.Annotations = append(t.Annotations, a)
		made = true
		return nil
	})
	if err != nil {
		return Annotation{}, Transaction{}, false, err
	}
	return t.Annotations[t.AnnotationAt(a.ID)], t, made, nil
}

// ChangeAnnotation changes an annotation and returns the transaction. The error is ErrInvalid,
// ErrNoTransaction or ErrNoAnnotation.
func (p *Person) ChangeAnnotation(
	ctx context.Context, at At, id string, c AnnotationChange,
) (Transaction, error) {
	return p.rows().revise(ctx, at, 0, func(t *Transaction) error {
		i := t.AnnotationAt(id)
		if i < 0 {
			return ErrNoAnnotation.With("annotation", id)
		}
		a := &t.Annotations[i]
		if c.Text != nil {
			a.Text = *c.Text
		}
		if c.Type != nil {
			a.Type = *c.Type
		}
		return checkAnnotation(a)
	})
}

// RemoveAnnotation removes an annotation and returns the transaction. One that is not there is no
// error, so that a repeat is harmless. The error is ErrNoTransaction.
func (p *Person) RemoveAnnotation(
	ctx context.Context, at At, id string,
) (Transaction, error) {
	return p.rows().revise(ctx, at, 0, func(t *Transaction) error {
		if i := t.AnnotationAt(id); i >= 0 {
			t.Annotations = slices.Delete(t.Annotations, i, i+1)
		}
		if len(t.Annotations) == 0 {
			t.Annotations = nil
		}
		return nil
	})
}

func checkAnnotation(a *Annotation) error {
	var wrong problem.Fields
	checkNewID(&wrong, a.ID)
	checkLines(&wrong, "text", a.Text, 1, AnnotationMax)
	checkText(&wrong, "type", a.Type, 0, AnnotationTypeMax)
	checkText(&wrong, "author", a.Author, 0, NameMax)
	return wrong.Err(ErrInvalid)
}
