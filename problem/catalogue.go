package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Catalogue is the list of problems that one system can report. Its order is the order of
// precedence: if several problems apply at the same time, the first one is reported.
//
// A catalogue and its definitions are package-level variables of one file. Go initialises them in
// the order of the file, so that order is the precedence. The list does not change later.
type Catalogue struct {
	name        string
	definitions []*Definition
}

// NewCatalogue returns an empty catalogue. name is that of the system: "ledger".
func NewCatalogue(name string) *Catalogue {
	return &Catalogue{name: name}
}

// Name returns the system's name.
func (c *Catalogue) Name() string { return c.name }

// Define declares a problem that ranks after all earlier ones.
//
// The sentence states the problem. It begins with a capital letter and has no full stop. A detail
// in braces, as in "There is no account {account}", is filled in by Error.With. The hint is the
// next step, in the same form; it may be empty. Check finds mistakes.
func (c *Catalogue) Define(kind Kind, code Code, sentence, hint string) *Definition {
	d := &Definition{kind: kind, code: code, sentence: sentence, hint: hint}
	c.definitions = append(c.definitions, d)
	return d
}

// Share adds a problem of another catalogue, such as Shared, which ranks after all earlier ones.
// The definition that it returns has the same code, kind and sentence, and each of its occurrences
// has the detail DetailSystem with the catalogue's name. A hint replaces the shared one, unless it
// is empty.
func (c *Catalogue) Share(d *Definition, hint string) *Definition {
	made := *d
	made.system = c.name
	if hint != "" {
		made.hint = hint
	}
	c.definitions = append(c.definitions, &made)
	return &made
}

// Has reports whether a problem of the catalogue has the code.
func (c *Catalogue) Has(code Code) bool {
	return slices.ContainsFunc(c.definitions, func(d *Definition) bool { return d.code == code })
}

// Definitions returns all problems in order of precedence, the shared ones included.
func (c *Catalogue) Definitions() []*Definition {
	return slices.Clone(c.definitions)
}

// First returns the non-nil error that ranks first: problems of this catalogue by precedence, and
// before them any other error, because no precedence was defined for it. Of equal errors the
// earlier one is returned. Without any error, First returns nil.
func (c *Catalogue) First(errs ...error) error {
	var first error
	best := len(c.definitions)
	for _, err := range errs {
		if err == nil {
			continue
		}
		if rank := c.rank(err); first == nil || rank < best {
			first, best = err, rank
		}
	}
	return first
}

// rank returns the position of an error in the catalogue, or -1.
func (c *Catalogue) rank(err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return -1
	}
	return slices.IndexFunc(c.definitions, func(d *Definition) bool { return d.code == e.Code })
}

// Check returns every mistake in the declarations of the catalogues as one error, or nil: malformed
// codes, kinds and sentences, and codes that are declared twice, in one catalogue or in two,
// because a code alone must identify a problem. A shared problem is declared once, and may be in
// any number of catalogues. A test should call it.
func Check(catalogues ...*Catalogue) error {
	var faults []string
	owner := map[Code]string{CodeInternal: "problem"}
	for _, c := range catalogues {
		for _, d := range c.definitions {
			for _, fault := range d.check() {
				faults = append(faults, c.name+": "+fault)
			}
			if d.system != "" {
				continue
			}
			if earlier, taken := owner[d.code]; taken {
				fault := fmt.Sprintf("%s: %q is declared by %s already", c.name, d.code, earlier)
				faults = append(faults, fault)
			}
			owner[d.code] = c.name
		}
	}
	if faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults, "\n"))
}
