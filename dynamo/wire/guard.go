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

// guard keeps the pages of the internet from the store. A handler that asks for no signature is
// safe only as long as nobody but the machine reaches it; but a browser on the machine runs pages
// from everywhere. One may send requests of its own accord, which its Origin shows, or its maker
// may let his own name lead to 127.0.0.1 and so be of the same origin, which Host shows.
type guard struct {
	off   bool
	hosts []string
}

func newGuard(opts *Options) guard {
	g := guard{
		// A page cannot sign.
		off: opts.Auth == AuthFull || slices.Contains(opts.AllowedHosts, "*"),
	}
	for _, host := range opts.AllowedHosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	return g
}

// check returns an error for a request that may come from a page that is not allowed.
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

// inProcess marks the context of a request that came through a [Transport] and so from no browser,
// whatever host the client was told.
type inProcess struct{}

func forbidden(message string) error {
	return &dynamo.Error{Code: codeAccessDenied, Message: message}
}

// allowsHost reports whether a request for that name may be answered. An address was not looked up
// and can lead nowhere else. A name without a dot is none that the internet knows: it is that of a
// container or of a machine next to this one.
func (g *guard) allowsHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "" || !strings.Contains(host, ".") || isLoopback(host) ||
		slices.Contains(g.hosts, host)
}

// allowsOrigin reports whether a page of that origin may call and read the answer.
func (g *guard) allowsOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host != "" && (isLoopback(host) || slices.Contains(g.hosts, host))
}

// isLoopback reports whether a name or an address is that of the machine itself.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// bareHost returns a host without its port, brackets and the case of its letters.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return strings.ToLower(host)
}
