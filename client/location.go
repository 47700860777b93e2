package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// LocationID identifies a location: a ULID.
type LocationID string

// LocationStatus is the state of a location.
type LocationStatus string

// The states of a location. A deleted (inactive) one can be restored.
const (
	LocationActive   LocationStatus = "active"
	LocationInactive LocationStatus = "inactive"
)

// Location is a place with a unique code.
type Location struct {
	ID LocationID `json:"id"`
	// Code is unique, ignoring case. It is empty after it was released, and FormerCode is then the
	// old code.
	Code       string         `json:"code,omitempty"`
	FormerCode string         `json:"formerCode,omitempty"`
	Status     LocationStatus `json:"status"`
	Name       string         `json:"name"`
	// PlaceID is its id in Google's Places. It should be looked up again if it is stale.
	PlaceID           string           `json:"placeId,omitempty"`
	PlaceIDCheckedAt  time.Time        `json:"placeIdCheckedAt,omitzero"`
	PlaceIDStale      bool             `json:"placeIdStale,omitempty"`
	FormattedAddress  string           `json:"formattedAddress,omitempty"`
	AddressComponents map[string]any   `json:"addressComponents,omitempty"`
	Address           *LocationAddress `json:"address,omitempty"`
	// Lat and Lng are degrees north and east, or nil if they are unknown.
	Lat      *float64       `json:"lat,omitempty"`
	Lng      *float64       `json:"lng,omitempty"`
	Phone    string         `json:"phone,omitempty"`
	TimeZone string         `json:"timeZone,omitempty"`
	Hours    *LocationHours `json:"hours,omitempty"`
	Tags     []string       `json:"tags,omitempty"`
	// Open reports whether the location is open now by its own clock; nil if that is unknown.
	Open *bool `json:"open,omitempty"`
	// Distance is in metres, for searches near a point.
	Distance float64 `json:"distance,omitempty"`
	Version  uint64  `json:"version"`
	// Tag identifies this state of the location. Pass it to a change that requires this state.
	Tag       string    `json:"tag"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// LocationAddress is an address in free form.
type LocationAddress struct {
	Lines    []string `json:"lines,omitempty"`
	Locality string   `json:"locality,omitempty"`
	Region   string   `json:"region,omitempty"`
	Postcode string   `json:"postcode,omitempty"`
	Country  string   `json:"country,omitempty"`
}

// LocationHours are opening hours by the clock of the location's time zone.
type LocationHours struct {
	Weekly  []LocationPeriod     `json:"weekly,omitempty"`
	Special []LocationSpecialDay `json:"special,omitempty"`
	Note    string               `json:"note,omitempty"`
}

// LocationPeriod is a period of opening hours. A Close that is not after Open is on the next day.
type LocationPeriod struct {
	Day   string `json:"day,omitempty"`
	Open  string `json:"open"`
	Close string `json:"close"`
}

// LocationSpecialDay is a day with other hours; without periods the location is closed.
type LocationSpecialDay struct {
	Date    string           `json:"date"`
	Periods []LocationPeriod `json:"periods,omitempty"`
	Note    string           `json:"note,omitempty"`
}

// LocationFields are the optional fields of a location; nil fields are omitted.
type LocationFields struct {
	Name              *string           `json:"name,omitempty"`
	PlaceID           *string           `json:"placeId,omitempty"`
	PlaceIDCheckedAt  *time.Time        `json:"placeIdCheckedAt,omitempty"`
	FormattedAddress  *string           `json:"formattedAddress,omitempty"`
	AddressComponents map[string]string `json:"addressComponents,omitempty"`
	Address           *LocationAddress  `json:"address,omitempty"`
	Lat               *float64          `json:"lat,omitempty"`
	Lng               *float64          `json:"lng,omitempty"`
	Phone             *string           `json:"phone,omitempty"`
	TimeZone          *string           `json:"timeZone,omitempty"`
	Hours             *LocationHours    `json:"hours,omitempty"`
	Tags              []string          `json:"tags,omitempty"`
}

// NewLocation is a request to create a location.
type NewLocation struct {
	// ID makes the request safe to repeat. If it is empty, the server generates one, and the
	// request is sent only once.
	ID   LocationID `json:"id,omitempty"`
	Code string     `json:"code"`
	// Reuse takes over a code that a deleted location reserves.
	Reuse bool `json:"reuse,omitempty"`
	LocationFields
}

// LocationChange is a change of a location.
type LocationChange struct {
	Code *string `json:"code,omitempty"`
	LocationFields
	// Clear are the JSON names of fields to clear; point means lat and lng.
	Clear []string `json:"clear,omitempty"`
}

// LocationReceipt is the response to the creation of a location.
type LocationReceipt struct {
	Location
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// CreateLocation creates a location.
func (c *Client) CreateLocation(ctx context.Context, n NewLocation) (LocationReceipt, error) {
	r := c.post("/v1/locations", n)
	r.safe = n.ID != ""
	made, replayed, err := repeatable[Location](ctx, r)
	return LocationReceipt{made, replayed}, err
}

// Location returns a location by its id, even if it is deleted.
func (c *Client) Location(ctx context.Context, id LocationID) (Location, error) {
	return answer[Location](ctx, c.get("/v1/locations/"+segment(id), nil))
}

// LocationByCode returns the active location with a code, ignoring case.
func (c *Client) LocationByCode(ctx context.Context, code string) (Location, error) {
	return answer[Location](ctx, c.get("/v1/locations/by-code/"+segment(code), nil))
}

// LocationQuery selects a list of locations.
type LocationQuery struct {
	// Status is active, inactive or all; empty means active.
	Status string
	// Tag restricts the list to locations with this tag.
	Tag string
	// Order is created, code or name, each of which needs an index; empty means no order.
	Order string
	// Prefix restricts the list to codes or names that begin with it; it needs an order by them.
	Prefix string
	PageQuery
}

func (q LocationQuery) values() url.Values {
	v := pageValues(q.PageQuery, nil)
	setText(v, "status", q.Status)
	setText(v, "tag", q.Tag)
	setText(v, "order", q.Order)
	setText(v, "prefix", q.Prefix)
	return v
}

func setText(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

// Locations returns a page of locations.
func (c *Client) Locations(ctx context.Context, q LocationQuery) (Page[Location], error) {
	return answer[Page[Location]](ctx, c.get("/v1/locations", q.values()))
}

// AllLocations returns the locations of all pages.
func (c *Client) AllLocations(ctx context.Context, q LocationQuery) iter.Seq2[Location, error] {
	return allFrom(q.PageQuery, func(page PageQuery) (Page[Location], error) {
		q.PageQuery = page
		return c.Locations(ctx, q)
	})
}

// Directory returns all active locations by code, from a list that the server caches.
func (c *Client) Directory(ctx context.Context) ([]Location, error) {
	page, err := answer[Page[Location]](ctx, c.get("/v1/locations/directory", nil))
	return page.Rows(err)
}

// LocationBox is an area between two parallels and two meridians. A West greater than East means
// that it crosses the antimeridian.
type LocationBox struct {
	South, West, North, East float64
}

// NearQuery selects the locations around a point.
type NearQuery struct {
	// Lat and Lng are the point. With a Box, zeros mean no point: then there are no distances, and
	// locations near the centre of the box come first.
	Lat, Lng float64
	// Radius is in metres. With a Box, its locations are returned instead.
	Radius float64
	Box    *LocationBox
	Tag    string
	// Limit is the maximum number of locations, up to 1000; 0 means 50.
	Limit int
}

// Neighbours are locations, the nearest first.
type Neighbours struct {
	Items []Location `json:"items"`
	// More reports whether there are more than the limit.
	More bool `json:"more"`
	// Unreadable are stored items that cannot be read and may be near.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
}

// LocationsNear returns the active locations around a point or in a box.
func (c *Client) LocationsNear(ctx context.Context, q NearQuery) (Neighbours, error) {
	v := url.Values{}
	number := func(name string, value float64) {
		v.Set(name, strconv.FormatFloat(value, 'f', -1, 64))
	}
	if q.Box == nil || q.Lat != 0 || q.Lng != 0 {
		number("lat", q.Lat)
		number("lng", q.Lng)
	}
	if q.Box == nil {
		number("radius", q.Radius)
	} else {
		number("south", q.Box.South)
		number("west", q.Box.West)
		number("north", q.Box.North)
		number("east", q.Box.East)
	}
	setText(v, "tag", q.Tag)
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return answer[Neighbours](ctx, c.get("/v1/locations/near", v))
}

// changeLocation returns a request for a change of a location. A tag that is not empty must be the
// current one.
func (c *Client) changeLocation(method, path, tag string, body any) *request {
	r := &request{client: c, method: method, path: path, body: body}
	if tag != "" {
		r.match = `"` + tag + `"`
	}
	return r
}

// UpdateLocation changes a location. A tag that is not empty must be the current one.
func (c *Client) UpdateLocation(
	ctx context.Context, id LocationID, tag string, change LocationChange,
) (Location, error) {
	r := c.changeLocation(http.MethodPatch, "/v1/locations/"+segment(id), tag, change)
	r.safe = tag == "" // a repeat has the same result
	return answer[Location](ctx, r)
}

// DeleteLocation deletes a location; its code stays reserved.
func (c *Client) DeleteLocation(
	ctx context.Context, id LocationID, tag string,
) (Location, error) {
	r := c.changeLocation(http.MethodDelete, "/v1/locations/"+segment(id), tag, nil)
	r.safe = tag == ""
	return answer[Location](ctx, r)
}

// RestoreLocation restores a deleted location, with another code if code is not empty.
func (c *Client) RestoreLocation(
	ctx context.Context, id LocationID, tag, code string,
) (Location, error) {
	return answer[Location](ctx, c.changeLocation(http.MethodPost,
		"/v1/locations/"+segment(id)+"/restore", tag, struct {
			Code string `json:"code,omitempty"`
		}{code}))
}

// ReleaseLocation releases the code that a deleted location reserves.
func (c *Client) ReleaseLocation(
	ctx context.Context, id LocationID, tag string,
) (Location, error) {
	return answer[Location](ctx, c.changeLocation(http.MethodPost,
		"/v1/locations/"+segment(id)+"/release", tag, nil))
}

// SwapLocations exchanges the codes of two locations and returns both.
func (c *Client) SwapLocations(ctx context.Context, id, with LocationID) ([]Location, error) {
	page, err := answer[Page[Location]](ctx, c.post("/v1/locations/"+segment(id)+"/swap", struct {
		With LocationID `json:"with"`
	}{with}))
	return page.Rows(err)
}

// LocationRow is a row of a CSV file of locations: cells by the names of their columns.
type LocationRow struct {
	Line  int               `json:"line,omitempty"`
	Cells map[string]string `json:"cells"`
}

// RowOutcome is the result of a row, or in a preview the expected result.
type RowOutcome struct {
	Line int    `json:"line"`
	Code string `json:"code"`
	// Action is create, change, same or error.
	Action     string     `json:"action"`
	LocationID LocationID `json:"locationId,omitempty"`
	// Changes are the fields that differ, for a change.
	Changes []struct {
		Field string `json:"field"`
		From  string `json:"from"`
		To    string `json:"to"`
	} `json:"changes,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	Problem  *problem.Error `json:"problem,omitempty"`
}

// ImportLocations imports up to 500 rows. mode is upsert, create or update. With preview nothing is
// written. A repeat changes nothing.
func (c *Client) ImportLocations(
	ctx context.Context, rows []LocationRow, mode string, preview bool,
) ([]RowOutcome, error) {
	r := c.post("/v1/locations/import", struct {
		Rows    []LocationRow `json:"rows"`
		Mode    string        `json:"mode,omitempty"`
		Preview bool          `json:"preview,omitempty"`
	}{rows, mode, preview})
	r.safe = true
	page, err := answer[Page[RowOutcome]](ctx, r)
	return page.Rows(err)
}

// LocationRepair is the result of a comparison of locations and lookup items.
type LocationRepair struct {
	// Verdict is VerdictSound, VerdictFaulty or VerdictUndecided.
	Verdict   string          `json:"verdict"`
	Locations int             `json:"locations"`
	Lookups   int             `json:"lookups"`
	Faults    []LocationFault `json:"faults"`
	// Undecided are the codes that could not be compared, because other writers changed them each
	// time.
	Undecided []UndecidedCode `json:"undecided"`
	// Mended reports whether the verdict is VerdictSound.
	Mended bool `json:"mended"`
}

// LocationFault is one inconsistency: lookup_missing, lookup_foreign, lookup_wrong, lookup_stray,
// code_twice, index_wrong, key_misplaced, item_wrong or item_unreadable.
type LocationFault struct {
	Kind     string     `json:"kind"`
	Code     string     `json:"code"`
	Location LocationID `json:"location"`
	Other    LocationID `json:"other,omitempty"`
	// Entry is the key of the item and Why the reason, for a fault of a single item.
	Entry  string `json:"entry,omitempty"`
	Why    string `json:"why,omitempty"`
	Mended bool   `json:"mended"`
}

// UndecidedCode is a code that could not be compared.
type UndecidedCode struct {
	Code     string     `json:"code"`
	Location LocationID `json:"location,omitempty"`
}

// RepairLocations compares locations and lookup items and, with mend, repairs the differences.
func (c *Client) RepairLocations(ctx context.Context, mend bool) (LocationRepair, error) {
	r := c.post("/v1/locations/repair", nil)
	r.values = url.Values{"repair": {strconv.FormatBool(mend)}}
	return answer[LocationRepair](ctx, r)
}

// ReindexLocations rewrites the index keys of all locations and returns the number of locations.
func (c *Client) ReindexLocations(ctx context.Context) (int, error) {
	done, err := answer[struct {
		Locations int `json:"locations"`
	}](ctx, c.post("/v1/locations/reindex", nil))
	return done.Locations, err
}

// LocationPlan is the cost of listing by scan, and whether that is still efficient.
type LocationPlan struct {
	Locations int     `json:"locations"`
	Lookups   int     `json:"lookups"`
	Calls     int     `json:"calls"`
	ReadUnits float64 `json:"readUnits"`
	Bytes     int64   `json:"bytes"`
	// Micros is the duration of a scan in microseconds.
	Micros      int64    `json:"micros"`
	ScanIsRight bool     `json:"scanIsRight"`
	Advice      []string `json:"advice"`
}

// PlanLocations measures a scan of the locations.
func (c *Client) PlanLocations(ctx context.Context) (LocationPlan, error) {
	return answer[LocationPlan](ctx, c.get("/v1/locations/plan", nil))
}
