package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/server/rest/person"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// Auth is who may use the server.
type Auth string

const (
	// AuthOff lets everyone in who can reach the server, which is then the same machine only.
	AuthOff Auth = "off"
	// AuthKeys asks for an API key with the scope that an operation needs.
	AuthKeys Auth = "keys"
	// AuthOIDC asks for the same, and lets users with a token of an OpenID Connect issuer do what
	// is about their own data.
	AuthOIDC Auth = "oidc"
)

// Tables is what Open does about the tables of the systems.
type Tables string

const (
	// TablesCreate creates the tables that are missing. A system whose tables differ from what it
	// needs cannot be used; see [Server.CheckLayout].
	TablesCreate Tables = "create"
	// TablesKeep takes the tables as they are, for looking into a store that may be wrong.
	TablesKeep Tables = "keep"
)

// AddressDefault is the default address of the server: this machine only.
const AddressDefault = "127.0.0.1:8080"

// Limits of a server. Zero means the default that is named with each.
type Limits struct {
	// Body is the maximum size of a request's body in bytes; BodyMax. The largest posting of the
	// ledger has a quarter of it.
	Body int64
	// Upload is the maximum size in bytes of a file that a person uploads; UploadMax.
	Upload int64
	// Archive is the maximum size in bytes of an archive that is restored; ArchiveMax.
	Archive int64
	// Spool is the maximum of bytes on disk of all archives that are being restored; SpoolMax.
	Spool int64
	// FreeDisk is the free space in bytes that uploads leave on the disk of the folder for files,
	// so that the systems can still write; FreeDiskMin. A negative value means none.
	FreeDisk int64
	// Streams is how many downloads and other long answers are sent concurrently; StreamsMax.
	Streams int
	// Stall is the maximum time for which a client of a stream may read nothing; StallTimeout.
	Stall time.Duration
	// Header is the maximum size of a request's headers in bytes; HeaderMax.
	Header int
	// Read bounds the time to read a whole request; ReadTimeout.
	Read time.Duration
	// Answer bounds the time to work out an answer and to write it, but for streams; AnswerTimeout.
	Answer time.Duration
	// Idle bounds how long a connection is kept without a request; IdleTimeout.
	Idle time.Duration
	// Drain is the maximum time that Serve waits for requests in progress after it was asked to
	// stop; DrainTimeout.
	Drain time.Duration
}

// The default limits.
const (
	BodyMax       = 256 << 10
	UploadMax     = 1 << 30   // Decades of a busy account; reading it takes little memory.
	ArchiveMax    = 8 << 30   // What a quota of files takes when it is packed.
	SpoolMax      = 16 << 30  // Two of the largest at the same time.
	FreeDiskMin   = 512 << 20 // Minutes of postings at full speed, in which a person can act.
	StreamsMax    = 32        // Each holds a month of rows or so: some megabytes.
	StallTimeout  = 30 * time.Second
	HeaderMax     = 16 << 10
	ReadTimeout   = 10 * time.Second
	AnswerTimeout = 30 * time.Second
	IdleTimeout   = 2 * time.Minute
	DrainTimeout  = 20 * time.Second
)

// Options of a [Server]. One of DataDir, Memory, DynamoDB and Store is required; the rest may be
// zero.
type Options struct {
	// DataDir is the directory of the embedded database, which is made if it is missing.
	DataDir string
	// Memory keeps everything in memory instead, and loses it on Close.
	Memory bool
	// DynamoDB keeps the books in Amazon DynamoDB instead, or in what speaks its protocol. DataDir
	// then has nothing but the key that signs cursors; servers of one store need the same, and
	// without a directory cursors end with the server.
	DynamoDB *awssdk.Options
	// Store is an open store to keep the books in instead, which Close does not close. DataDir then
	// has nothing but the key that signs cursors, as with DynamoDB.
	Store Store
	// Tables is what to do about tables; "" means TablesCreate.
	Tables Tables

	// Auth is who may use the server; "" means AuthOff, or AuthOIDC if OIDC is set.
	Auth Auth
	// OIDC is the issuer of tokens with AuthOIDC. The server opens even if the issuer does not
	// answer yet.
	OIDC OIDC
	// User is the person of a server without authentication, and of requests within this process.
	// Personal operations then read and write this person's data; "" means person.SubjectLocal.
	User person.Subject
	// Hosts are names, without a port, under which the server may be called in addition to those of
	// the loopback interface. Except with AuthOff, an empty list allows every name.
	Hosts  []string
	Limits Limits

	// TableName, Tenant, StatusShards and Zone are the ledger's; see its Options.
	TableName    string
	Tenant       string
	StatusShards int
	Zone         *time.Location

	// Locations are the choices of the directory of locations; its clock is the server's.
	Locations locations.Options

	// Payments are the choices of the scheduler of payments; its clock and its ids are the
	// server's unless it has its own. RunPayments makes Serve settle what is due.
	Payments    payments.Options
	RunPayments PaymentWork

	// Rates are the options of the board of exchange rates. Its clock is the server's unless it has
	// its own, and a StaleFor of zero means rates.StaleForDefault, unless SeedRates selects the
	// seed's own items, which expire when they are no longer fresh. FetchRates makes the server
	// fetch rates: when it starts, and when a request needs one that is stale or missing.
	Rates      rates.Options
	SeedRates  bool
	FetchRates RateWork

	// Statements are the choices of the books of bank statements. Their clock is the server's, and
	// their rates are those of the board unless they have their own.
	Statements statements.Options
	// FilesURL is the bucket for the files that people upload, such as
	// "s3://bucket?region=eu-central-1". Empty means the folder FilesDir of the data directory, or
	// memory for a server in memory.
	FilesURL string

	// Logger receives requests and errors; by default nothing is logged.
	Logger *slog.Logger
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes random ids; nil means random UUIDs.
	NewID func() string
	// Draw returns a number from 0 up to, but not including, n, for the waits between retries; nil
	// means a random one.
	Draw func(n int64) int64
	// Version is the server's version in the description of its API.
	Version string
}

// withDefaults checks the options and fills in what was left out.
func (o Options) withDefaults() (Options, error) {
	var wrong []error
	switch {
	case o.DynamoDB != nil && o.Memory:
		wrong = append(wrong, errors.New("give either DynamoDB or Memory"))
	case o.Store != nil && (o.DynamoDB != nil || o.Memory):
		wrong = append(wrong, errors.New("give either Store, DynamoDB or Memory"))
	case o.Store == nil && o.DynamoDB == nil && (o.DataDir == "") == !o.Memory:
		wrong = append(wrong, errors.New("give either a data directory or Memory"))
	}
	if err := o.checkAuth(); err != nil {
		wrong = append(wrong, err)
	}
	if o.User == "" {
		o.User = person.SubjectLocal
	}
	if err := o.User.Check(); err != nil {
		wrong = append(wrong, fmt.Errorf("the user %w", err))
	}
	switch o.Tables {
	case "":
		o.Tables = TablesCreate
	case TablesCreate, TablesKeep:
	default:
		wrong = append(wrong, fmt.Errorf("tables is %q, it must be create or keep", o.Tables))
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Version == "" {
		o.Version = "development"
	}
	setDefault(&o.Limits.Body, BodyMax)
	setDefault(&o.Limits.Upload, UploadMax)
	setDefault(&o.Limits.Archive, ArchiveMax)
	setDefault(&o.Limits.Spool, SpoolMax)
	if o.Limits.FreeDisk == 0 {
		o.Limits.FreeDisk = FreeDiskMin
	}
	setDefault(&o.Limits.Streams, StreamsMax)
	setDefault(&o.Limits.Stall, StallTimeout)
	setDefault(&o.Limits.Header, HeaderMax)
	setDefault(&o.Limits.Read, ReadTimeout)
	setDefault(&o.Limits.Answer, AnswerTimeout)
	setDefault(&o.Limits.Idle, IdleTimeout)
	setDefault(&o.Limits.Drain, DrainTimeout)
	return o, errors.Join(wrong...)
}

func setDefault[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}
