package tidy

// rule lists what the packages that match a pattern may import from this project. A pattern is a
// path below the module; a trailing "/..." takes in everything under it. Of several patterns that
// match, the longest governs. Packages under one "/..." pattern may import each other.
type rule struct {
	pkg string
	may []string
	std bool // nothing from outside the standard library either
}

// checksDir is this package, which nothing imports.
const checksDir = "internal/tidy"

// anything is what the outermost packages may import: all but these checks.
var anything = []string{"..."}

// layout is the import table of the project. It governs files that are not tests. A package that
// no row names is a finding: a new package starts with a new row, and with the question which
// layer it belongs to.
var layout = []rule{
	// Layer 1: DynamoDB's words, and what answers to them.
	{pkg: "dynamo", std: true},
	{pkg: "dynamo/engine/...", may: []string{"dynamo", "dynamo/internal/..."}},
	{pkg: "dynamo/partiql/...", may: []string{"dynamo", "dynamo/internal/..."}},
	{pkg: "dynamo/internal/...", may: []string{"dynamo"}},
	{pkg: "dynamo/wire/...", may: []string{"dynamo", "dynamo/partiql"}},
	{pkg: "dynamo/awssdk/...", may: []string{"dynamo"}},
	{pkg: "dynamo/dynamotest/...", may: []string{"dynamo"}},

	// Layer 2: the kit for single-table models.
	{pkg: "singletable/...", may: []string{"dynamo", "when"}},

	// What every layer above may use.
	{pkg: "money"},
	{pkg: "problem", std: true},
	{pkg: "when", std: true},
	{pkg: "sheet", std: true},
	{pkg: "internal/tempfile", std: true},

	// Files of banks, as values.
	{pkg: "bankfile", may: []string{"bankfile/internal/...", "money"}},
	{pkg: "bankfile/internal/...", may: []string{"money"}},

	// Layer 3: the systems. None of them knows the store, so none imports dynamo.
	{pkg: "systems/ledger/...", may: []string{"singletable", "money", "problem"}},
	{pkg: "systems/payments/...", may: []string{
		"systems/ledger", "singletable", "money", "problem", "when",
	}},
	{pkg: "systems/rates/...", may: []string{"singletable", "money", "problem"}},
	{pkg: "systems/statements/...", may: []string{
		"singletable", "money", "problem", "bankfile", "sheet",
	}},
	{pkg: "systems/locations/...", may: []string{"singletable", "problem", "when", "sheet"}},

	// The HTTP API as values, which server, client and commands share.
	{pkg: "api", may: []string{"money", "problem", "when"}},

	// Layer 4: the server is the composition root and the only place that opens a store.
	{pkg: "server", may: []string{
		"api", "server/...", "systems/...", "singletable", "money", "problem", "dynamo/...",
		"internal/tempfile",
	}},
	{pkg: "server/rest/...", may: []string{
		"api", "systems/...", "singletable", "money", "problem", "when", "bankfile",
		"internal/tempfile",
	}},
	{pkg: "server/ledger", may: []string{
		"api", "server/rest", "systems/ledger", "singletable", "money", "problem",
	}},
	{pkg: "server/rates", may: []string{
		"api", "server/rest", "systems/rates", "singletable", "money", "problem",
	}},
	{pkg: "server/worker/...", may: []string{"systems/...", "singletable", "money", "problem"}},
	{pkg: "server/transfer/...", may: []string{"dynamo/...", "internal/tempfile"}},
	{pkg: "server/endpoint/...", may: []string{"dynamo/..."}},
	{pkg: "client/...", may: []string{"api", "money", "problem", "when", "internal/tempfile"}},

	// Outside the layers: the binary, its demo, the benchmarks, the tests of the whole.
	{pkg: "cmd/exchequer/...", may: anything},
	{pkg: "demo/...", may: anything},
	{pkg: "bench/...", may: anything},
	{pkg: "test/...", may: anything},
	{pkg: "internal/sim/...", may: anything},
	{pkg: checksDir, std: true},
}

// home lists where a package of the standard library, or a module and all its packages, may be
// imported: in code, and additionally in tests.
type home struct {
	prefix string
	code   []string
	tests  []string
}

// homes lists every dependency and where it belongs. A module that no row names is a finding; a
// package of the standard library that no row names may be used anywhere.
var homes = []home{
	// The network belongs to the edge. Tests may start servers anywhere.
	{"net/http", []string{
		"api", "server/...", "client/...", "dynamo/wire/...", "dynamo/awssdk/...", "test/issuer",
		"test/contract",
	}, anything},

	// Test libraries never reach what ships; a conformance suite is for tests alone.
	{"testing", []string{
		"dynamo/dynamotest/...", "test/storetest", "test/issuer", "test/frozen", "test/contract",
	}, anything},
	{"pgregory.net/rapid", nil, anything},
	{"github.com/pb33f", []string{"test/contract"}, nil},
	{"github.com/google/go-cmp", nil, anything},
	{"github.com/anishathalye/porcupine", nil, anything},
	{"github.com/rogpeppe/go-internal", nil, anything},

	// One store each: the SDK in its adapter, Pebble in the engine, the peers in the measurements.
	{"github.com/aws", []string{"dynamo/awssdk/..."}, []string{"dynamo/wire/...", "test/..."}},
	{"github.com/cockroachdb/pebble", []string{"dynamo/engine/...", "bench/..."}, nil},
	{"github.com/cespare/xxhash", []string{"dynamo/engine/...", "bench/..."}, nil},

	// Code pages are those of the files that banks give.
	{"golang.org/x/text", []string{"bankfile/internal/charset"}, []string{"bankfile"}},

	// Decimals and currencies are behind money, the frameworks of HTTP and of commands at the edge.
	{"github.com/bojanz/currency", []string{"money"}, nil},
	{"github.com/cockroachdb/apd", []string{"money"}, nil},
	{"github.com/danielgtaylor/huma", []string{"server/..."}, nil},
	{"github.com/prometheus/client_golang", []string{"server/..."}, anything},
	// Only the packages that identify users verify signatures of tokens.
	{"github.com/coreos/go-oidc", []string{"server/rest/oidc"}, nil},
	{"github.com/go-jose/go-jose", []string{"server/rest/oidc"}, nil},
	{"go.yaml.in/yaml", []string{"server/endpoint/..."}, nil},
	// Uploaded files are kept in an object store, which the server opens.
	{"gocloud.dev", []string{"server"}, nil},
	{"github.com/spf13/cobra", []string{"cmd/exchequer/..."}, nil},
	{"gonum.org/v1/plot", []string{"cmd/exchequer/chart"}, nil},
	{"github.com/spf13/pflag", []string{"cmd/exchequer/..."}, nil},

	// Makers of ids are values without effects.
	{"github.com/google/uuid", anything, anything},
	{"github.com/oklog/ulid", anything, anything},
}

// hidden lists modules that must not show in an exported signature of the packages that use them,
// so that they can be replaced without breaking a caller.
var hidden = []string{"github.com/cockroachdb/pebble"}
