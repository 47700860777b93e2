package worker

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"syscall"
)

// redirectsMax is how many redirects of one source are followed.
const redirectsMax = 5

// newClient returns a client for one source. It stays with the host that was configured and sends
// no Referer, because the address may have a key in it. An address of this machine or of its
// network is asked only if it was configured: as an address, or with private.
func newClient(source *url.URL, private bool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if !private && !configuredPrivate(source) && !proxied(source) {
		dialer := &net.Dialer{Timeout: fetchTime, Control: refusePrivate}
		transport.DialContext = dialer.DialContext
	}
	return &http.Client{
		Timeout: fetchTime, Transport: transport,
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			next.Header.Del("Referer")
			if len(before) > redirectsMax {
				return errors.New("it redirects again and again")
			}
			if !sameSource(source, next.URL) {
				return fmt.Errorf("it redirects to another host, %s, which is not followed",
					next.URL.Host)
			}
			return nil
		},
	}
}

// sameSource reports whether an address is of the configured host. A step from HTTP to HTTPS may
// change the port with it, one back is not taken.
func sameSource(source, next *url.URL) bool {
	if !strings.EqualFold(source.Hostname(), next.Hostname()) || next.User != nil {
		return false
	}
	if source.Scheme == next.Scheme {
		return portOf(source) == portOf(next)
	}
	return source.Scheme == "http" && next.Scheme == "https" && source.Port() == "" &&
		next.Port() == ""
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// configuredPrivate reports whether the configuration itself names an address of this machine or
// its network.
func configuredPrivate(source *url.URL) bool {
	host := source.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && isPrivate(ip)
}

// proxied reports whether requests to an address go through a proxy, which then decides.
func proxied(source *url.URL) bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: source})
	return err == nil && proxy != nil
}

// refusePrivate is called with the address that a name was resolved to.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || isPrivate(at.Addr()) {
		return errPrivate
	}
	return nil
}

var errPrivate = errors.New("its name leads to an address of this machine or of its network, " +
	"which is asked only with --rates-private")

// shared is the network of carriers that many customers share (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// isPrivate reports whether an address is not of the public network.
func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap()
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip)
}

// secretSegment matches a part of a path that is more likely a key than a word.
var secretSegment = regexp.MustCompile(`^[A-Za-z0-9_-]{16,}$`)

// shown returns an address without what may be secret in it: a query, a user and a password, and
// long parts of the path that have digits.
func shown(u *url.URL) string {
	out := &url.URL{Scheme: u.Scheme, Host: u.Host}
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if secretSegment.MatchString(part) && strings.ContainsAny(part, "0123456789") {
			parts[i] = "..."
		}
	}
	out.Path = strings.Join(parts, "/")
	return out.String()
}
