package statements_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

func TestAnAnnotationComesChangesAndGoes(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	n := statements.NewAnnotation{ID: "ann-456def", Type: "advisory", Author: "forecast",
		Text: "Expected increase\nin grocery costs"}
	a, after, _, err := d.Annotate(t.Context(), d.at(row), n)
	if err != nil {
		t.Fatal(err)
	}
	want := statements.Annotation{ID: n.ID, Text: n.Text, Type: n.Type, Author: n.Author,
		CreatedAt: clockStart}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(row.Edited, after.Edited); diff != "" {
		t.Errorf("it marks a field as edited: %s", diff)
	}
	_, again, made, err := d.Annotate(t.Context(), d.at(row), n)
	if err != nil || made || again.Version != after.Version || len(again.Annotations) != 1 {
		t.Errorf("a repeat: %v %v", again, err)
	}
	n.Text = "Something else"
	if _, _, _, err := d.Annotate(t.Context(), d.at(row), n); !errors.Is(
		err,
		statements.ErrKeyUsed,
	) {
		t.Errorf("the id with another text: %v", err)
	}
	after, err = d.ChangeAnnotation(t.Context(), d.at(row), a.ID,
		statements.AnnotationChange{Text: of("Not so")})
	want.Text = "Not so"
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]statements.Annotation{want}, after.Annotations); diff != "" {
		t.Error(diff)
	}
	_, err = d.ChangeAnnotation(t.Context(), d.at(row), "ann-none", statements.AnnotationChange{})
	if !errors.Is(err, statements.ErrNoAnnotation) {
		t.Errorf("one that is not there: %v", err)
	}
	for range 2 {
		after, err = d.RemoveAnnotation(t.Context(), d.at(row), a.ID)
		if err != nil || len(after.Annotations) != 0 {
			t.Errorf("removed: %v %v", after, err)
		}
	}
	if s := d.sheets()["2025-08-01"]; s.Version != 1 {
		t.Errorf("annotations wrote the totals %d times", s.Version-1)
	}
}

func TestAnAnnotationOutsideTheLimitsIsRefused(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	_, _, _, err := d.Annotate(t.Context(), d.at(row), statements.NewAnnotation{
		ID: strings.Repeat("x", statements.NameMax+1), Text: " ",
		Type:   strings.Repeat("x", statements.AnnotationTypeMax+1),
		Author: strings.Repeat("x", statements.NameMax+1)})
	if diff := cmp.Diff([]string{"id", "text", "type", "author"}, fieldsOf(err)); diff != "" {
		t.Error(diff)
	}
	for i := range statements.AnnotationsMax {
		n := statements.NewAnnotation{Text: fmt.Sprint(i)}
		if _, _, _, err := d.Annotate(t.Context(), d.at(row), n); err != nil {
			t.Fatal(err)
		}
	}
	_, _, _, err = d.Annotate(t.Context(), d.at(row), statements.NewAnnotation{Text: "One more"})
	if !errors.Is(err, statements.ErrTooMany) {
		t.Errorf("one more than there may be: %v", err)
	}
}
