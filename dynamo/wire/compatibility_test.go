package wire_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

const compatibilityPage = "../../docs/compatibility.md"

func TestCompatibilityPageIsCurrent(t *testing.T) {
	want := compatibility(wire.NewHandler(openStore(t), wire.Options{}))
	if *update {
		if err := os.WriteFile(compatibilityPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(compatibilityPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/compatibility.md is not current (-want +got); see go generate:\n%s", diff)
	}
}

// compatibility renders what a handler serves of the service's operations.
func compatibility(h *wire.Handler) string {
	served := h.Operations()
	var b strings.Builder
	b.WriteString(`# Compatibility

What ` + "`exchequer dynamodb`" + ` serves of Amazon DynamoDB's operations. An operation that is not
served is answered by an UnknownOperationException. This page is generated from the handler
(` + "`go generate ./dynamo/wire`" + `); do not edit it.

All operations on items take the legacy members (Expected, AttributeUpdates, KeyConditions,
QueryFilter, ScanFilter, ConditionalOperator, AttributesToGet) as well. They become expressions and
so have the limits of those: some 500 attributes in one update.

`)
	writeCatalogue(&b, "DynamoDB", "DynamoDB_20120810.", catalogue, served)
	b.WriteByte('\n')
	writeCatalogue(&b, "DynamoDB Streams", "DynamoDBStreams_20120810.", streamsCatalogue, served)
	return b.String()
}

func writeCatalogue(b *strings.Builder, title, prefix string, entries []entry, served []string) {
	counts := map[string]int{}
	var rows strings.Builder
	for _, e := range entries {
		state := "whole"
		switch {
		case !slices.Contains(served, prefix+e.operation):
			state = "no"
		case e.lacks != "":
			state = "partly"
		}
		counts[state]++
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", e.operation, state, e.lacks)
	}
	fmt.Fprintf(b, "## %s\n\nOf %d operations %d are served whole, %d partly and %d not.\n\n",
		title, len(entries), counts["whole"], counts["partly"], counts["no"])
	b.WriteString("| operation | served | what is missing, or why |\n|---|---|---|\n")
	b.WriteString(rows.String())
}

func TestCatalogueNamesWhatTheSDKCanCall(t *testing.T) {
	for _, c := range []struct {
		client  any
		entries []entry
	}{{&dynamodb.Client{}, catalogue}, {&dynamodbstreams.Client{}, streamsCatalogue}} {
		var want, got []string
		for method := range reflect.TypeOf(c.client).Methods() {
			// An operation takes a context, an input and options.
			if method.Type.NumIn() == 4 && method.Type.IsVariadic() {
				want = append(want, method.Name)
			}
		}
		for _, e := range c.entries {
			got = append(got, e.operation)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations differ (-SDK +catalogue):\n%s", diff)
		}
	}
}

func TestEveryOperationServedIsInTheCatalogue(t *testing.T) {
	for _, target := range wire.NewHandler(openStore(t), wire.Options{}).Operations() {
		_, operation, _ := strings.Cut(target, ".")
		named := func(e entry) bool { return e.operation == operation }
		if !slices.ContainsFunc(catalogue, named) && !slices.ContainsFunc(streamsCatalogue, named) {
			t.Errorf("%s is served and not in the catalogue", target)
		}
	}
}
