package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// key is what must never be told to anybody but the source.
const key = "s3cr3tk3y0123456789"

// fetchFrom fetches from an address once, and returns the error and all that was logged.
func fetchFrom(t *testing.T, address string, private bool) (log string, err error) {
	t.Helper()
	var text bytes.Buffer
	r, err := worker.NewRates(worker.RatesOptions{
		Address: address, Private: private,
		Load: func(context.Context, []rates.Day, rates.LoadOptions) (rates.Loaded, error) {
			return rates.Loaded{}, nil
		},
		Mark:   func(context.Context) error { return nil },
		Logger: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		return text.String(), err
	}
	_, err = r.Fetch(t.Context())
	return text.String() + fmt.Sprintf("%+v", r.Status()), err
}

func TestASourceLeadsNowhereElse(t *testing.T) {
	var asked []string // What the other host was asked, with the header.
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()+" "+r.Referer())
	}))
	defer other.Close()
	for _, to := range []string{
		other.URL, other.URL + "/x?y=z", strings.Replace(other.URL, "127.0.0.1", "localhost", 1),
		strings.Replace(other.URL, "http://", "//", 1), "http://169.254.169.254/latest/meta-data",
	} {
		source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		log, err := fetchFrom(t, source.URL+"/"+key+"?app_id="+key, true)
		source.Close()
		if err == nil || !strings.Contains(err.Error(), "another host") {
			t.Errorf("a redirect to %s: %v", to, err)
		}
		if strings.Contains(fmt.Sprint(err)+log, key) {
			t.Errorf("the key is told: %v %s", err, log)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the other host was asked: %v", asked)
	}
}

func TestARedirectOfTheSourceItselfHasNoReferer(t *testing.T) {
	var referers []string
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/new" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		referers = append(referers, r.Referer())
		w.WriteHeader(http.StatusTeapot)
	}))
	defer source.Close()
	log, err := fetchFrom(t, source.URL+"/old?app_id="+key, false)
	if len(referers) != 1 || referers[0] != "" {
		t.Errorf("the referers are %q, the error %v", referers, err)
	}
	if strings.Contains(fmt.Sprint(err)+log, key) {
		t.Errorf("the key is told: %v %s", err, log)
	}
}

func TestPrivateAddressesAreAskedOnlyIfConfigured(t *testing.T) {
	for address, private := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "10.1.2.3:80": true, "192.168.0.1:443": true,
		"172.16.0.1:80": true, "169.254.169.254:80": true, "0.0.0.0:80": true, "[::]:80": true,
		"100.64.0.1:80": true, "[fe80::1]:80": true, "[fd00::1]:80": true, "224.0.0.1:80": true,
		"[::ffff:127.0.0.1]:80": true, "[::ffff:10.0.0.1]:80": true,
		"193.0.14.129:443": false, "[2001:500:2f::f]:443": false, "172.32.0.1:80": false,
	} {
		if refused := worker.RefusePrivate(address) != nil; refused != private {
			t.Errorf("%s is refused: %t", address, refused)
		}
	}
	for address, private := range map[string]bool{
		"http://127.0.0.1/x": true, "http://localhost:8080": true, "http://[::1]/": true,
		"http://10.0.0.1": true, "https://example.com": false, "https://8.8.8.8/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := worker.ConfiguredPrivate(u); got != private {
			t.Errorf("%s is configured as private: %t", address, got)
		}
	}
}
