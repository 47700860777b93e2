package oidc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/test/issuer"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// Whatever is sent, nobody is taken for anyone whom the issuer has not signed for, and what is said
// about it is one of the problems of a caller.
func FuzzTokens(f *testing.F) {
	clock := storetest.NewClock(time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC))
	iss := issuer.Start(f, clock.Now, "ES256")
	v, err := oidc.New(oidc.Options{
		Issuer: iss.Name(), ClientIDs: []string{app}, Now: clock.Now,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(v.Close)
	good := iss.Token("alice", app)
	key := iss.Newest()
	for _, seed := range []string{
		good, iss.CognitoID("alice", app), iss.CognitoAccess("alice", "other"), "", "..", "a.b.c",
		key.Unsigned(issuer.Values{"alg": "none"}, iss.Claims("mallory", app)),
		key.SignHMAC(issuer.Values{"alg": "HS256"}, iss.Claims("mallory", app), key.PEM()),
		strings.Replace(good, ".", "..", 1), good + good, "{}", good[:len(good)/2],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		who, err := v.Verify(t.Context(), token)
		switch {
		case err == nil && who == "alice":
		case err == nil:
			t.Errorf("%q is taken for %q", token, who)
		case problem.KindOf(err) != problem.Unauthenticated:
			t.Errorf("%q: %v", token, err)
		}
	})
}
