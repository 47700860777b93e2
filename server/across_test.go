package server_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/test/issuer"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// A person must find nothing of another's, and change nothing, through any route. The routes are
// those of the OpenAPI document, so that one that is added is tried unasked: with its own example
// as the body, and with the ids of one person where another asks.

// route is a personal operation.
type route struct {
	method, path, media string
	example             any
	queries             []query
}

// query is a parameter of a route.
type query struct {
	name     string
	required bool
	example  string
}

// param finds the parameters in a path.
var param = regexp.MustCompile(`\{([^}]+)\}`)

func (w *world) personalRoutes() []route {
	w.t.Helper()
	var spec struct {
		Paths map[string]map[string]struct {
			Security   []map[string][]string
			Parameters []struct {
				Name, In string
				Required bool
				Example  any
				Schema   struct{ Examples []any }
			}
			RequestBody struct {
				Content map[string]struct{ Example any }
			}
		}
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		w.t.Fatal(err)
	}
	var routes []route
	for path, methods := range spec.Paths {
		for method, op := range methods {
			personal := slices.ContainsFunc(op.Security, func(way map[string][]string) bool {
				return way["user"] != nil
			})
			if !personal {
				continue
			}
			r := route{method: strings.ToUpper(method), path: path}
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				q := query{name: p.Name, required: p.Required}
				if examples := append(p.Schema.Examples, p.Example); examples[0] != nil {
					q.example = fmt.Sprint(examples[0])
				}
				r.queries = append(r.queries, q)
			}
			for media, body := range op.RequestBody.Content {
				r.media, r.example = media, body.Example
			}
			routes = append(routes, r)
		}
	}
	slices.SortFunc(routes, func(a, b route) int {
		return strings.Compare(a.path+" "+a.method, b.path+" "+b.method)
	})
	return routes
}

// someone is a person, how they are let in, and what is theirs.
type someone struct {
	name string
	pass []string // The headers.
	mark string   // Stands in every text that they write.
	ids  map[string][]string
}

// crowd tries the routes.
type crowd struct {
	*world
	random *rand.Rand
	routes []route
}

// all returns all ids of a person, whatever they name.
func (s *someone) all() []string {
	var ids []string
	for _, of := range s.ids {
		ids = append(ids, of...)
	}
	slices.Sort(ids)
	return ids
}

func (c *crowd) pick(from []string, otherwise string) string {
	if len(from) == 0 {
		return otherwise
	}
	return from[c.random.IntN(len(from))]
}

// Members whose texts are a person's own words, and those that name something by its id.
var (
	words = regexp.MustCompile(`(?i)^(name|text|notes?|email|description|payee|merchant|title)$`)
	names = regexp.MustCompile(`(?i)(ids?|accounts?|tags?|uploads?|transactions?|rules?|into)$`)
)

// body returns the example of a route with the words of one person and ids of another.
func (c *crowd) body(member string, v any, by, of *someone) any {
	switch v := v.(type) {
	case map[string]any:
		made := map[string]any{}
		for name, value := range v {
			made[name] = c.body(name, value, by, of)
		}
		return made
	case []any:
		var made []any
		for _, value := range v {
			made = append(made, c.body(member, value, by, of))
		}
		return made
	case string:
		switch {
		case member == "id":
			// Some ids are the same for all: they must not be the same thing.
			return fmt.Sprintf("%s-%d", c.pick([]string{by.name, "same"}, ""), c.random.IntN(2))
		case words.MatchString(member) && !strings.Contains(v, "@"):
			return v + " " + by.mark
		case names.MatchString(member):
			return c.pick(of.all(), v)
		}
	}
	return v
}

// try fills a route with ids of one person and the words of another, and sends it.
func (c *crowd) try(r route, by, of *someone) reply {
	c.t.Helper()
	path := param.ReplaceAllStringFunc(r.path, func(p string) string {
		return url.PathEscape(c.pick(of.ids[strings.Trim(p, "{}")], "unknown"))
	})
	values := url.Values{}
	for _, q := range r.queries {
		switch {
		case names.MatchString(q.name) && (q.required || c.random.IntN(2) == 0):
			values.Set(q.name, c.pick(of.all(), "unknown"))
		case q.required:
			values.Set(q.name, q.example)
		}
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	headers := append([]string{
		"Idempotency-Key", fmt.Sprint(by.name, c.random.Uint64()),
	}, by.pass...)
	text := ""
	switch {
	case r.media == "application/json":
		made, err := json.Marshal(c.body("", r.example, by, of))
		if err != nil {
			c.t.Fatal(err)
		}
		text = string(made)
	case r.media != "":
		headers = append(headers, "Content-Type", r.media)
		text = fmt.Sprintf("Date,Amount,Description\n2026-01-%02d,-%d.50,shop %s\n",
			1+c.random.IntN(28), 1+c.random.IntN(99), by.mark)
	}
	return c.world.send(r.method, path, text, headers...)
}

// text returns all that an answer tells, and of an archive what is in it.
func (r reply) text(t *testing.T) string {
	t.Helper()
	told := r.body + fmt.Sprint(r.header)
	if r.header.Get("Content-Type") != "application/zip" {
		return told
	}
	archive, err := zip.NewReader(strings.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		file, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		told += f.Name + string(data)
	}
	return told
}

// note keeps the ids that an answer names: in its Location, and in the rows of a list.
func (c *crowd) note(s *someone, r route, a reply) {
	keep := func(name, id string) {
		if id != "" && !slices.Contains(s.ids[name], id) {
			s.ids[name] = append(s.ids[name], id)
		}
	}
	if a.status >= 300 {
		return
	}
	var list struct {
		ID    string
		Items []struct{ ID string }
	}
	_ = json.Unmarshal([]byte(a.body), &list) // What is no list names nothing.
	for _, other := range c.routes {
		below, found := strings.CutPrefix(other.path, r.path+"/{")
		if name, whole := strings.CutSuffix(below, "}"); found && whole &&
			!strings.Contains(name, "}") {
			for _, item := range list.Items {
				keep(name, item.ID)
			}
		}
		form := regexp.MustCompile("^" + param.ReplaceAllString(
			strings.ReplaceAll(other.path, ".", `\.`), "([^/]+)") + "$")
		parts := form.FindStringSubmatch(a.header.Get("Location"))
		if parts == nil {
			continue
		}
		for i, p := range param.FindAllStringSubmatch(other.path, -1) {
			id, err := url.PathUnescape(parts[i+1])
			if err != nil {
				c.t.Fatalf("%s made %s: %v", r.path, parts[0], err)
			}
			keep(p[1], id)
		}
	}
}

// settle lets a person use every route that destroys nothing for themselves. Most must work out: a
// route that refuses its owner would hide that it does not refuse others.
func (c *crowd) settle(s *someone) {
	const passes = 3 // What one route makes, another needs.
	tried, worked := map[string]bool{}, map[string]bool{}
	for range passes {
		for _, r := range c.routes {
			if r.method != http.MethodDelete {
				a := c.try(r, s, s)
				if a.status == http.StatusInternalServerError {
					c.t.Errorf("%s %s: status %d: %s", r.method, r.path, a.status, a.body)
				}
				name := r.method + " " + r.path
				tried[name] = true
				if a.status < 300 {
					worked[name] = true
				}
				c.note(s, r, a)
			}
		}
	}
	if 4*len(worked) < 3*len(tried) {
		c.t.Errorf("only %d of %d routes work for %s", len(worked), len(tried), s.name)
	}
}

// everything returns what a person reads of their own, by path, but for what is different each
// time, such as the time at which a file was made.
func (c *crowd) everything(s *someone) map[string]string {
	read, again := c.readAll(s), c.readAll(s)
	maps.DeleteFunc(read, func(path, body string) bool { return again[path] != body })
	return read
}

func (c *crowd) readAll(s *someone) map[string]string {
	read := map[string]string{}
	for _, r := range c.routes {
		if r.method != http.MethodGet {
			continue
		}
		paths := []string{r.path}
		for _, p := range param.FindAllStringSubmatch(r.path, -1) {
			var longer []string
			for _, path := range paths {
				for _, id := range s.ids[p[1]] {
					longer = append(longer, strings.ReplaceAll(path, p[0], url.PathEscape(id)))
				}
			}
			paths = longer
		}
		for _, path := range paths {
			values := url.Values{}
			for _, q := range r.queries {
				if q.required {
					values.Set(q.name, q.example)
				}
			}
			a := c.world.send(get, path+"?"+values.Encode(), "", s.pass...)
			// The name of the request is in the document of a problem.
			read[path] = strings.ReplaceAll(a.body, a.header.Get("X-Request-Id"), "")
		}
	}
	return read
}

func TestNobodyReachesAnothersData(t *testing.T) {
	if testing.Short() {
		t.Skip("requests come one after another, so a short run would find no race")
	}
	for range storetest.Rounds(1) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		w, iss := signIn(t)
		c := &crowd{world: w, random: rand.New(rand.NewPCG(seed, 0)), routes: w.personalRoutes()}
		alice, bob, carol := c.person(iss, "alice"), c.person(iss, "bob"), c.bound("carol")
		people := []*someone{alice, bob, carol}
		for _, s := range people {
			c.settle(s)
		}
		before := c.everything(alice)
		if text := fmt.Sprint(before); strings.Count(text, alice.mark) < 3 {
			t.Fatalf("alice has next to nothing to look for: %s", text)
		}
		for _, r := range c.routes {
			for _, by := range []*someone{bob, carol} {
				const tries = 4 // Each with other ids, as chance has it.
				for range tries {
					a := c.try(r, by, alice)
					for _, s := range people {
						if s != by && strings.Contains(a.text(t), s.mark) {
							t.Fatalf("%s reads of %s by %s %s: %s", by.name, s.name,
								r.method, r.path, a.body)
						}
					}
				}
			}
		}
		if diff := cmp.Diff(before, c.everything(alice)); diff != "" {
			t.Errorf("others changed what is alice's (-before +after):\n%s", diff)
		}
	}
}

// person signs somebody in.
func (c *crowd) person(iss *issuer.Issuer, name string) *someone {
	return &someone{
		name: name, pass: bearer(iss.CognitoAccess(name, app)),
		mark: fmt.Sprintf("of-%s-%x", name, c.random.Uint64()), ids: map[string][]string{},
	}
}

// bound makes a key with every scope for somebody.
func (c *crowd) bound(name string) *someone {
	c.t.Helper()
	var scopes []string
	for _, s := range api.Scopes() {
		scopes = append(scopes, string(s))
	}
	key := must[client.CreatedKey](c.t)(c.CreateKey(c.t.Context(),
		client.NewAPIKey{Name: name, Scopes: scopes, Subject: name}))
	return &someone{
		name: name, pass: bearer(key.Secret),
		mark: fmt.Sprintf("of-%s-%x", name, c.random.Uint64()), ids: map[string][]string{},
	}
}
