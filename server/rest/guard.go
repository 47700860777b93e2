package rest

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a page in somebody's browser may have sent behind their back. Without
// it a page could point a name of its own at 127.0.0.1 and then talk to a server without
// authentication as if it were its own (DNS rebinding). Such requests carry the page's name as
// their Host, so only names that are known may be asked for.
type guard struct {
	hosts []string
	// loopback reports that only hosts and the names of the loopback interface are known.
	loopback bool
}

func newGuard(hosts []string, loopback bool) *guard {
	g := &guard{loopback: loopback || len(hosts) > 0}
	for _, h := range hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

func (g *guard) check(r *http.Request) error {
	host := hostname(r.Host)
	if g.loopback && !isLoopback(host) && !slices.Contains(g.hosts, host) {
		return ErrHostRefused.With("host", r.Host)
	}
	// A browser sends the origin of the page. Pages of other origins are refused.
	origin := r.Header.Get("Origin")
	if origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return ErrOriginRefused.With("origin", origin)
		}
	} else if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// A link on another page may lead to the description, which is no secret.
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet {
			return ErrOriginRefused.With("origin", "another site")
		}
	}
	return nil
}

// hostname takes the port and the brackets off a Host header.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// isLoopback reports whether a name is one of this machine for every name server.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
