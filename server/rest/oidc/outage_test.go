package oidc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/test/issuer"
)

func (d *desk) askedForKeys() int {
	_, keys := d.Asked()
	return keys
}

func TestKeysAreReadOnceForManyTokens(t *testing.T) {
	d := open(t, "ES256")
	var all sync.WaitGroup
	for range 50 {
		token := d.Token("alice", app)
		all.Go(func() { d.taken(token, "alice") })
	}
	all.Wait()
	if descriptions, keys := d.Asked(); descriptions != 1 || keys != 1 {
		t.Errorf("the issuer was asked %d and %d times", descriptions, keys)
	}
}

func TestANewKeyIsReadWhenATokenNamesIt(t *testing.T) {
	d := open(t, "ES256")
	old := d.Token("alice", app)
	d.taken(old, "alice")
	d.Publish(issuer.NewKey(t, "ES256"))
	// Right after a reading nothing is read again, whatever comes.
	d.refused(d.Token("bob", app), oidc.ErrKeyUnknown)
	d.clock.Move(oidc.RefreshGap)
	d.taken(d.Token("bob", app), "bob")
	d.taken(old, "alice")
	if n := d.askedForKeys(); n != 2 {
		t.Errorf("the keys were read %d times", n)
	}
	// The same for tokens that name no key.
	d.Publish(issuer.NewKey(t, "ES256"))
	d.clock.Move(oidc.RefreshGap)
	d.taken(d.Newest().Sign(issuer.Values{"alg": "ES256"}, d.Claims("carol", app)), "carol")
}

func TestAKeyThatIsWithdrawnStopsBeingTaken(t *testing.T) {
	d := open(t, "ES256")
	stolen := d.Token("alice", app)
	d.taken(stolen, "alice")
	d.Publish(issuer.NewKey(t, "ES256"))
	d.Withdraw(1)
	d.clock.Move(oidc.KeysFreshFor)
	// The first token after that time begins the reading and does not wait for it.
	if _, err := d.Verify(t.Context(), stolen); err != nil {
		t.Logf("the reading was quick: %v", err)
	}
	d.until("the new keys are there", func() bool {
		_, err := d.Verify(t.Context(), stolen)
		return errors.Is(err, oidc.ErrKeyUnknown)
	})
	d.clock.Move(oidc.RefreshGap)
	d.taken(d.Token("alice", app), "alice")
}

// until waits for a condition.
func (d *desk) until(what string, met func() bool) {
	d.t.Helper()
	for end := time.Now().Add(10 * time.Second); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("never: %s", what)
		}
	}
}

func TestUnknownKeysDoNotHammerTheIssuer(t *testing.T) {
	d := open(t, "ES256")
	d.taken(d.Token("alice", app), "alice")
	d.clock.Move(oidc.RefreshGap)
	forger := issuer.NewKey(t, "ES256")
	var all sync.WaitGroup
	for n := range 100 {
		token := forger.Sign(issuer.Values{"alg": "ES256", "kid": fmt.Sprint("k", n)},
			d.Claims("mallory", app))
		all.Go(func() { d.refused(token, oidc.ErrKeyUnknown) })
	}
	all.Wait()
	if n := d.askedForKeys(); n != 2 {
		t.Errorf("100 unknown keys made the keys be read %d times", n-1)
	}
	// Signatures that are wrong make it read nothing.
	d.clock.Move(oidc.RefreshGap)
	forger.ID = d.Newest().ID
	for range 10 {
		d.refused(forger.Sign(d.Header(), d.Claims("mallory", app)), oidc.ErrSignature)
	}
	// Nor does what is refused whoever signed it.
	stranger := issuer.NewKey(t, "ES256")
	d.refused(stranger.Sign(issuer.Values{"alg": "ES256", "kid": stranger.ID},
		d.Claims("mallory", "other")), oidc.ErrWrongAudience)
	if n := d.askedForKeys(); n != 2 {
		t.Errorf("the keys were read %d times", n)
	}
}

func TestWhileTheIssuerWasNeverThereItsTokensAreUndecided(t *testing.T) {
	d := open(t, "ES256")
	d.Down(true)
	err := d.Connect(t.Context())
	if !errors.Is(err, oidc.ErrUnavailable) {
		t.Fatalf("connected to nobody: %v", err)
	}
	d.refused(d.Token("alice", app), oidc.ErrUnavailable)
	// What no issuer would make good is refused all the same.
	d.refused(d.Token("alice", "other"), oidc.ErrWrongAudience)
	d.refused(d.Token("alice", app, issuer.Values{"exp": 1}), oidc.ErrExpired)
	if descriptions, _ := d.Asked(); descriptions != 1 {
		t.Errorf("the issuer was asked %d times within the gap", descriptions)
	}
	d.Down(false)
	d.refused(d.Token("alice", app), oidc.ErrUnavailable)
	d.clock.Move(oidc.RetryGap)
	d.taken(d.Token("alice", app), "alice")
	for _, words := range []string{"does not answer", "answers again"} {
		if n := strings.Count(d.log.String(), words); n != 1 {
			t.Errorf("the log tells %d times that it %s:\n%s", n, words, d.log)
		}
	}
}

func TestKnownKeysAreUsedThroughAnOutage(t *testing.T) {
	d := open(t, "ES256")
	d.taken(d.Token("alice", app), "alice")
	d.KeysDown(true)
	d.clock.Move(oidc.KeysKeptFor - time.Second)
	d.taken(d.Token("alice", app), "alice")
	d.until("the outage is noticed", func() bool {
		return strings.Contains(d.log.String(), "does not answer")
	})
	// Whether an unknown key is good cannot be told.
	stranger := issuer.NewKey(t, "ES256")
	d.refused(stranger.Sign(issuer.Values{"alg": "ES256", "kid": stranger.ID},
		d.Claims("mallory", app)), oidc.ErrUnavailable)
	// After a day nobody knows any more whether the keys are still good.
	d.clock.Move(time.Hour)
	d.refused(d.Token("alice", app), oidc.ErrUnavailable)
	d.KeysDown(false)
	d.clock.Move(oidc.RetryGap)
	d.taken(d.Token("alice", app), "alice")
}

// The keys may have moved when the issuer is back.
func TestAfterAnOutageTheIssuerDescribesItselfAgain(t *testing.T) {
	d := open(t, "ES256")
	d.taken(d.Token("alice", app), "alice")
	d.KeysDown(true)
	d.clock.Move(oidc.KeysKeptFor)
	d.refused(d.Token("alice", app), oidc.ErrUnavailable)
	d.KeysDown(false)
	d.MoveKeys(d.Name() + "/keys?moved")
	d.clock.Move(oidc.RetryGap)
	d.taken(d.Token("alice", app), "alice")
	if descriptions, _ := d.Asked(); descriptions != 2 {
		t.Errorf("the issuer described itself %d times", descriptions)
	}
}

func TestAWrongNameIsExplained(t *testing.T) {
	d := open(t, "ES256")
	d.Rename(d.Name() + "/")
	var wrong *oidc.NameError
	err := d.Connect(t.Context())
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Error(), "only the slash at the end") {
		t.Errorf("with a slash: %v", err)
	}
	d.clock.Move(oidc.RetryGap)
	d.Rename("https://other.example")
	err = d.Connect(t.Context())
	if !errors.As(err, &wrong) || wrong.Published != "https://other.example" ||
		strings.Contains(wrong.Error(), "slash") {
		t.Errorf("with another name: %v", err)
	}
}

func TestAnIssuerWithASlashAtTheEndIsTaken(t *testing.T) {
	d := open(t, "ES256")
	d.Rename(d.Name() + "/")
	d.Verifier = d.verifier(app)
	d.taken(d.Token("alice", app), "alice")
}

func TestStrangeIssuersAreUnavailable(t *testing.T) {
	for name, change := range map[string]func(*desk){
		"it leads elsewhere":    func(d *desk) { d.Redirect(true) },
		"its keys are in clear": func(d *desk) { d.MoveKeys("http://keys.example.com/keys") },
		"its keys are nowhere":  func(d *desk) { d.MoveKeys("") },
		"it has no keys":        func(d *desk) { d.Withdraw(0) },
		"its keys are something else": func(d *desk) {
			d.MoveKeys(d.Name() + "/.well-known/openid-configuration")
		},
		"it has too many keys": func(d *desk) {
			for range 65 {
				d.PublishRaw(map[string]string{"kty": "EC"})
			}
		},
		"it never ends": func(d *desk) { d.PublishRaw(strings.Repeat("x", 2<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, "ES256")
			token := d.Token("alice", app)
			change(d)
			d.refused(token, oidc.ErrUnavailable)
		})
	}
}

// A request that is given up does not end the reading that others wait for.
func TestAReadingOutlivesTheRequestThatBeganIt(t *testing.T) {
	d := open(t, "ES256")
	release := d.Hold()
	token := d.Token("alice", app)
	gone, leave := cancelled(t)
	first := make(chan error)
	go func() {
		_, err := d.Verify(gone, token)
		first <- err
	}()
	d.until("the reading has begun", func() bool { n, _ := d.Asked(); return n == 1 })
	leave()
	if err := <-first; !errors.Is(err, oidc.ErrUnavailable) {
		t.Errorf("the request that was given up: %v", err)
	}
	release()
	d.taken(token, "alice")
	if n, _ := d.Asked(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	d := open(t, "ES256")
	release := d.Hold()
	defer release()
	failed := make(chan error)
	go func() { failed <- d.Connect(t.Context()) }()
	d.until("the reading has begun", func() bool { n, _ := d.Asked(); return n == 1 })
	d.Close()
	if err := <-failed; !errors.Is(err, oidc.ErrUnavailable) {
		t.Errorf("connected: %v", err)
	}
	d.clock.Move(time.Hour)
	d.refused(d.Token("alice", app), oidc.ErrUnavailable)
	if d.log.String() != "" {
		t.Errorf("the log has %s", d.log)
	}
}

// A clock that was turned back does not keep the verifier from reading keys.
func TestAClockThatIsTurnedBackDoesNotStopReadings(t *testing.T) {
	d := open(t, "ES256")
	d.taken(d.Token("alice", app), "alice")
	d.clock.Move(-48 * time.Hour)
	d.Publish(issuer.NewKey(t, "ES256"))
	d.taken(d.Token("bob", app), "bob")
}

// cancelled returns a context and what ends it.
func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
