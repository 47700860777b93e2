package wire

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// guard rejects requests from web pages. A handler without signatures is safe only if nothing but
// the local machine can reach it, but a browser on the machine runs pages from everywhere. A page
// can send cross-site requests, which have its Origin, or the owner of its domain can point the
// domain to 127.0.0.1 (DNS rebinding), so that the request has an unknown Host.
type guard struct {
	off   bool
	hosts []string
}

// newGuard returns the guard of the options. Full authentication needs no guard, because a page of
// a browser cannot sign requests.
func newGuard(opts *Options) guard {
	g := guard{
		// a page cannot sign
		off: opts.Auth == AuthFull || slices.Contains(opts.AllowedHosts, "*"),
	}
	for _, host := range opts.AllowedHosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	return g
}

// check returns an error if the request may come from a page that is not allowed.
func (g *guard) check(req *http.Request) error {
	if g.off || req.Context().Value(inProcess{}) != nil {
		return nil
	}
	if host := bareHost(req.Host); !g.allowsHost(host) {
		return forbidden("The host '" + host + "' is not among the allowed hosts")
	}
	if origin := req.Header.Get("Origin"); origin != "" && !g.allowsOrigin(origin) {
		return forbidden("The origin '" + origin + "' is not among the allowed hosts")
	}
	return nil
}

// inProcess marks the context of a request from a [Transport], which does not come from a browser,
// even if its host is that of a web site.
type inProcess struct{}

func forbidden(message string) error {
	return &dynamo.Error{Code: codeAccessDenied, Message: message}
}

// allowsHost reports whether requests for a host are accepted. An IP address involves no DNS and is
// safe. A name without a dot is not a public name, but that of a container or a machine in the
// local network.
func (g *guard) allowsHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "" || !strings.Contains(host, ".") || isLoopback(host) ||
		slices.Contains(g.hosts, host)
}

// allowsOrigin reports whether a page of that origin may call the handler and read the response.
func (g *guard) allowsOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host != "" && (isLoopback(host) || slices.Contains(g.hosts, host))
}

// isLoopback reports whether a name or address is that of the local machine.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// bareHost returns a host in lower case without its port and brackets.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return strings.ToLower(host)
}
