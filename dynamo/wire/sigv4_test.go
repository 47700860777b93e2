package wire_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

var signedAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// listRequest returns a ListTables that is not signed yet.
func listRequest(t *testing.T) (*http.Request, string) {
	t.Helper()
	const body = "{}"
	req := httptest.NewRequest("POST", "http://localhost:8000/", strings.NewReader(body))
	req.RequestURI = ""
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	sum := sha256.Sum256([]byte(body))
	return req, hex.EncodeToString(sum[:])
}

func sign(t *testing.T, req *http.Request, id, secret, hash string, at time.Time) {
	t.Helper()
	err := v4.NewSigner().SignHTTP(context.Background(),
		aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}, req, hash, "dynamodb",
		"eu-north-1", at)
	if err != nil {
		t.Fatal(err)
	}
}

func verifying(t *testing.T) http.Handler {
	return wire.NewHandler(openStore(t), wire.Options{
		AccessKeys: []wire.AccessKey{{ID: "other", Secret: "x"}, {ID: "id", Secret: "secret"}},
		Now:        func() time.Time { return signedAt },
	})
}

func TestSignaturesAreVerified(t *testing.T) {
	h := verifying(t)
	cases := map[string]struct {
		id, secret, hash string
		at               time.Time
		change           func(*http.Request)
		want             string // part of the answer
	}{
		"a good one": {},
		"one of nearly five minutes ago": {
			at: signedAt.Add(-5*time.Minute + time.Second),
		},
		"one of more than five minutes ago": {
			at:   signedAt.Add(-5*time.Minute - time.Second),
			want: "InvalidSignatureException\",\"message\":\"Signature expired: 20260304T050106Z",
		},
		"one from the future": {
			at:   signedAt.Add(6 * time.Minute),
			want: "Signature not yet current",
		},
		"another secret": {
			secret: "guess",
			want:   "InvalidSignatureException\",\"message\":\"The request signature we calculated",
		},
		"an unknown key": {id: "nobody", want: "UnrecognizedClientException"},
		"a session": {
			change: func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", "token") },
			want:   "UnrecognizedClientException",
		},
		"another body": {
			change: func(r *http.Request) {
				r.Body = io.NopCloser(strings.NewReader(`{"Limit":1}`))
				r.ContentLength = 11
			},
			want: "InvalidSignatureException",
		},
		"another body of the same length": {
			change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{ ")) },
			want:   "InvalidSignatureException",
		},
		"another operation": {
			change: func(r *http.Request) {
				r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DescribeLimits")
			},
			want: "InvalidSignatureException",
		},
		"another host": {
			change: func(r *http.Request) { r.Host = "localhost:8001" },
			want:   "InvalidSignatureException",
		},
		"a header that was not signed and does not matter": {
			change: func(r *http.Request) { r.Header.Set("User-Agent", "x") },
		},
		"a header of AWS's that was not signed": {
			change: func(r *http.Request) { r.Header.Set("X-Amz-Meaning", "x") },
			want:   "'X-Amz-Meaning' must be a 'SignedHeader'",
		},
		"blanks in a signed header": {
			change: func(r *http.Request) {
				r.Header.Set("Content-Type", " application/x-amz-json-1.0  ")
			},
		},
		"another service": {
			change: func(r *http.Request) {
				r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"),
					"/dynamodb/", "/s3/", 1))
			},
			want: "Credential should be scoped to correct service: 'dynamodb'",
		},
		"another day": {
			change: func(r *http.Request) { r.Header.Set("X-Amz-Date", "20260305T050607Z") },
			want:   "Date in Credential scope does not match",
		},
		"a credential of too few parts": {
			change: func(r *http.Request) {
				r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=id/2026, "+
					"SignedHeaders=host, Signature=00")
			},
			want: "IncompleteSignatureException",
		},
		"no date": {
			change: func(r *http.Request) { r.Header.Del("X-Amz-Date") },
			want:   "requires existence of either a 'X-Amz-Date' or a 'Date' header",
		},
		"nothing but the algorithm": {
			change: func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") },
			want: "Authorization header requires 'Credential' parameter. Authorization header " +
				"requires 'Signature' parameter. Authorization header requires 'SignedHeaders' " +
				"parameter.",
		},
		"no signature": {
			change: func(r *http.Request) { r.Header.Del("Authorization") },
			want:   "MissingAuthenticationTokenException",
		},
		"another scheme": {
			change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
			want:   "MissingAuthenticationTokenException",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req, hash := listRequest(t)
			if c.at.IsZero() {
				c.at = signedAt
			}
			id, secret := "id", "secret"
			if c.id != "" {
				id = c.id
			}
			if c.secret != "" {
				secret = c.secret
			}
			sign(t, req, id, secret, hash, c.at)
			if c.change != nil {
				c.change(req)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			status, want := 200, `{"TableNames":["Test"]}`
			if c.want != "" {
				status, want = 400, c.want
			}
			if w.Code != status || !strings.Contains(w.Body.String(), want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, status, want)
			}
		})
	}
}

func TestABodyMayBeLeftOutOfTheSignature(t *testing.T) {
	h := verifying(t)
	req, _ := listRequest(t)
	req.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	sign(t, req, "id", "secret", "UNSIGNED-PAYLOAD", signedAt)
	req.Body = io.NopCloser(strings.NewReader(`{}`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	// The promise itself must be signed.
	req, hash := listRequest(t)
	sign(t, req, "id", "secret", hash, signedAt)
	req.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	w = httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "InvalidSignatureException") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestASignatureMayStandInTheAddress(t *testing.T) {
	h := verifying(t)
	for name, c := range map[string]struct {
		age    time.Duration
		change func(*http.Request)
		want   string
	}{
		"and is good until it expires": {age: 9 * time.Minute},
		"and expires":                  {age: 11 * time.Minute, want: "Signature expired"},
		"but not in two places": {
			change: func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") },
			want:   "Found both",
		},
		"and covers the other parameters": {
			change: func(r *http.Request) { r.URL.RawQuery += "&more=1" },
			want:   "InvalidSignatureException",
		},
		"and lacks nothing": {
			change: func(r *http.Request) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "X-Amz-Date", "Date", 1)
			},
			want: "must include 'X-Amz-Date'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req, hash := listRequest(t)
			req.URL.RawQuery = "X-Amz-Expires=600&odd=a+b%2Fc%7E"
			address, headers, err := v4.NewSigner().PresignHTTP(context.Background(),
				aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, req, hash,
				"dynamodb", "eu-north-1", signedAt.Add(-c.age),
				func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true })
			if err != nil {
				t.Fatal(err)
			}
			signed := httptest.NewRequest("POST", address, bytes.NewReader([]byte("{}")))
			signed.Header = headers
			if c.change != nil {
				c.change(signed)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, signed)
			if c.want == "" && w.Code != 200 ||
				c.want != "" && (w.Code != 400 || !strings.Contains(w.Body.String(), c.want)) {
				t.Errorf("got %d %s, want %q", w.Code, w.Body, c.want)
			}
		})
	}
}

func TestOnlyTheFormOfASignatureIsLookedAt(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{Auth: wire.AuthForm})
	req, hash := listRequest(t)
	sign(t, req, "anyone", "anything", hash, signedAt)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 200 {
		t.Errorf("signed: %d %s", w.Code, w.Body)
	}
	req, _ = listRequest(t)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "MissingAuthenticationToken") {
		t.Errorf("not signed: %d %s", w.Code, w.Body)
	}
}

func TestTheSDKSignsWhatIsVerified(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{
		AccessKeys: []wire.AccessKey{{ID: "id", Secret: "secret"}},
	})
	server := httptest.NewServer(h)
	defer server.Close()
	for name, transport := range map[string]http.RoundTripper{
		"over a socket": http.DefaultTransport, "in process": wire.Transport{Handler: h},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamodb.New(dynamodb.Options{
				Region: "eu-north-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
				Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
				HTTPClient:  &http.Client{Transport: transport},
			})
			out, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.TableNames) != 1 {
				t.Errorf("got %v", out.TableNames)
			}
		})
	}
}

// TestABodyThatWasChangedIsRefused sends another body than the one that was signed, with the header
// that names the hash of the signed one and without it.
func TestABodyThatWasChangedIsRefused(t *testing.T) {
	h := verifying(t)
	for _, named := range []bool{true, false} {
		req, hash := listRequest(t)
		if named {
			req.Header.Set("X-Amz-Content-Sha256", hash)
		}
		sign(t, req, "id", "secret", hash, signedAt)
		req.Body = io.NopCloser(strings.NewReader(`{"Limit":1}`))
		req.ContentLength = -1
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != 400 || !strings.Contains(w.Body.String(), "InvalidSignatureException") {
			t.Errorf("named: %t: got %d %s", named, w.Code, w.Body)
		}
		if told := strings.Contains(w.Body.String(), "computed from the body"); told != named {
			t.Errorf("named: %t: the answer is %s", named, w.Body)
		}
	}
}
