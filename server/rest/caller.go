package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/person"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The ways in which a caller proves who they are.
const (
	byNothing = "off"
	byKey     = "key"
	byToken   = "token"
)

// caller is who sent a request, once the request was admitted.
type caller struct {
	// person is whose data the operation is about. It is set for personal operations alone, so that
	// one that is not marked as such learns of nobody.
	person person.Subject
	by     string
	scopes []api.Scope
	key    apikey.Key // Its zero value unless by is byKey.
}

// name distinguishes callers; empty where all are the same.
func (c *caller) name() string {
	switch c.by {
	case byKey:
		return byKey + " " + c.key.ID
	case byToken:
		return byToken + " " + string(c.person)
	}
	return ""
}

// access is what an operation asks of its caller.
type access struct {
	scope    api.Scope
	personal bool
}

var errImpersonal = errors.New("the operation asks for a person, and is not marked as personal")

// personOf returns the person whose data an operation is about. Handlers of personal operations use
// it, and take a person from nowhere else.
func personOf(ctx context.Context) (person.Subject, error) {
	if p := exchangeOf(ctx).caller.person; p != "" {
		return p, nil
	}
	return "", errImpersonal
}

// admit demands that a request carries what an operation asks for.
func (a *Router) admit(ctx context.Context, header string, needs access) error {
	x := exchangeOf(ctx)
	if x.admitted {
		return nil
	}
	who, err := a.identify(ctx, x, header, needs)
	if err != nil {
		return err
	}
	if !needs.personal {
		who.person = ""
	}
	x.caller = who
	return nil
}

func (a *Router) identify(
	ctx context.Context, x *Exchange, header string, needs access,
) (caller, error) {
	if !a.opts.AskForKeys || x.trusted {
		return caller{person: a.opts.User, by: byNothing, scopes: api.Scopes()}, nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		if needs.personal && a.opts.Authenticate != nil {
			return caller{}, ErrTokenMissing
		}
		return caller{}, ErrKeyMissing
	case a.opts.Authenticate != nil && !apikey.Is(token):
		return a.identifyUser(ctx, token, needs)
	}
	// A meter of its own, because the cost in an answer is that of its operation alone.
	unmetered, _ := singletable.WithMeter(ctx)
	key, err := a.keys.Authenticate(unmetered, token)
	if err != nil {
		return caller{}, err
	}
	x.Key = key.ID
	if !key.Allows(needs.scope) {
		return caller{}, apikey.ErrScopeMissing.With("scope", needs.scope)
	}
	if needs.personal && key.Subject == "" {
		return caller{}, ErrKeyWithoutPerson.With("key", key.ID)
	}
	return caller{person: key.Subject, by: byKey, scopes: key.Scopes, key: key}, nil
}

// identifyUser reads the token of a user, who may do with their own data whatever can be done, and
// nothing else.
func (a *Router) identifyUser(ctx context.Context, token string, needs access) (caller, error) {
	who, err := a.opts.Authenticate(ctx, token)
	if err != nil {
		return caller{}, err
	}
	if !needs.personal {
		return caller{}, ErrNotPersonal
	}
	return caller{person: who, by: byToken, scopes: api.PersonalScopes()}, nil
}

// authorise is admit for an operation.
func (a *Router) authorise(needs access) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if err := a.admit(ctx.Context(), ctx.Header("Authorization"), needs); err != nil {
			a.fail(ctx, err)
			return
		}
		next(ctx)
	}
}

// protect is admit for a handler that is no operation of the API.
func (a *Router) protect(scope api.Scope, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.admit(r.Context(), r.Header.Get("Authorization"), access{scope: scope})
		if err != nil {
			a.document(r.Context(), err).write(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}
