package awssdk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// withoutSettings hides the settings of whoever runs the tests from the SDK.
func withoutSettings(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/credentials")
}

// served returns an endpoint with an empty engine behind it.
func served(t *testing.T) string {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(wire.NewHandler(db, wire.Options{}))
	t.Cleanup(func() {
		server.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

func open(t *testing.T, opts awssdk.Options) *awssdk.DB {
	t.Helper()
	db, err := awssdk.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestAnEndpointOnThisMachineNeedsNoSettings(t *testing.T) {
	withoutSettings(t)
	db := open(t, awssdk.Options{Endpoint: served(t)})
	out, err := db.ListTables(t.Context(), &dynamo.ListTablesInput{})
	if err != nil || len(out.TableNames) != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for outcome, c := range map[string]struct {
		opts awssdk.Options
		want string
	}{
		"an endpoint without a scheme": {
			awssdk.Options{Endpoint: "localhost:8000"}, "not a URL such as http://localhost:8000",
		},
		"an endpoint of another protocol": {
			awssdk.Options{Endpoint: "ftp://localhost"}, "not a URL such as http://localhost:8000",
		},
		"a missing region": {awssdk.Options{}, "set AWS_REGION"},
		"a missing region elsewhere": {
			awssdk.Options{Endpoint: "http://192.0.2.1:8000"}, "set AWS_REGION",
		},
		"a profile that there is not": {
			awssdk.Options{Region: "eu-central-1", Profile: "nobody"}, "nobody",
		},
	} {
		t.Run(outcome, func(t *testing.T) {
			withoutSettings(t)
			_, err := awssdk.Open(t.Context(), c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

func TestSettingsOfTheEnvironmentAreUsed(t *testing.T) {
	withoutSettings(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDOFTESTS")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "ap-southeast-2")
	var signed string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprint(w, `{"TableNames":[]}`)
	}))
	defer server.Close()
	db := open(t, awssdk.Options{Endpoint: server.URL})
	if _, err := db.ListTables(t.Context(), &dynamo.ListTablesInput{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(signed, "AKIDOFTESTS/") || !strings.Contains(signed, "/ap-southeast-2/") {
		t.Errorf("signed with %q", signed)
	}
}

// scripted answers every call with one status and body, and counts the calls.
type scripted struct {
	status int
	body   string
	calls  int
	asked  string // the last request
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	s.calls++
	if r.Body != nil {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.asked = string(asked)
	}
	if s.status == 0 {
		return nil, errors.New("connection refused")
	}
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rec.WriteHeader(s.status)
	rec.WriteString(s.body)
	return rec.Result(), nil
}

// answering returns a store behind a transport.
func answering(s http.RoundTripper) *awssdk.DB {
	return awssdk.New(dynamodb.New(dynamodb.Options{
		Region:       "local",
		BaseEndpoint: aws.String("http://dynamodb.local"),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient:   &http.Client{Transport: s},
	}))
}

var aGet = &dynamo.GetInput{TableName: "Books", Key: dynamo.Item{"id": dynamo.S("1")}}

func TestErrors(t *testing.T) {
	for outcome, c := range map[string]struct {
		status    int
		body      string
		code      dynamo.ErrorCode
		message   string
		retryable bool
	}{
		"a refusal": {
			400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`,
			dynamo.CodeValidation, "no", false,
		},
		"a missing table": {
			400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",` +
				`"message":"not there"}`, dynamo.CodeResourceNotFound, "not there", false,
		},
		"a throttle": {
			400, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException",` +
				`"message":"slow down"}`, dynamo.CodeThrottling, "slow down", true,
		},
		"a code that this version does not know": {
			400, `{"__type":"com.amazonaws.dynamodb.v20120810#NovelException","message":"new"}`,
			"NovelException", "new", false,
		},
		"a failure of the service": {
			500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",` +
				`"message":"oh"}`, dynamo.CodeInternalServerError, "oh", true,
		},
		"a proxy without a server": {502, `<html>`, dynamo.CodeServiceUnavailable, "", true},
		"an answer that breaks off": {
			200, `{"Item":{"id":{"S":"`, dynamo.CodeServiceUnavailable, "", true,
		},
		"no server": {0, "", dynamo.CodeServiceUnavailable, "", true},
	} {
		t.Run(outcome, func(t *testing.T) {
			s := &scripted{status: c.status, body: c.body}
			_, err := answering(s).Get(t.Context(), aGet)
			var e *dynamo.Error
			if !errors.As(err, &e) || e.Code != c.code ||
				c.message != "" && e.Message != c.message {
				t.Fatalf("got %v", err)
			}
			if dynamo.Retryable(err) != c.retryable {
				t.Errorf("retryable is %t", !c.retryable)
			}
			if s.calls != 1 {
				t.Errorf("%d calls were made", s.calls)
			}
		})
	}
}

func TestAThrottleTellsWhichLimitsItMet(t *testing.T) {
	s := &scripted{status: 400, body: `{
		"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
		"message":"slow down","ThrottlingReasons":[
			{"reason":"TableReadKeyRangeThroughputExceeded","resource":"arn:t"}]}`}
	_, err := answering(s).Get(t.Context(), aGet)
	var e *dynamo.Error
	if !errors.As(err, &e) || len(e.ThrottlingReasons) != 1 || e.ThrottlingReasons[0] !=
		(dynamo.ThrottlingReason{
			Reason: "TableReadKeyRangeThroughputExceeded", Resource: "arn:t",
		}) {
		t.Errorf("got %#v", err)
	}
}

func TestACancellationTellsOfEachAction(t *testing.T) {
	s := &scripted{status: 400, body: `{
		"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"message":"Transaction cancelled","CancellationReasons":[{"Code":"None"},
			{"Code":"ConditionalCheckFailed","Message":"no","Item":{"n":{"N":"1.50"}}},
			{"Code":"ThrottlingError","Message":"busy"}]}`}
	_, err := answering(s).TransactWrite(t.Context(), &dynamo.TransactWriteInput{
		Items: []dynamo.TransactWriteItem{{Delete: &dynamo.DeleteInput{TableName: "Books"}}},
	})
	got := dynamo.Reasons(err)
	if len(got) != 3 || got[0].Code != dynamo.ReasonNone || got[0].Item != nil ||
		got[1].Code != dynamo.ReasonConditionalCheckFailed || got[1].Message != "no" ||
		got[1].Item["n"].N() != "1.50" || got[2].Code != dynamo.ReasonThrottling {
		t.Errorf("got %v", got)
	}
	if strings.Contains(s.asked, "ClientRequestToken") {
		t.Errorf("a token was made up: %s", s.asked)
	}
}

func TestAContextThatEndedIsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := answering(&scripted{status: 200, body: "{}"}).Get(ctx, aGet)
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestEmptyIsNotSent(t *testing.T) {
	s := &scripted{status: 200, body: `{"Count":0,"ScannedCount":0}`}
	_, err := answering(s).Query(t.Context(), &dynamo.QueryInput{
		TableName: "Books", KeyConditionExpression: "id = :i",
		Expressions: dynamo.Expressions{
			ExpressionAttributeValues: map[string]dynamo.Value{":i": dynamo.N("1e3")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"TableName":"Books","ExpressionAttributeValues":{":i":{"N":"1e3"}},` +
		`"KeyConditionExpression":"id = :i"}`
	if len(s.asked) != len(want) {
		t.Errorf("sent %s, want %s", s.asked, want)
	}
}

// hasty answers before it has read the request, as a transport may that is told of the answer
// before it has noted that all was written.
type hasty struct {
	body io.ReadCloser
	read []byte
	err  error
}

func (h *hasty) RoundTrip(r *http.Request) (*http.Response, error) {
	h.body = r.Body
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(io.MultiReader(h, strings.NewReader(`{"Item":{"id":{"S":"1"}}}`))),
	}, nil
}

// Read reads the request; of the answer it is the beginning, and empty.
func (h *hasty) Read([]byte) (int, error) {
	h.read, h.err = io.ReadAll(h.body)
	return 0, io.EOF
}

func TestARequestCanBeReadAfterTheAnswerBegan(t *testing.T) {
	h := &hasty{}
	if _, err := answering(h).Get(t.Context(), aGet); err != nil {
		t.Fatal(err)
	}
	want := `{"Key":{"id":{"S":"1"}},"TableName":"Books"}`
	if h.err != nil || len(h.read) != len(want) {
		t.Errorf("read %q, %v", h.read, h.err)
	}
}
