package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/problem"
)

func TestKinds(t *testing.T) {
	// Kinds are only ever added: a kind that leaves this list breaks programs that know it.
	want := []problem.Kind{
		"invalid", "unauthenticated", "forbidden", "not_found", "conflict", "changed", "refused",
		"too_large", "throttled", "unavailable", "internal",
	}
	if diff := cmp.Diff(want, problem.Kinds()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, k := range problem.Kinds() {
		if want := k == problem.Throttled || k == problem.Unavailable; k.Retryable() != want {
			t.Errorf("%s: retryable is %v", k, k.Retryable())
		}
		if !k.Known() {
			t.Errorf("%s is not known", k)
		}
	}
	if problem.Kind("later").Known() {
		t.Error("an unknown kind is known")
	}
}

func TestErrorsAnswerQuestions(t *testing.T) {
	made := ErrInsufficientFunds.With("account", "a_1").Wrap(io.ErrUnexpectedEOF)
	decoded := roundTrip(t, made)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"occurrence", made},
		{"wrapped with its deed", fmt.Errorf("post: %w", made)},
		{"joined with another", errors.Join(io.EOF, made)},
		{"rebuilt from JSON", decoded},
		{"rebuilt and wrapped", fmt.Errorf("call: %w", decoded)},
		{"definition returned as it is", ErrInsufficientFunds},
		{"definition wrapped", fmt.Errorf("post: %w", ErrInsufficientFunds)},
		{"cause of something else", fmt.Errorf("batch: %w", fmt.Errorf("row 3: %w", made))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !errors.Is(c.err, ErrInsufficientFunds) || errors.Is(c.err, ErrAccountNotFound) {
				t.Error("errors.Is does not tell the problem")
			}
			var e *problem.Error
			if !errors.As(c.err, &e) || e.Code != "insufficient_funds" {
				t.Errorf("errors.As found %v", e)
			}
			if got := problem.KindOf(c.err); got != problem.Refused {
				t.Errorf("kind is %q", got)
			}
			if got := problem.From(c.err); got.Code != "insufficient_funds" {
				t.Errorf("From found %v", got)
			}
		})
	}
	if !errors.Is(made, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	if !errors.Is(made, ErrInsufficientFunds.With("account", "another")) {
		t.Error("two occurrences of one problem differ")
	}
}

func TestUnknownErrorsAreInternal(t *testing.T) {
	cause := fmt.Errorf("password is hunter2: %w", context.DeadlineExceeded)
	e := problem.From(cause)
	if e.Kind != problem.Internal || e.Code != problem.CodeInternal {
		t.Errorf("got %s, %s", e.Kind, e.Code)
	}
	if !errors.Is(e, context.DeadlineExceeded) {
		t.Error("the cause is lost")
	}
	if sent, err := json.Marshal(e); err != nil || strings.Contains(string(sent), "hunter2") {
		t.Errorf("the cause is sent: %s, %v", sent, err)
	}
	if problem.KindOf(cause) != problem.Internal {
		t.Error("an unknown error has another kind")
	}
	if problem.From(nil) != nil || problem.KindOf(nil) != "" {
		t.Error("nil is an error")
	}
}

func TestErrorsAreNotChanged(t *testing.T) {
	first := ErrInsufficientFunds.With("account", "a_1").Field("amount", "is too much")
	before := *first
	_ = first.With("account", "a_2").With("needed", 3)
	one := first.Field("one", "is wrong")
	two := first.Field("two", "is wrong")
	_ = first.Wrap(io.EOF)
	if diff := cmp.Diff(before, *first, cmpopts.IgnoreUnexported(problem.Error{})); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
	if one.Fields[1].Name != "one" || two.Fields[1].Name != "two" {
		t.Errorf("fields are shared: %v, %v", one.Fields, two.Fields)
	}
	if errors.Unwrap(first) != nil {
		t.Error("the cause was set in place")
	}
}

func TestRoundTripKeepsEverythingButTheCause(t *testing.T) {
	made := ErrInsufficientFunds.With("account", "Ä\"<a>").With("available", 3).
		Field("legs[0].amount", "is more than the account has").
		Field("currency", "is unknown").Wrap(io.EOF)
	got := roundTrip(t, made)
	if diff := cmp.Diff(made, got, cmpopts.IgnoreUnexported(problem.Error{})); diff != "" {
		t.Errorf("round trip (-sent +received):\n%s", diff)
	}
	if errors.Unwrap(got) != nil {
		t.Error("the cause was sent")
	}
	// A rebuilt error takes more details, though it has no template any more.
	more := got.With("request", "r_1")
	if more.Sentence != made.Sentence || more.Details["request"] != "r_1" {
		t.Errorf("got %q, %v", more.Sentence, more.Details)
	}
}

func TestDecode(t *testing.T) {
	t.Run("keeps a kind and ignores members that are newer", func(t *testing.T) {
		e, err := problem.Decode([]byte(`{"kind":"later","code":"new_code","sentence":"S","more":1}`))
		if err != nil || e.Kind != "later" || e.Code != "new_code" || e.Sentence != "S" {
			t.Errorf("got %+v, %v", e, err)
		}
	})
	for _, data := range []string{
		"", "null", "{}", "[]", `{"kind":"invalid"}`, `{"code":7}`, "<html>",
	} {
		t.Run("refuses "+data, func(t *testing.T) {
			if e, err := problem.Decode([]byte(data)); err == nil {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestSentences(t *testing.T) {
	c := problem.NewCatalogue("test")
	d := c.Define(problem.Refused, "odd", "From {from} to {to}, from {from}, {never}", "Try {to}")
	e := d.With("from", "{to}").With("to", 7)
	if want := "From {to} to 7, from {to}, ?"; e.Sentence != want {
		t.Errorf("got %q, want %q", e.Sentence, want)
	}
	if e.Hint != "Try 7" {
		t.Errorf("hint is %q", e.Hint)
	}
	if got := d.Error(); got != "From ? to ?, from ?, ?" {
		t.Errorf("definition says %q", got)
	}
	if diff := cmp.Diff([]string{"from", "to", "never"}, d.Details()); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	brace := c.Define(problem.Refused, "brace", "One { alone", "")
	if got := brace.Error(); got != "One { alone" {
		t.Errorf("got %q", got)
	}
	full := d.New().Field("a", "is b").Wrap(io.EOF).Error()
	if want := "From ? to ?, from ?, ? (a is b): EOF"; full != want {
		t.Errorf("got %q, want %q", full, want)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for shift := range 4 {
		long := strings.Repeat("x", shift) + strings.Repeat("€", problem.TextMax)
		e := ErrAccountNotFound.With("account", long).Field(long, long)
		for _, got := range []string{e.Details["account"], e.Fields[0].Name, e.Fields[0].Wrong} {
			filled := len(got) <= problem.TextMax && len(got) > problem.TextMax-8
			if !filled || !utf8.ValidString(got) || !strings.HasSuffix(got, "€…") {
				t.Errorf("shift %d: cut to %d bytes: %q", shift, len(got), got)
			}
		}
	}
	exact := strings.Repeat("x", problem.TextMax)
	if got := ErrAccountNotFound.With("account", exact).Details["account"]; got != exact {
		t.Error("a text of the greatest length was cut")
	}
}

func TestFieldsWithoutAnyAreNoError(t *testing.T) {
	var none problem.Fields
	if err := none.Err(ErrInvalidPosting); err != nil {
		t.Errorf("got %v", err)
	}
	var some problem.Fields
	some.Add("a", "is wrong")
	err := some.Err(ErrInvalidPosting)
	some.Add("b", "is wrong")
	if e := problem.From(err); len(e.Fields) != 1 {
		t.Errorf("the error follows its collector: %v", e.Fields)
	}
}

func TestFirst(t *testing.T) {
	foreign := errors.New("disk is full")
	lost := ErrAccountNotFound.With("account", "a_1")
	poor := fmt.Errorf("post: %w", ErrInsufficientFunds)
	again := ErrAccountNotFound.With("account", "a_2")
	for _, c := range []struct {
		name string
		errs []error
		want error
	}{
		{"none", nil, nil}, {"only nil", []error{nil, nil}, nil},
		{"by precedence", []error{poor, lost}, lost},
		{"of equals the earlier", []error{again, lost, poor}, again},
		{"a foreign error before all", []error{lost, nil, foreign, poor}, foreign},
		{"one alone", []error{nil, poor}, poor},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Problems.First(c.errs...); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	if err := problem.Check(Problems); err != nil {
		t.Errorf("good declarations: %v", err)
	}
	c := problem.NewCatalogue("rates")
	c.Define("odd", "a_kind", "S", "")
	c.Define(problem.Invalid, "Bad-Code", "S", "")
	c.Define(problem.Invalid, "no_sentence", "", "")
	c.Define(problem.Invalid, "stop", "A sentence.", "")
	c.Define(problem.Invalid, "space", "A sentence", " a hint")
	c.Define(problem.Invalid, "braces", "A {b", "")
	c.Define(problem.Invalid, "nameless", "A {}", "")
	c.Define(problem.Invalid, "twice", "A", "")
	c.Define(problem.Invalid, "twice", "A", "")
	c.Define(problem.NotFound, "account_not_found", "A", "")
	c.Define(problem.Internal, problem.CodeInternal, "A", "")
	err := problem.Check(Problems, c)
	if err == nil {
		t.Fatal("nothing was found")
	}
	want := []string{
		`rates: "a_kind": "odd" is not a kind`,
		`rates: "Bad-Code": a code is lower-case words joined by underscores`,
		`rates: "no_sentence": the sentence is missing`,
		`rates: "stop": "A sentence." must not end with a full stop or have outer spaces`,
		`rates: "space": " a hint" must not end with a full stop or have outer spaces`,
		`rates: "braces": "A {b" has a brace without its pair`,
		`rates: "nameless": a detail has no name`,
		`rates: "twice" is declared by rates already`,
		`rates: "account_not_found" is declared by ledger already`,
		`rates: "internal" is declared by problem already`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, e *problem.Error) *problem.Error {
	t.Helper()
	sent, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	received, err := problem.Decode(sent)
	if err != nil {
		t.Fatal(err)
	}
	return received
}
