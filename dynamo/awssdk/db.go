package awssdk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Options configure the connection to DynamoDB. The zero Options use the environment and the shared
// configuration files, as all AWS tools do.
type Options struct {
	// Region overrides the configured region. It may be empty for an endpoint on this machine.
	Region string
	// Endpoint is the URL of another implementation of the protocol, such as
	// "http://localhost:8000". If it is empty, AWS_ENDPOINT_URL or Amazon's own endpoint is used.
	Endpoint string
	// Profile is the name of a section of the shared configuration files.
	Profile string
	// Timeout is the maximum time of one call, from connecting to the last byte of the response.
	// Default: TimeoutDefault. A call that exceeds it fails with the code ServiceUnavailable.
	Timeout time.Duration
	// HTTPClient sends the requests; Timeout is then ignored. Nil means a client that keeps up to
	// 512 idle connections.
	HTTPClient *http.Client
}

// TimeoutDefault is the default of Options.Timeout: a hundred times the duration of a slow call.
const TimeoutDefault = 5 * time.Second

// dialTimeout is the maximum time to connect. It is shorter than the timeout of a call, because
// after a failed connection it is certain that nothing was sent.
const dialTimeout = 3 * time.Second

// localRegion is the region in the signatures of requests to this machine if none is configured. It
// is not verified.
const localRegion = "us-east-1"

// DB is a client of DynamoDB that uses the SDK. It is safe for concurrent use.
type DB struct {
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
	close   func() // closes its own connections
}

// A DB implements all interfaces except dynamo.Archiver.
var (
	_ dynamo.DB      = (*DB)(nil)
	_ dynamo.Admin   = (*DB)(nil)
	_ dynamo.Streams = (*DB)(nil)
	_ dynamo.Tagger  = (*DB)(nil)
	_ dynamo.PartiQL = (*DB)(nil)
)

// Open returns a client that is configured by the options and the usual chain of settings:
// environment, shared files and profile, single sign-on, container and machine roles. For an
// endpoint on this machine without configured credentials it uses dummy credentials. Open sends
// nothing to the service.
func Open(ctx context.Context, opts Options) (*DB, error) {
	local, err := checkEndpoint(opts.Endpoint)
	if err != nil {
		return nil, err
	}
	cfg, err := load(ctx, opts, local)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("no AWS region: give one, set AWS_REGION, or add it to the profile")
	}
	client, release := opts.HTTPClient, func() {}
	if client == nil {
		client = keepingConnections(cfg.HTTPClient, opts.Timeout)
		release = client.CloseIdleConnections
	}
	db := New(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = client
		if opts.Endpoint != "" {
			o.BaseEndpoint = aws.String(opts.Endpoint)
		}
	}))
	db.close = release
	return db, nil
}

// New returns a DB that uses client. The client's settings are copied, but retries are turned off.
func New(client *dynamodb.Client) *DB {
	set := client.Options()
	set.Retryer = aws.NopRetryer{}
	set.HTTPClient = unhurried{set.HTTPClient}
	set.APIOptions = append(slices.Clone(set.APIOptions), asAsked)
	own := dynamodb.New(set)
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		AppID:                      set.AppID,
		BaseEndpoint:               set.BaseEndpoint,
		ClientLogMode:              set.ClientLogMode,
		Credentials:                set.Credentials,
		DisableClockSkewCorrection: set.DisableClockSkewCorrection,
		EndpointOptions: dynamodbstreams.EndpointResolverOptions{
			UseDualStackEndpoint: set.EndpointOptions.UseDualStackEndpoint,
			UseFIPSEndpoint:      set.EndpointOptions.UseFIPSEndpoint,
		},
		HTTPClient: set.HTTPClient,
		Logger:     set.Logger,
		Region:     set.Region,
		Retryer:    set.Retryer,
	})
	return &DB{client: own, streams: streams, close: func() {}}
}

// Close closes idle connections, unless they belong to a client that was passed in. The error is
// nil.
func (db *DB) Close() error {
	db.close()
	return nil
}

// checkEndpoint reports whether an endpoint is on this machine, and refuses an invalid URL.
func checkEndpoint(endpoint string) (local bool, err error) {
	if endpoint == "" {
		return false, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, fmt.Errorf("endpoint %q is not a URL such as http://localhost:8000", endpoint)
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	local = host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		ip != nil && ip.IsLoopback()
	return local, nil
}

func load(ctx context.Context, opts Options, local bool) (aws.Config, error) {
	settings := []func(*config.LoadOptions) error{
		config.WithRegion(opts.Region),
		config.WithSharedConfigProfile(opts.Profile),
		// The SDK logs a warning for every response without a checksum, which not all
		// implementations send.
		config.WithLogger(logging.Nop{}),
	}
	if local {
		// The roles of a cloud machine are requested over the network, which takes seconds on other
		// machines, and they are not meant for a test database.
		settings = append(settings, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil || !local {
		return cfg, err
	}
	if cfg.Region == "" {
		cfg.Region = localRegion
	}
	if opts.Profile != "" {
		return cfg, nil
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return cfg, ctx.Err()
		}
		cfg.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	return cfg, nil
}

// idleConnectionsMax is the number of concurrent callers of a busy server. With the SDK's default
// of 10 most of them would open a new connection for every call.
const idleConnectionsMax = 512

// keepingConnections returns a client with the settings of the SDK's client, for example the
// certificates of AWS_CA_BUNDLE, that keeps more idle connections.
func keepingConnections(own aws.HTTPClient, timeout time.Duration) *http.Client {
	if timeout <= 0 {
		timeout = TimeoutDefault
	}
	settings, ok := own.(*awshttp.BuildableClient)
	if !ok {
		settings = awshttp.NewBuildableClient()
	}
	transport := settings.GetTransport()
	transport.MaxIdleConns = idleConnectionsMax
	transport.MaxIdleConnsPerHost = idleConnectionsMax
	transport.DialContext = (&net.Dialer{Timeout: min(dialTimeout, timeout)}).DialContext
	return &http.Client{
		Transport: transport,
		Timeout:   timeout,
		// A signature is valid for one address only, so redirects cannot be followed.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// unhurried sends each request with a copy of its body. The SDK closes the body as soon as it has
// the head of the response. If the server responds before the transport has noted the end of the
// body, the transport interprets the closed body as a failed write and drops the connection with
// the rest of the response.
type unhurried struct{ next dynamodb.HTTPClient }

func (c unhurried) Do(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return c.next.Do(req)
	}
	var body bytes.Buffer
	if req.ContentLength > 0 {
		body.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(req.Body); err != nil {
		return nil, err
	}
	sent := *req
	sent.Body = io.NopCloser(&body)
	sent.ContentLength = int64(body.Len())
	text := body.Bytes()
	sent.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	return c.next.Do(&sent)
}

// The SDK's names for the step that generates tokens, and for the one that validates required
// members.
const (
	tokenStep    = "OperationIdempotencyTokenAutoFill"
	validateStep = "OperationInputValidation"
)

// asAsked removes both steps from the operations that have them.
func asAsked(stack *middleware.Stack) error {
	for _, step := range []string{tokenStep, validateStep} {
		if _, has := stack.Initialize.Get(step); !has {
			continue
		}
		if _, err := stack.Initialize.Remove(step); err != nil {
			return err
		}
	}
	return nil
}
