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

// Options says which DynamoDB to use. The zero Options take everything from the environment and
// the shared configuration files, as every AWS tool does.
type Options struct {
	// Region overrides the configured one. At an endpoint on this machine it may stay empty.
	Region string
	// Endpoint is the URL of another implementation of the protocol, such as
	// "http://localhost:8000". Empty means Amazon's own, or what AWS_ENDPOINT_URL says.
	Endpoint string
	// Profile names a section of the shared configuration files.
	Profile string
	// Timeout bounds one call, from the connection to the last byte of the answer; TimeoutDefault
	// if it is zero. A call that it ends has the code ServiceUnavailable.
	Timeout time.Duration
	// HTTPClient carries the requests, and Timeout is not used. Nil means one that keeps up to 512
	// idle connections.
	HTTPClient *http.Client
}

// TimeoutDefault is the default of Options.Timeout: a hundred times what a slow call takes.
const TimeoutDefault = 5 * time.Second

// dialTimeout bounds the time to connect. A connection that was not made sent nothing, which is
// better to know than that the whole call took too long.
const dialTimeout = 3 * time.Second

// localRegion signs requests to this machine where no region is configured; no one checks it.
const localRegion = "us-east-1"

// DB is a DynamoDB behind the SDK. It is safe for concurrent use.
type DB struct {
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
	close   func() // of connections that are its own
}

// A DB implements the whole vocabulary but the exports to folders.
var (
	_ dynamo.DB      = (*DB)(nil)
	_ dynamo.Admin   = (*DB)(nil)
	_ dynamo.Streams = (*DB)(nil)
	_ dynamo.Tagger  = (*DB)(nil)
	_ dynamo.PartiQL = (*DB)(nil)
)

// Open returns the DynamoDB that the options and the usual chain of settings name: environment,
// shared files and profile, single sign-on, container and machine roles. An endpoint on this
// machine gets dummy credentials where none are configured. Open sends nothing to the service.
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

// New returns the DynamoDB that client speaks to. The client's settings are copied, but for its
// retries, which are turned off.
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

// Close lets go of idle connections, unless they are of a client that was given. The error is nil.
func (db *DB) Close() error {
	db.close()
	return nil
}

// checkEndpoint reports whether an endpoint is on this machine, and refuses what is no address.
func checkEndpoint(endpoint string) (local bool, err error) {
	if endpoint == "" {
		return false, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, fmt.Errorf("endpoint %q is no URL such as http://localhost:8000", endpoint)
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
		// It warns of every answer without a checksum, which not every implementation sends.
		config.WithLogger(logging.Nop{}),
	}
	if local {
		// The roles of a machine in the cloud are asked for over the network, which takes seconds
		// where there is none, and they are not meant for a test database.
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

// idleConnectionsMax is for as many concurrent callers as a busy server has; the SDK's own 10 would
// make most of them dial anew at every call.
const idleConnectionsMax = 512

// keepingConnections returns a client with the settings of the SDK's own, such as the certificates
// of AWS_CA_BUNDLE, that keeps more connections.
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
		// A signature is for one address, so there is nothing to follow.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// unhurried sends each request from a copy of its body. The SDK closes the body as soon as it has
// the head of an answer; a server that is quick answers before the transport has noted that it
// wrote the body to its end, the transport takes the closed body for a failed write, and drops the
// connection with the rest of the answer.
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

// The SDK's names for the step that invents tokens, and for the one that refuses requests without
// what the service requires.
const (
	tokenStep    = "OperationIdempotencyTokenAutoFill"
	validateStep = "OperationInputValidation"
)

// asAsked takes both steps out of the operations that have them.
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
