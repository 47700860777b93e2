package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The chapters about a person's bank statements. Who the person is stands in no path, parameter or
// body of theirs: it comes from personOf alone.
const (
	tagBankAccounts     = "Bank accounts"
	tagBankTransactions = "Bank transactions"
	tagUploads          = "Uploads"
	tagRules            = "Rules"
	tagReports          = "Reports"
)

func (a *API) registerBooks() {
	a.registerProfile()
	a.registerBankAccounts()
	a.registerTags()
	a.registerTagEdits()
	a.registerBankTransactions()
	a.registerBankEdits()
	a.registerSearch()
	a.registerJobs()
	a.registerUploads()
	a.registerRules()
	a.registerReports()
	a.registerMyData()
}

// person returns the part of the books that belongs to the caller. It is the only way to them.
func (a *API) person(ctx context.Context) (*statements.Person, error) {
	who, err := personOf(ctx)
	if err != nil {
		return nil, err
	}
	return a.deps.Statements.Person(string(who))
}

// version returns the version that a change expects, 0 where any will do.
func (g Guarded) version() uint64 {
	if g.IfMatch == "" {
		return 0
	}
	number, _, _ := strings.Cut(g.tag(), "-")
	switch version, err := strconv.ParseUint(number, 10, 63); {
	case err != nil: // An ETag of ours begins with a number.
		return math.MaxInt64
	case version == 0: // What another program wrote.
		return statements.NoVersion
	default:
		return version
	}
}

// tagOf returns the ETag of an answer without its quotes: the version, and a digest of the body,
// since another program may write without counting, and a deleted account may be made again.
func tagOf(version uint64, body any) string {
	text, _ := json.Marshal(body) // Bodies of answers can all be written.
	digest := sha256.Sum256(text)
	return strconv.FormatUint(version, 10) + "-" + hex.EncodeToString(digest[:8])
}

// newVersioned returns an answer with an ETag, without a body where the caller has it already.
func newVersioned[T any](known string, version uint64, body T) *tagged[T] {
	return newTagged(known, tagOf(version, body), body)
}

// stated is the answer to a change, with the ETag of what came of it.
type stated[T any] struct {
	ETag string `header:"ETag" doc:"Changes whenever the answer does; give it to If-Match"`
	Body T
}

func newStated[T any](version uint64, body T) *stated[T] {
	return &stated[T]{ETag: `"` + tagOf(version, body) + `"`, Body: body}
}

// made is the answer to a request that made something.
type made[T any] struct {
	Status   int
	Location string `header:"Location"`
	ETag     string `header:"ETag" doc:"Changes whenever the answer does; give it to If-Match"`
	Replayed string `header:"Idempotent-Replayed" doc:"true if an earlier, equal request created it"`
	Body     T
}

// newMade returns the answer to a request that made something, or found it made.
func newMade[T any](fresh bool, path string, version uint64, body T) *made[T] {
	status, mark := repeated(!fresh)
	return &made[T]{
		Status: status, Location: path, ETag: `"` + tagOf(version, body) + `"`, Replayed: mark,
		Body: body,
	}
}

// The forms of a person's profile, and of all that an app needs when it starts.
type (
	profile struct {
		Email       string      `json:"email,omitempty" example:"moana@example.com"`
		Preferences preferences `json:"preferences"`
		Version     uint64      `json:"version" doc:"Counts the changes; the ETag without its quotes"`
		CreatedAt   instant     `json:"createdAt,omitzero"`
		UpdatedAt   instant     `json:"updatedAt,omitzero"`
	}

	preferences struct {
		Currency money.Currency `json:"currency,omitempty" doc:"The home currency, in which reports are given" example:"NZD"`
		TimeZone string         `json:"timezone,omitempty" doc:"A name of the IANA database; tells which day it is" example:"Pacific/Auckland"`
	}

	newProfile struct {
		Email       string      `json:"email,omitempty" example:"moana@example.com"`
		Preferences preferences `json:"preferences,omitzero"`
	}

	startOfApp struct {
		Profile  *profile      `json:"profile,omitempty" doc:"Absent until it is saved"`
		Accounts []bankAccount `json:"accounts" nullable:"false"`
		Tags     []tag         `json:"tags" nullable:"false"`
	}

	saveProfileParams struct {
		WithBody
		Guarded
	}
)

func profileOf(p statements.Profile) profile {
	return profile{
		Email: p.Email, Preferences: preferences(p.Preferences), Version: p.Version,
		CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
}

func (a *API) registerProfile() {
	register(a.Router, operation{
		id: "start", method: http.MethodGet, path: "/v1/me/start", tag: tagMe,
		scope: api.StatementsRead, personal: true,
		summary:     "Get all that an app needs when it starts",
		description: "The profile, the accounts and the tags, in one query of the store.",
	}, a.startOfApp)
	register(a.Router, operation{
		id: "get-profile", method: http.MethodGet, path: "/v1/me/profile", tag: tagMe,
		scope: api.StatementsRead, personal: true, summary: "Get the profile",
		problems: []*problem.Definition{statements.ErrNoProfile},
	}, a.profile)
	registerBody(a.Router, operation{
		id: "save-profile", method: http.MethodPut, path: "/v1/me/profile", tag: tagMe,
		scope: api.StatementsWrite, personal: true, summary: "Save the profile",
		description: "All of it is replaced.",
		example: newProfile{
			Email:       "moana@example.com",
			Preferences: preferences{Currency: "NZD", TimeZone: "Pacific/Auckland"},
		},
		problems: []*problem.Definition{statements.ErrInvalid, statements.ErrChanged},
	}, a.saveProfile)
}

func (a *API) startOfApp(ctx context.Context, _ *struct{}) (*answer[startOfApp], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.Start(ctx)
	if err != nil {
		return nil, err
	}
	out := startOfApp{
		Accounts: All(s.Accounts, bankAccountOf), Tags: All(s.Tags, tagForm),
	}
	if s.Profile != nil {
		own := profileOf(*s.Profile)
		out.Profile = &own
	}
	return &answer[startOfApp]{Body: out}, nil
}

func (a *API) profile(ctx context.Context, in *Conditional) (*tagged[profile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, err := p.Profile(ctx)
	if err != nil {
		return nil, err
	}
	return newVersioned(in.IfNoneMatch, v.Version, profileOf(v)), nil
}

func (a *API) saveProfile(
	ctx context.Context, in *saveProfileParams, body *newProfile,
) (*stated[profile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, err := p.SaveProfile(ctx, body.Email, statements.Preferences(body.Preferences), in.version())
	if err != nil {
		return nil, err
	}
	return newStated(v.Version, profileOf(v)), nil
}
