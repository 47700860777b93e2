package statements

import (
	"context"
	"errors"
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
// repeat with the same id and contents changes nothing. The error is ErrInvalid, ErrNoTransaction,
// ErrKeyUsed for an id of another annotation of the transaction, or ErrTooMany.
func (p *Person) Annotate(
	ctx context.Context, at At, n NewAnnotation,
) (Annotation, Transaction, error) {
	return Annotation{}, Transaction{}, errors.ErrUnsupported
}

// ChangeAnnotation changes an annotation and returns the transaction. The error is ErrInvalid,
// ErrNoTransaction or ErrNoAnnotation.
func (p *Person) ChangeAnnotation(
	ctx context.Context, at At, id string, c AnnotationChange,
) (Transaction, error) {
	return Transaction{}, errors.ErrUnsupported
}

// RemoveAnnotation removes an annotation and returns the transaction. One that is not there is no
// error, so that a repeat is harmless. The error is ErrNoTransaction.
func (p *Person) RemoveAnnotation(
	ctx context.Context, at At, id string,
) (Transaction, error) {
	return Transaction{}, errors.ErrUnsupported
}
