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

// LocationStatus says whether a location is in use.
type LocationStatus string

// The life of a location. One that was deleted can be restored.
const (
	LocationActive   LocationStatus = "active"
	LocationInactive LocationStatus = "inactive"
)

// Location is a place with a code that people know it by.
type Location struct {
	ID LocationID `json:"id"`
	// Code is unique, whatever its case. It is empty once it was released, and then FormerCode
	// tells it.
	Code       string         `json:"code,omitempty"`
	FormerCode string         `json:"formerCode,omitempty"`
	Status     LocationStatus `json:"status"`
	Name       string         `json:"name"`
	// PlaceID is what Google's Places knows it by; it should be looked up again when it is stale.
	PlaceID           string           `json:"placeId,omitempty"`
	PlaceIDCheckedAt  time.Time        `json:"placeIdCheckedAt,omitzero"`
	PlaceIDStale      bool             `json:"placeIdStale,omitempty"`
	FormattedAddress  string           `json:"formattedAddress,omitempty"`
	AddressComponents map[string]any   `json:"addressComponents,omitempty"`
	Address           *LocationAddress `json:"address,omitempty"`
	// Lat and Lng are degrees north and east; both are nil when they are not known.
	Lat      *float64       `json:"lat,omitempty"`
	Lng      *float64       `json:"lng,omitempty"`
	Phone    string         `json:"phone,omitempty"`
	TimeZone string         `json:"timeZone,omitempty"`
	Hours    *LocationHours `json:"hours,omitempty"`
	Tags     []string       `json:"tags,omitempty"`
	// Open tells whether it is open now, by its own clock; nil where that is not known.
	Open *bool `json:"open,omitempty"`
	// Distance is in metres, of what was found near a point.
	Distance float64 `json:"distance,omitempty"`
	Version  uint64  `json:"version"`
	// Tag names this state of the location; give it to a change that shall be made to no other.
	Tag       string    `json:"tag"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// LocationAddress is an address in its owner's words.
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

// LocationPeriod is a time of opening. A Close that is not after Open is on the next day.
type LocationPeriod struct {
	Day   string `json:"day,omitempty"`
	Open  string `json:"open"`
	Close string `json:"close"`
}

// LocationSpecialDay is a day that differs; without periods it is closed.
type LocationSpecialDay struct {
	Date    string           `json:"date"`
	Periods []LocationPeriod `json:"periods,omitempty"`
	Note    string           `json:"note,omitempty"`
}

// LocationFields are what can be given of a location; what is nil is left out.
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

// NewLocation asks for a location.
type NewLocation struct {
	// ID makes the request safe to repeat; empty means that the server makes one up, and then it
	// is sent only once.
	ID   LocationID `json:"id,omitempty"`
	Code string     `json:"code"`
	// Reuse takes the code over where a deleted location reserves it.
	Reuse bool `json:"reuse,omitempty"`
	LocationFields
}

// LocationChange says what to change of a location.
type LocationChange struct {
	Code *string `json:"code,omitempty"`
	LocationFields
	// Clear names what shall be empty, by the names of the JSON; point stands for lat and lng.
	Clear []string `json:"clear,omitempty"`
}

// LocationReceipt is the answer to a request for a location.
type LocationReceipt struct {
	Location
	// Replayed reports whether an earlier, equal request created it, which is as it is now.
	Replayed bool `json:"-"`
}

// CreateLocation creates a location.
func (c *Client) CreateLocation(ctx context.Context, n NewLocation) (LocationReceipt, error) {
	r := c.post("/v1/locations", n)
	r.safe = n.ID != ""
	made, replayed, err := repeatable[Location](ctx, r)
	return LocationReceipt{made, replayed}, err
}

// Location returns a location by its id, deleted ones too.
func (c *Client) Location(ctx context.Context, id LocationID) (Location, error) {
	return answer[Location](ctx, c.get("/v1/locations/"+segment(id), nil))
}

// LocationByCode returns the location in use that has a code, in any case.
func (c *Client) LocationByCode(ctx context.Context, code string) (Location, error) {
	return answer[Location](ctx, c.get("/v1/locations/by-code/"+segment(code), nil))
}

// LocationQuery asks for a list of locations.
type LocationQuery struct {
	// Status is active, inactive or all; empty means active.
	Status string
	// Tag narrows the list down to those that have it.
	Tag string
	// Order is created, code or name, each of which needs an index of its own; empty means none.
	Order string
	// Prefix narrows the list down to codes or names that begin so; it needs an order by them.
	Prefix string
	PageQuery
}

func (q LocationQuery) values() url.Values {
	v := q.PageQuery.values(nil)
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

// Directory returns all locations in use by code, from the list that the server keeps.
func (c *Client) Directory(ctx context.Context) ([]Location, error) {
	page, err := answer[Page[Location]](ctx, c.get("/v1/locations/directory", nil))
	return page.rows(err)
}

// LocationBox is an area between two parallels and two meridians. A West that is greater than East
// means that it crosses the antimeridian.
type LocationBox struct {
	South, West, North, East float64
}

// NearQuery asks for the locations around a point.
type NearQuery struct {
	// Lat and Lng are the point. With a Box, zeros are none: then there are no distances, and what
	// is near the middle of the box comes first.
	Lat, Lng float64
	// Radius is in metres. A Box asks for what is in it instead.
	Radius float64
	Box    *LocationBox
	Tag    string
	// Limit is the greatest number of locations, up to 1000; 0 means 50.
	Limit int
}

// Neighbours are locations, the nearest first.
type Neighbours struct {
	Items []Location `json:"items"`
	// More tells that there are more than the limit.
	More bool `json:"more"`
	// Unreadable are stored items that cannot be read, and that may be near.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
}

// LocationsNear returns the locations in use around a point or in a box.
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

// changeLocation returns a request for a change of a location that still is as a tag says, unless
// the tag is empty.
func (c *Client) changeLocation(method, path, tag string, body any) *request {
	r := &request{client: c, method: method, path: path, body: body}
	if tag != "" {
		r.match = `"` + tag + `"`
	}
	return r
}

// UpdateLocation changes a location. With a tag it must still be as it was then.
func (c *Client) UpdateLocation(
	ctx context.Context, id LocationID, tag string, change LocationChange,
) (Location, error) {
	r := c.changeLocation(http.MethodPatch, "/v1/locations/"+segment(id), tag, change)
	r.safe = tag == "" // A repeat makes the same of it again.
	return answer[Location](ctx, r)
}

// DeleteLocation puts a location out of use; its code stays reserved.
func (c *Client) DeleteLocation(
	ctx context.Context, id LocationID, tag string,
) (Location, error) {
	r := c.changeLocation(http.MethodDelete, "/v1/locations/"+segment(id), tag, nil)
	r.safe = tag == ""
	return answer[Location](ctx, r)
}

// RestoreLocation puts a deleted location into use again, with a code instead of its own unless
// that is empty.
func (c *Client) RestoreLocation(
	ctx context.Context, id LocationID, tag, code string,
) (Location, error) {
	return answer[Location](ctx, c.changeLocation(http.MethodPost,
		"/v1/locations/"+segment(id)+"/restore", tag, struct {
			Code string `json:"code,omitempty"`
		}{code}))
}

// ReleaseLocation gives up the code that a deleted location reserves.
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
	return page.rows(err)
}

// LocationRow is a row of a sheet of locations: cells by the names of their columns.
type LocationRow struct {
	Line  int               `json:"line,omitempty"`
	Cells map[string]string `json:"cells"`
}

// RowOutcome is what came of a row or, in a preview, what will.
type RowOutcome struct {
	Line int    `json:"line"`
	Code string `json:"code"`
	// Action is create, change, same or error.
	Action     string     `json:"action"`
	LocationID LocationID `json:"locationId,omitempty"`
	// Changes are the fields that differ, of a change.
	Changes []struct {
		Field string `json:"field"`
		From  string `json:"from"`
		To    string `json:"to"`
	} `json:"changes,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	Problem  *problem.Error `json:"problem,omitempty"`
}

// ImportLocations takes up to 500 rows of a sheet in: mode is upsert, create or update. With
// preview nothing is done. A repeat changes nothing.
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
	return page.rows(err)
}

// LocationRepair is the outcome of a comparison of locations and lookup items.
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

// LocationFault is one disagreement: lookup_missing, lookup_foreign, lookup_wrong, lookup_stray,
// code_twice, index_wrong, key_misplaced, item_wrong or item_unreadable.
type LocationFault struct {
	Kind     string     `json:"kind"`
	Code     string     `json:"code"`
	Location LocationID `json:"location"`
	Other    LocationID `json:"other,omitempty"`
	// Entry is the key of the item, and Why what is wrong with it, of a fault of a single item.
	Entry  string `json:"entry,omitempty"`
	Why    string `json:"why,omitempty"`
	Mended bool   `json:"mended"`
}

// UndecidedCode is a code that could not be compared.
type UndecidedCode struct {
	Code     string     `json:"code"`
	Location LocationID `json:"location,omitempty"`
}

// RepairLocations compares locations and lookup items and, with mend, puts right what it finds.
func (c *Client) RepairLocations(ctx context.Context, mend bool) (LocationRepair, error) {
	r := c.post("/v1/locations/repair", nil)
	r.values = url.Values{"mend": {strconv.FormatBool(mend)}}
	return answer[LocationRepair](ctx, r)
}

// ReindexLocations writes the index keys of all locations anew and returns how many there are.
func (c *Client) ReindexLocations(ctx context.Context) (int, error) {
	done, err := answer[struct {
		Locations int `json:"locations"`
	}](ctx, c.post("/v1/locations/reindex", nil))
	return done.Locations, err
}

// LocationPlan tells what listing by a scan takes, and whether it is still right.
type LocationPlan struct {
	Locations int     `json:"locations"`
	Lookups   int     `json:"lookups"`
	Calls     int     `json:"calls"`
	ReadUnits float64 `json:"readUnits"`
	Bytes     int64   `json:"bytes"`
	// Micros is the time that a scan took in microseconds.
	Micros      int64    `json:"micros"`
	ScanIsRight bool     `json:"scanIsRight"`
	Advice      []string `json:"advice"`
}

// PlanLocations measures a scan of the locations.
func (c *Client) PlanLocations(ctx context.Context) (LocationPlan, error) {
	return answer[LocationPlan](ctx, c.get("/v1/locations/plan", nil))
}
