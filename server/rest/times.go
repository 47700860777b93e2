package rest

import (
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/when"
)

// bound is an instant in the query of a request. The zero value is none; the first instant of the
// year 1, if a request names it, is one.
type bound struct{ when.Time }

// UnmarshalText reads an instant in the form of RFC 3339.
func (b *bound) UnmarshalText(text []byte) error {
	t, err := when.Instant(string(text))
	if err != nil {
		return fmt.Errorf("must be an instant such as 2026-01-02T10:30:00.123Z: it %w", err)
	}
	b.Time = when.At(t)
	return nil
}

// instant returns the instant, or nil if there is none.
func (b bound) instant() *time.Time {
	if !b.Given() {
		return nil
	}
	return new(b.In(time.UTC))
}

// boundFormat is the format of a bound to the framework, which does not know it. It would check
// date-time itself, by a parser that refuses what RFC 3339 allows and accepts what it does not.
const boundFormat = "instant"

// Schema describes the parameter to the framework.
func (bound) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: boundFormat}
}

// instantValue describes an api.Instant to the framework.
type instantValue struct{}

// Schema describes the value.
func (instantValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Format: boundFormat, Examples: []any{"2026-01-02T10:30:00.123Z"},
	}
}

// describeInstants gives the members that are instants the format that readers know.
func describeInstants(schema *huma.Schema) {
	for name, member := range schema.Properties {
		if member.Format == boundFormat {
			known := *member
			known.Format = "date-time"
			schema.Properties[name] = &known
		}
	}
}

// describeBounds gives the parameters that are instants the format that readers know. The framework
// keeps the schema that it checks with.
func describeBounds(op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.Schema != nil && p.Schema.Format == boundFormat {
			known := *p.Schema
			known.Format = "date-time"
			p.Schema = &known
		}
	}
}

// badValue begins the framework's words for a value that UnmarshalText refused.
const badValue = "invalid value: "

// readDue reads when a payment is due. Its faults are collected.
func readDue(wrong *problem.Fields, text string) when.Time {
	if text == "" {
		wrong.Add("at", "is missing")
		return when.Time{}
	}
	t, err := when.Parse(text)
	if err != nil {
		wrong.Addf("at", "must be an instant such as 2026-01-31T09:00:00Z, or a day or a local "+
			"time of the account such as 2026-01-31 or 2026-01-31T09:00: it %v", err)
	}
	return t
}

// afterMax is a hundred years of 365 days, in seconds.
const afterMax = 100 * 365 * 24 * 60 * 60

// readAfter reads how many seconds after its first request a payment is due.
func readAfter(wrong *problem.Fields, seconds int) *time.Duration {
	if seconds < 0 || seconds > afterMax {
		wrong.Addf("afterSeconds", "must be 0 to %d", afterMax)
	}
	after := time.Duration(seconds) * time.Second
	return &after
}

// readInstant reads an instant of a body, in the form of RFC 3339. Its faults are collected.
func readInstant(wrong *problem.Fields, field, text string) time.Time {
	t, err := when.Instant(text)
	if err != nil {
		wrong.Addf(field, "must be an instant such as 2026-01-31T09:00:00Z: it %v", err)
	}
	return t
}
