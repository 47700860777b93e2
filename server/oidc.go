package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// OIDC is the issuer of the users' tokens that a server accepts with AuthOIDC.
type OIDC struct {
	// Issuer is the address of the OpenID Connect issuer, exactly as its tokens have it.
	Issuer string
	// ClientIDs are the apps whose tokens are accepted: client ids, or the audience of this API if
	// the issuer names APIs.
	ClientIDs []string
}

// given reports whether anything is set.
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

// asks reports whether callers must authenticate.
func (o *Options) asks() bool { return o.Auth != AuthOff }

// issuerTime bounds how long Open waits for the issuer, which may be started at the same time.
const issuerTime = 3 * time.Second

// buildUsers returns the verifier of users' tokens. If the issuer does not answer, the server opens
// anyway, because it has other work, and each token tries again. If the issuer reports a different
// name, the server does not open, because it would never accept a token.
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

// authenticate returns the authentication of the API, or nil for the keyring alone.
func (s *Server) authenticate() func(context.Context, string) (person.Subject, error) {
	if s.users == nil {
		return nil
	}
	return s.users.Verify
}

// closeUsers ends the requests to the issuer.
func (s *Server) closeUsers() {
	if s.users != nil {
		s.users.Close()
	}
}
