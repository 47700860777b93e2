package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// The environment about who somebody is.
const (
	envToken     = "EXCHEQUER_TOKEN"
	envUser      = "EXCHEQUER_USER"
	envIssuer    = "EXCHEQUER_OIDC_ISSUER"
	envClientIDs = "EXCHEQUER_OIDC_CLIENT_ID"
)

// credentials takes what shows the server who calls from the flags or, if there are none, from the
// environment.
func (a *app) credentials(command *cobra.Command) error {
	set := command.Flags().Changed
	switch {
	case set("token") && set("api-key"):
		return usagef("Leave one of them out", "--token and --api-key exclude each other")
	case set("token") && a.flags.server == "":
		return usagef("--server with its address, or set "+envUser+" without --server",
			"A token is for a server")
	case set("token"), set("api-key"):
		return nil
	}
	a.flags.apiKey, a.flags.token = a.getenv(envAPIKey), a.getenv(envToken)
	if a.flags.apiKey != "" && a.flags.token != "" && a.flags.server != "" {
		return usagef("Unset one of them, or give --token or --api-key",
			"%s and %s are both set", envAPIKey, envToken)
	}
	return nil
}

// signing are the flags of serve about users.
type signing struct {
	auth, user, issuer string
	clientIDs          []string
}

func (s *signing) add(f *pflag.FlagSet) {
	f.StringVar(&s.auth, "auth", "", "`who` may use it: off (everyone on this machine; the "+
		"default), keys, or oidc (keys, and users for their own data)")
	f.StringVar(&s.issuer, "oidc-issuer", "",
		"`address` of the OpenID Connect issuer whose users sign in, exactly as it calls itself")
	f.StringSliceVar(&s.clientIDs, "oidc-client-id", nil,
		"client `id`, or audience, whose tokens are taken; may be repeated")
	f.StringVar(&s.user, "user", "", "`subject` of the one user where nobody is asked who they are "+
		"(default "+string(person.SubjectLocal)+")")
}

// apply adds the flags to the options of a server, and what the environment has where there are
// none. A flag that turns users away goes before variables that let them in.
func (s *signing) apply(a *app, opts *server.Options) {
	opts.Auth = server.Auth(s.auth)
	opts.OIDC = server.OIDC{Issuer: s.issuer, ClientIDs: s.clientIDs}
	if s.user != "" {
		opts.User = person.Subject(s.user)
	}
	if opts.Auth != "" && opts.Auth != server.AuthOIDC {
		return
	}
	if opts.OIDC.Issuer == "" {
		opts.OIDC.Issuer = a.env(envIssuer)
	}
	if len(opts.OIDC.ClientIDs) == 0 {
		ids := strings.Split(a.env(envClientIDs), ",")
		opts.OIDC.ClientIDs = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	}
}
