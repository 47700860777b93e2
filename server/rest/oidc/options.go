package oidc

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options of a [Verifier]. Issuer and ClientIDs are required.
type Options struct {
	// Issuer is the issuer's address, exactly as its tokens and its discovery document have it.
	Issuer string
	// ClientIDs are the apps whose tokens are taken: client ids, or the audience of this API where
	// the issuer names APIs.
	ClientIDs []string
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// Logger logs when the issuer does not answer, and when it answers again; nil means no log.
	Logger *slog.Logger
	// Transport carries the requests to the issuer; nil means connections of the verifier's own.
	Transport http.RoundTripper
}

// clientIDsMax bounds the list that every token is compared with; an app has one or two of them.
const clientIDsMax = 100

// Check returns everything that is wrong with the options.
func (o Options) Check() error {
	wrong := []error{checkAddress("the issuer", o.Issuer)}
	if strings.Contains(o.Issuer, "?") {
		wrong = append(wrong, errors.New("the issuer must be an address without a question mark"))
	}
	if len(o.ClientIDs) == 0 {
		wrong = append(wrong, errors.New("name the client ids, or the audience, whose tokens are "+
			"taken: without them the token of any app of the issuer would open this server"))
	}
	if len(o.ClientIDs) > clientIDsMax {
		wrong = append(wrong, fmt.Errorf("there are more than %d client ids", clientIDsMax))
	}
	if slices.Contains(o.ClientIDs, "") {
		wrong = append(wrong, errors.New("a client id is empty"))
	}
	return errors.Join(wrong...)
}

// checkAddress demands an address that cannot be tampered with on the way: whoever answers in the
// issuer's place signs in as anybody. Within one machine there is no way.
func checkAddress(name, address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return fmt.Errorf("%s is missing", name)
	case err != nil || u.Host == "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("%s must be an address such as https://login.example.com", name)
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s must begin with https://: http is for this machine alone", name)
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func (o Options) withDefaults() Options {
	o.ClientIDs = slices.Clone(o.ClientIDs)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableKeepAlives = true // The next request comes in a quarter of an hour.
		o.Transport = t
	}
	return o
}
