// Package issuer is an OpenID Connect issuer for tests: it describes itself, publishes keys, signs
// tokens, good ones and forged ones, changes its keys, and goes away and comes back when a test
// wants it to. It counts what it is asked.
//
// It shares no code with what verifies: signatures are made by the standard library alone, so that
// the two cannot be wrong together.
package issuer

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// The paths that an issuer answers.
const (
	descriptionPath = "/.well-known/openid-configuration"
	keysPath        = "/keys"
)

// Issuer is an issuer that listens on this machine. It is safe for concurrent use.
type Issuer struct {
	t    testing.TB
	now  func() time.Time
	http *httptest.Server

	mu           sync.Mutex
	name         string // What it calls itself.
	keysAt       string
	published    []*Key
	extra        []any // Entries of the key set that are not of Keys.
	down         bool
	keysDown     bool
	redirects    bool
	hold         chan struct{} // Answers wait until it is closed, if it is there.
	descriptions int
	reads        int
}

// Start starts an issuer that publishes one key for an algorithm. It ends with the test.
func Start(t testing.TB, now func() time.Time, algorithm string) *Issuer {
	t.Helper()
	i := &Issuer{t: t, now: now}
	i.http = httptest.NewServer(i)
	t.Cleanup(i.http.Close)
	i.name, i.keysAt = i.http.URL, i.http.URL+keysPath
	i.Publish(NewKey(t, algorithm))
	return i
}

// Name returns what the issuer calls itself, which is its address unless it was renamed.
func (i *Issuer) Name() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.name
}

// Rename changes what the issuer calls itself.
func (i *Issuer) Rename(name string) { i.set(func() { i.name = name }) }

// MoveKeys changes the address of the keys in the issuer's metadata.
func (i *Issuer) MoveKeys(address string) { i.set(func() { i.keysAt = address }) }

// Publish adds a key to those that are published. Tokens are signed by the newest.
func (i *Issuer) Publish(k *Key) { i.set(func() { i.published = append(i.published, k) }) }

// PublishRaw adds any entry to the key set.
func (i *Issuer) PublishRaw(entry any) { i.set(func() { i.extra = append(i.extra, entry) }) }

// Withdraw ends the publishing of all keys but the newest n.
func (i *Issuer) Withdraw(n int) {
	i.set(func() { i.published = i.published[len(i.published)-n:] })
}

// Down makes every answer an error, or ends this.
func (i *Issuer) Down(down bool) { i.set(func() { i.down = down }) }

// KeysDown is Down for the keys alone.
func (i *Issuer) KeysDown(down bool) { i.set(func() { i.keysDown = down }) }

// Redirect makes every answer lead to another path, or ends this.
func (i *Issuer) Redirect(on bool) { i.set(func() { i.redirects = on }) }

// Hold makes answers wait until the function it returns is called.
func (i *Issuer) Hold() (release func()) {
	held := make(chan struct{})
	i.set(func() { i.hold = held })
	return func() {
		i.set(func() { i.hold = nil })
		close(held)
	}
}

// Asked returns how often the description and the keys were asked for.
func (i *Issuer) Asked() (descriptions, keys int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.descriptions, i.reads
}

// Newest returns the key that tokens are signed by.
func (i *Issuer) Newest() *Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.published[len(i.published)-1]
}

func (i *Issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// ServeHTTP answers a request.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	switch r.URL.Path {
	case descriptionPath:
		i.descriptions++
	case keysPath:
		i.reads++
	}
	body, status := i.answer(r.URL.Path)
	redirects, held := i.redirects, i.hold
	i.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	if redirects && r.URL.RawQuery == "" {
		http.Redirect(w, r, r.URL.Path+"?again", http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		i.t.Logf("issuer: %v", err) // The client has disconnected.
	}
}

func (i *Issuer) answer(path string) (body any, status int) {
	switch {
	case i.down, i.keysDown && path == keysPath:
		return map[string]string{"error": "down for a moment"}, http.StatusBadGateway
	case path == descriptionPath:
		return map[string]any{
			"issuer": i.name, "jwks_uri": i.keysAt,
			"authorization_endpoint":                i.http.URL + "/authorize",
			"token_endpoint":                        i.http.URL + "/token",
			"response_types_supported":              []string{"code"},
			"subject_types_supported":               []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256"},
		}, http.StatusOK
	case path == keysPath:
		entries := append([]any{}, i.extra...)
		for _, k := range i.published {
			entries = append(entries, k.Public())
		}
		return map[string]any{"keys": entries}, http.StatusOK
	}
	return map[string]string{"error": "nothing here"}, http.StatusNotFound
}
