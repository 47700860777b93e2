package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/test/contract"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// hostile are texts that callers send by mistake or on purpose.
var hostile = []string{
	strings.Repeat("a", 255), strings.Repeat("a", 256), strings.Repeat("a", 2041),
	strings.Repeat("a", 5000), strings.Repeat("é", 120), strings.Repeat("%", 255),
	strings.Repeat("#", 250), strings.Repeat("😀", 63), "\x00", "a\x00b", "\x1b[31m", "a\nb",
	"\u202egnp",
	"\u2066x", "\ufeff", "\xff\xfe", "a\xc3", "%", "%00", "%zz", "a#b", "..", ".", "../..", "a/b",
	"//", `\`, `"`, "'", " ", "@", "@@", "{}", "[]", "null", "true", "0", "-0", "-1", "1.5",
	"1e999999", "NaN", "Infinity", strings.Repeat("9", 38), strings.Repeat("9", 39),
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 200) + "1", "9223372036854775807",
	"9223372036854775808", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0000-00-00",
	"0001-01-01", "9999-12-31", "2026-02-30", "2026-01-01T24:00:00Z", "XAU", "usd", "UTC", "Local",
	"../../etc/passwd", "STATUS#completed", "W/\"1\"", "*",
}

// hostileNumbers stand in for whole numbers and other values in bodies.
var hostileNumbers = []string{
	"0", "-1", "1.5", "1e2", "1e400", "9223372036854775807", "9223372036854775808", "-0", `"1"`,
	"true", "null", "[]", "{}", strings.Repeat("9", 400),
}

// abuse sends hostile requests of one test.
type abuse struct {
	t      *testing.T
	w      *world
	h      http.Handler
	random *rand.Rand
	sent   int
}

// try sends a request and demands an answer that is not the server's fault.
func (a *abuse) try(op, method, path string, query url.Values, body string) {
	a.sent++
	target := path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(a.t.Context(), method, "http://localhost"+target,
		strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.RequestURI = target
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Idempotency-Key", fmt.Sprint("hostile ", a.sent))
	answer := httptest.NewRecorder()
	a.h.ServeHTTP(answer, r)
	if answer.Code >= 500 {
		a.t.Errorf("%s: %s %.200q with %.300q has status %d: %s", op, method, target, body,
			answer.Code, answer.Body)
	}
	if log := a.w.log.String(); strings.Contains(log, "level=ERROR") {
		_, line, _ := strings.Cut(log, "level=ERROR")
		line, _, _ = strings.Cut(line, "\n")
		a.t.Fatalf("%s: %s %.200q with %.300q is an error in the log: %s", op, method, target, body,
			line)
	}
}

// some returns a few of the values, others in each round.
func (a *abuse) some(values []string) []string {
	rounds := storetest.Rounds(2)
	if rounds >= len(values) {
		return values
	}
	var picked []string
	for _, i := range a.random.Perm(len(values))[:rounds] {
		picked = append(picked, values[i])
	}
	return picked
}

// segment returns a text as one part of a path that no client and no router resolves.
func segmentOf(text string) string {
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

// places returns the example of a body with each of its values replaced by a hostile one.
func (a *abuse) places(example string) (bodies []string) {
	var walk func(value any, rebuild func(string) string)
	walk = func(value any, rebuild func(string) string) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], func(text string) string {
					var b bytes.Buffer
					for _, other := range slices.Sorted(maps.Keys(v)) {
						member := text
						if other != name {
							member = encoded(v[other])
						}
						fmt.Fprintf(&b, ",%s:%s", encoded(other), member)
					}
					return rebuild("{" + strings.TrimPrefix(b.String(), ",") + "}")
				})
			}
		case []any:
			for _, element := range v {
				walk(element, func(text string) string { return rebuild("[" + text + "]") })
			}
		case string:
			for _, text := range a.some(hostile) {
				bodies = append(bodies, rebuild(encoded(text)))
			}
			bodies = append(bodies, rebuild(`""`))
		}
		for _, text := range a.some(hostileNumbers) {
			bodies = append(bodies, rebuild(text))
		}
	}
	var value any
	if json.Unmarshal([]byte(example), &value) == nil {
		walk(value, func(text string) string { return text })
	}
	return bodies
}

// encoded returns the JSON of a value.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

// Nothing that a caller sends is answered as a fault of the server: not in any part of any path,
// any parameter of a query or any member of a body.
func TestNothingThatIsSentIsAFaultOfTheServer(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := start(t)
	w.taggedThings()
	a := &abuse{t: t, w: w, random: rand.New(rand.NewPCG(seed, 0)), h: w.server.Handler()}
	if !testing.Short() {
		a.h = contract.Watch(t, a.h).Handler(a.h)
	}
	spec := w.documented()
	for _, path := range slices.Sorted(maps.Keys(spec)) {
		for _, method := range slices.Sorted(maps.Keys(spec[path])) {
			if path == "/v1/rates/fetch" {
				continue // What it reads is not the caller's.
			}
			a.operation(path, strings.ToUpper(method), spec[path][method])
		}
	}
	if a.sent < 400 {
		t.Errorf("%d requests: these cannot be all places", a.sent)
	}
}

func (a *abuse) operation(path, method string, op documented) {
	filled, query := path, url.Values{}
	for _, p := range op.Parameters {
		example := "x"
		if len(p.Schema.Examples) > 0 {
			example = fmt.Sprint(p.Schema.Examples[0])
		} else if len(p.Schema.Enum) > 0 {
			example = fmt.Sprint(p.Schema.Enum[0])
		}
		switch {
		case p.In == "path":
			filled = strings.ReplaceAll(filled, "{"+p.Name+"}", segmentOf(example))
		case p.In == "query" && p.Required:
			query.Set(p.Name, example)
		}
	}
	body := op.example()
	for _, p := range op.Parameters {
		for _, text := range a.some(hostile) {
			switch p.In {
			case "path":
				place := strings.ReplaceAll(path, "{"+p.Name+"}", segmentOf(text))
				for _, other := range op.Parameters {
					if other.In == "path" {
						place = strings.ReplaceAll(place, "{"+other.Name+"}", "x")
					}
				}
				a.try(op.OperationID, method, place, query, body)
			case "query":
				with := maps.Clone(query)
				with.Set(p.Name, text)
				a.try(op.OperationID, method, filled, with, body)
			}
		}
	}
	for _, hurt := range a.places(body) {
		a.try(op.OperationID, method, filled, query, hurt)
	}
}

// The lengths at which a key of the store ends are not known to callers.
func TestIdsOfEveryLengthAreNotFound(t *testing.T) {
	w := start(t)
	for _, n := range []int{
		64, 65, 255, 256, 1023, 1024, 1025, 2039, 2040, 2041, 2048, 2049, 9000,
	} {
		for _, path := range []string{
			"/v1/accounts/ID", "/v1/accounts/ID/legs", "/v1/accounts/ID/payments",
			"/v1/merchants/ID", "/v1/transactions/ID", "/v1/payments/ID", "/v1/locations/ID",
			"/v1/locations/by-code/ID", "/v1/me/accounts/ID", "/v1/me/rules/ID", "/v1/me/jobs/ID",
			"/v1/patterns/ID", "/v1/accounts/ID/statement?from=2026-01-01&to=2026-01-02",
			"/v1/me/accounts/ID/uploads", "/v1/me/accounts/everyday/transactions/ID",
		} {
			r := w.send(get, strings.ReplaceAll(path, "ID", strings.Repeat("a", n)), "")
			if r.status != 404 && r.status != 400 {
				t.Errorf("%s of %d characters has status %d: %s", path, n, r.status, r.body)
			}
		}
	}
	if log := w.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log has errors: %.500s", log)
	}
}
