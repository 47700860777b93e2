package oidc_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/test/issuer"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

const app = "4f6k2example"

// desk is an issuer and a verifier of its tokens, on one clock that stands still.
type desk struct {
	*issuer.Issuer
	*oidc.Verifier
	t     *testing.T
	clock *storetest.Clock
	log   *book
}

// book is a log that several goroutines write.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *book) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func open(t *testing.T, algorithm string, clientIDs ...string) *desk {
	t.Helper()
	d := &desk{
		t: t, log: &book{},
		clock: storetest.NewClock(time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC)),
	}
	d.Issuer = issuer.Start(t, d.clock.Now, algorithm)
	d.Verifier = d.verifier(append(clientIDs, app)...)
	return d
}

func (d *desk) verifier(clientIDs ...string) *oidc.Verifier {
	d.t.Helper()
	v, err := oidc.New(oidc.Options{
		Issuer: d.Name(), ClientIDs: clientIDs, Now: d.clock.Now,
		Logger: slog.New(slog.NewTextHandler(d.log, nil)),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(v.Close)
	return v
}

// taken demands that a token is taken for a person.
func (d *desk) taken(token, subject string) {
	d.t.Helper()
	if got, err := d.Verify(d.t.Context(), token); err != nil || string(got) != subject {
		d.t.Errorf("got %q, %v; want %q", got, err, subject)
	}
}

// refused demands that a token is refused for a reason, and that nothing tells what it was.
func (d *desk) refused(token string, want *problem.Definition) {
	d.t.Helper()
	got, err := d.Verify(d.t.Context(), token)
	if got != "" || !errors.Is(err, want) {
		d.t.Errorf("got %q, %v; want %s", got, err, want.Code())
		return
	}
	for _, part := range strings.Split(token, ".") {
		if len(part) > 8 && (strings.Contains(err.Error(), part) ||
			strings.Contains(d.log.String(), part)) {
			d.t.Errorf("a part of the token is told: %v", err)
		}
	}
}

func TestTokensOfEveryKindAreTaken(t *testing.T) {
	d := open(t, "ES256", "https://api.example.org")
	for name, token := range map[string]string{
		"an ID token of Cognito":      d.CognitoID("alice", app),
		"an access token of Cognito":  d.CognitoAccess("alice", app),
		"one with a resource binding": d.CognitoAccess("alice", app, issuer.Values{"aud": app}),
		"one with an audience":        d.Token("alice", app),
		"one with several": d.Token("alice",
			[]string{"https://issuer.example/userinfo", "https://api.example.org"}),
		"one that begins now": d.Token("alice", app,
			issuer.Values{"nbf": d.clock.Now().Unix()}),
		"one that does not tell when it was made": d.Token("alice", app,
			issuer.Values{"iat": nil}),
		"one with fractions of seconds": d.Token("alice", app,
			issuer.Values{"exp": float64(d.clock.Now().Unix()) + 0.5}),
		"an access token of RFC 9068": d.Newest().Sign(
			issuer.Values{"alg": "ES256", "kid": d.Newest().ID, "typ": "at+jwt"},
			d.Claims("alice", app)),
		"one without a type": d.Newest().Sign(
			issuer.Values{"alg": "ES256", "kid": d.Newest().ID}, d.Claims("alice", app)),
		"one that names no key": d.Newest().Sign(
			issuer.Values{"alg": "ES256"}, d.Claims("alice", app)),
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			d.taken(token, "alice")
		})
	}
}

func TestEveryAlgorithmIsTaken(t *testing.T) {
	d := open(t, "RS256")
	rsa := d.Newest()
	for _, algorithm := range oidc.Algorithms() {
		t.Run(algorithm, func(t *testing.T) {
			d.t = t
			switch algorithm[:2] {
			case "RS", "PS":
				d.Publish(rsa.As(algorithm))
			default:
				d.Publish(issuer.NewKey(t, algorithm))
			}
			d.clock.Move(oidc.RefreshGap)
			d.taken(d.Token("alice", app), "alice")
		})
	}
}

func TestTokensForOthersAreRefused(t *testing.T) {
	d := open(t, "ES256")
	with := func(claim string, value any) issuer.Values { return issuer.Values{claim: value} }
	for _, c := range []struct {
		name, token string
		want        *problem.Definition
	}{
		{"another issuer", d.Token("a", app, with("iss", "https://evil.example")),
			oidc.ErrWrongIssuer},
		{"the issuer with a slash", d.Token("a", app, with("iss", d.Name()+"/")),
			oidc.ErrWrongIssuer},
		{"the issuer in capitals", d.Token("a", app, with("iss", strings.ToUpper(d.Name()))),
			oidc.ErrWrongIssuer},
		{"no issuer", d.Token("a", app, with("iss", nil)), oidc.ErrWrongIssuer},
		{"another app", d.Token("a", "other"), oidc.ErrWrongAudience},
		{"an app with a longer name", d.Token("a", app+"x"), oidc.ErrWrongAudience},
		{"no audience", d.Token("a", nil), oidc.ErrWrongAudience},
		{"an empty list", d.Token("a", []string{}), oidc.ErrWrongAudience},
		{"other apps", d.Token("a", []string{"b", "c"}), oidc.ErrWrongAudience},
		{"an ID token for another app", d.CognitoID("a", "other"), oidc.ErrWrongAudience},
		{"an access token for another app", d.CognitoAccess("a", "other"), oidc.ErrWrongAudience},
		{"an access token for another API",
			d.CognitoAccess("a", app, with("aud", "https://other.example")), oidc.ErrWrongAudience},
		{"an access token of another app for this API",
			d.CognitoAccess("a", "other", with("aud", app)), oidc.ErrWrongAudience},
		{"an ID token that has only a client id",
			d.CognitoID("a", app, with("aud", nil), with("client_id", app)), oidc.ErrWrongAudience},
		{"a plain token that has only a client id", d.Token("a", nil, with("client_id", app)),
			oidc.ErrWrongAudience},
		{"a refresh token", d.CognitoID("a", app, with("token_use", "refresh")), oidc.ErrWrongUse},
		{"a use nobody knows", d.CognitoAccess("a", app, with("token_use", "ID")),
			oidc.ErrWrongUse},
		{"a logout token", d.Token("a", app, with("events",
			issuer.Values{"http://schemas.openid.net/event/backchannel-logout": issuer.Values{}})),
			oidc.ErrWrongUse},
		{"a logout token by its type", d.Newest().Sign(
			issuer.Values{"alg": "ES256", "kid": d.Newest().ID, "typ": "logout+jwt"},
			d.Claims("a", app)), oidc.ErrWrongUse},
		{"a type that is no text", d.Newest().Sign(
			issuer.Values{"alg": "ES256", "kid": d.Newest().ID, "typ": 1},
			d.Claims("a", app)), oidc.ErrWrongUse},
		{"no subject", d.Token("a", app, with("sub", nil)), oidc.ErrInvalidSubject},
		{"an empty subject", d.Token("", app), oidc.ErrInvalidSubject},
		{"a subject with a blank", d.Token("a b", app), oidc.ErrInvalidSubject},
		{"a subject with the end of a line", d.Token("a\n", app), oidc.ErrInvalidSubject},
		{"a long subject", d.Token(strings.Repeat("x", 256), app), oidc.ErrInvalidSubject},
		{"a subject in another case of letters",
			d.Token("a", app, with("sub", nil), with("SUB", "a")), oidc.ErrInvalidSubject},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			d.refused(c.token, c.want)
		})
	}
}

// Issuers let others choose names of claims. One that differs in case only must change nothing.
func TestClaimsThatLookLikeOthersChangeNothing(t *testing.T) {
	d := open(t, "ES256")
	for _, name := range []string{"SUB", "Sub", "ſub", "zsub"} {
		d.taken(d.Token("alice", app, issuer.Values{name: "bob"}), "alice")
	}
	d.taken(d.Token("alice", app,
		issuer.Values{"Aud": "other", "EXP": 1, "Token_Use": "x"}), "alice")
	d.refused(d.Token("alice", "other", issuer.Values{"AUD": app}), oidc.ErrWrongAudience)
}

func TestTimesAreTakenWithinTheSkew(t *testing.T) {
	d := open(t, "ES256")
	now := d.clock.Now()
	at := func(claim string, after time.Duration) issuer.Values {
		return issuer.Values{claim: now.Add(after).Unix()}
	}
	for _, c := range []struct {
		name  string
		claim issuer.Values
		want  *problem.Definition
	}{
		{"it ended within the skew", at("exp", -oidc.Skew+time.Second), nil},
		{"it ended at the skew", at("exp", -oidc.Skew), oidc.ErrExpired},
		{"it ended long ago", at("exp", -time.Hour), oidc.ErrExpired},
		{"it ended in 1970", issuer.Values{"exp": 0}, oidc.ErrExpired},
		{"it begins within the skew", at("nbf", oidc.Skew), nil},
		{"it begins after the skew", at("nbf", oidc.Skew+time.Second), oidc.ErrNotYetValid},
		{"it is made within the skew", at("iat", oidc.Skew), nil},
		{"it is made after the skew", at("iat", oidc.Skew+time.Second), oidc.ErrNotYetValid},
		{"it has no end", issuer.Values{"exp": nil}, oidc.ErrMalformed},
		{"its end is nothing", issuer.Values{"exp": any(nil)}, oidc.ErrMalformed},
		{"its end is a text", issuer.Values{"exp": "4102444800"}, oidc.ErrMalformed},
		{"its end is in milliseconds", issuer.Values{"exp": now.UnixMilli() * 1000},
			oidc.ErrMalformed},
		{"its end is before all time", issuer.Values{"exp": -1}, oidc.ErrMalformed},
		{"its end is huge", issuer.Values{"exp": 1e300}, oidc.ErrMalformed},
		{"its beginning is a list", issuer.Values{"nbf": []int{1}}, oidc.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			token := d.Token("alice", app, c.claim)
			if c.want == nil {
				d.taken(token, "alice")
				return
			}
			d.refused(token, c.want)
		})
	}
}

func TestATokenEndsWithItsTime(t *testing.T) {
	d := open(t, "ES256")
	token := d.Token("alice", app)
	d.taken(token, "alice")
	d.clock.Move(issuer.Life + oidc.Skew - time.Second)
	d.taken(token, "alice")
	d.clock.Move(time.Second)
	d.refused(token, oidc.ErrExpired)
}

// Of several problems the one that stands first in the catalogue is told.
func TestTheFirstProblemIsTold(t *testing.T) {
	d := open(t, "ES256")
	all := issuer.Values{
		"iss": "https://evil.example", "token_use": "refresh", "aud": "other", "sub": "",
		"exp": 1, "nbf": d.clock.Now().Add(time.Hour).Unix(),
	}
	good := d.Claims("alice", app, issuer.Values{"token_use": "id", "nbf": 0})
	for _, c := range []struct {
		claim string
		want  *problem.Definition
	}{
		{"iss", oidc.ErrWrongIssuer}, {"token_use", oidc.ErrWrongUse},
		{"aud", oidc.ErrWrongAudience}, {"sub", oidc.ErrInvalidSubject}, {"exp", oidc.ErrExpired},
		{"nbf", oidc.ErrNotYetValid},
	} {
		d.refused(d.Token("alice", app, all), c.want)
		all[c.claim] = good[c.claim]
	}
	d.taken(d.Token("alice", app, all), "alice")
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name, issuer string
		clientIDs    []string
		want         string
	}{
		{"no issuer", "", []string{app}, "the issuer is missing"},
		{"no address", "login.example.com", []string{app}, "must be an address"},
		{"an address in clear", "http://login.example.com", []string{app}, "https://"},
		{"a name that begins like this machine's", "http://localhost.example.com", []string{app},
			"https://"},
		{"another scheme", "file:///etc", []string{app}, "must be an address"},
		{"a question", "https://login.example.com?x=1", []string{app},
			"without a question mark"},
		{"a password", "https://a:b@login.example.com", []string{app}, "must be an address"},
		{"no app", "https://login.example.com", nil, "client ids"},
		{"an app without a name", "https://login.example.com", []string{""},
			"a client id is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := oidc.New(oidc.Options{Issuer: c.issuer, ClientIDs: c.clientIDs})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	for _, address := range []string{
		"https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI",
		"https://tenant.eu.auth0.com/", "http://127.0.0.1:9000", "http://localhost:9000/realms/x",
		"http://[::1]:9000",
	} {
		if _, err := oidc.New(oidc.Options{Issuer: address, ClientIDs: []string{app}}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
