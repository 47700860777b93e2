package main

import (
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/test/issuer"
)

func TestUsersSignIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes, which the race detector makes slow ones")
	}
	p := newProcess(t)
	iss := issuer.Start(t, time.Now, "ES256")
	if out := p.run("0", "whoami"); !strings.Contains(out, "local") {
		t.Errorf("without a server it is:\n%s", out)
	}
	out := p.run("0", "keys", "create", "--quiet", "--name", "script", "--scope", "statements:read",
		"--user", "bob")
	key := strings.TrimSpace(out[strings.LastIndex(out, "secret")+len("secret"):])
	address := p.serving("--oidc-issuer", iss.Name(), "--oidc-client-id", "books,other")

	p.env = append(p.env, "EXCHEQUER_SERVER="+address)
	for _, token := range []string{
		iss.CognitoID("alice", "books"), iss.CognitoAccess("alice", "other"),
	} {
		out := p.run("0", "whoami", "--token", token, "--output", "csv")
		if !strings.Contains(out, "\nalice,token,,statements:read statements:write\n") {
			t.Errorf("with a token it is:\n%s", out)
		}
	}
	if out := p.run("0", "whoami", "--api-key", key); !strings.Contains(out, "bob") {
		t.Errorf("with a key it is:\n%s", out)
	}
	for _, c := range []struct{ name, token, want string }{
		{"nothing", "", "Give --token"},
		{"a token of another app", iss.Token("alice", "another"), "made for another app"},
		{"an old token", iss.Token("alice", "books", issuer.Values{"exp": 1}), "has expired"},
	} {
		if out := p.run("7", "whoami", "--token", c.token); !strings.Contains(out, c.want) {
			t.Errorf("with %s it was told:\n%s", c.name, out)
		}
	}
	// The environment says it too, and a flag goes before it.
	p.env = append(p.env, "EXCHEQUER_TOKEN="+iss.Token("carol", "books"))
	if out := p.run("0", "whoami"); !strings.Contains(out, "carol") {
		t.Errorf("with a variable it is:\n%s", out)
	}
	if out := p.run("7", "keys", "list"); !strings.Contains(out, "Give --api-key in place") {
		t.Errorf("a user who lists keys was told:\n%s", out)
	}
	p.env = append(p.env, "EXCHEQUER_API_KEY="+key)
	if out := p.run("2", "whoami"); !strings.Contains(out, "are both set") {
		t.Errorf("with both variables it was told:\n%s", out)
	}
	if out := p.run("0", "whoami", "--api-key", key); !strings.Contains(out, "bob") {
		t.Errorf("with a flag beside both variables it is:\n%s", out)
	}
}
