package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// OIDC says whose tokens of users a server takes with AuthOIDC.
type OIDC struct {
	// Issuer is the address of the OpenID Connect issuer, exactly as its tokens have it.
	Issuer string
	// ClientIDs are the apps whose tokens are taken: client ids, or the audience of this API where
	// the issuer names APIs.
	ClientIDs []string
}

// given tells whether anything is said about tokens of users.
func (o OIDC) given() bool { return o.Issuer != "" || len(o.ClientIDs) > 0 }

// checkAuth finds what is wrong with the choices about who may use the server.
func (o *Options) checkAuth() error {
	switch {
	case o.Auth == "" && o.OIDC.given():
		o.Auth = AuthOIDC
	case o.Auth == "":
		o.Auth = AuthOff
	}
	switch o.Auth {
	case AuthOff, AuthKeys:
		if o.OIDC.given() {
			return fmt.Errorf("auth is %q, and only %q takes tokens of users", o.Auth, AuthOIDC)
		}
	case AuthOIDC:
		return oidc.Options{Issuer: o.OIDC.Issuer, ClientIDs: o.OIDC.ClientIDs}.Check()
	default:
		return fmt.Errorf("auth is %q, it must be off, keys or oidc", o.Auth)
	}
	return nil
}

// asks tells whether callers have to show who they are.
func (o *Options) asks() bool { return o.Auth != AuthOff }

// issuerTime bounds how long Open waits for the issuer, which may be started at the same time.
const issuerTime = 3 * time.Second

// buildUsers makes what tells users apart. An issuer that does not answer does not keep the server
// from opening: it has other work to do, and tries again with each token. One that calls itself
// something else does: no token would ever be taken.
func (s *Server) buildUsers(ctx context.Context) (err error) {
	if s.opts.Auth != AuthOIDC {
		return nil
	}
	s.users, err = oidc.New(oidc.Options{
		Issuer: s.opts.OIDC.Issuer, ClientIDs: s.opts.OIDC.ClientIDs,
		Now: s.opts.Now, Logger: s.opts.Logger,
	})
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, issuerTime)
	defer cancel()
	var name *oidc.NameError
	if err := s.users.Connect(limited); errors.As(err, &name) {
		s.users.Close()
		return fmt.Errorf("open server: %w", name)
	}
	return nil
}

// authenticate returns what the API tells users apart with, or nil if it takes API keys alone.
func (s *Server) authenticate() func(context.Context, string) (person.Subject, error) {
	if s.users == nil {
		return nil
	}
	return s.users.Verify
}

// closeUsers ends what is under way with the issuer.
func (s *Server) closeUsers() {
	if s.users != nil {
		s.users.Close()
	}
}
