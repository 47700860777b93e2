package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// The forms of a location in bodies and answers.
type (
	location struct {
		ID         locations.ID     `json:"id" doc:"A ULID" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
		Code       string           `json:"code,omitempty" doc:"Unique, whatever its case; absent once it was released" example:"akl-01"`
		FormerCode string           `json:"formerCode,omitempty" doc:"The code that was released"`
		Status     locations.Status `json:"status" enum:"active,inactive" doc:"inactive after a deletion"`
		LocationDetails
		PlaceIDStale bool     `json:"placeIdStale,omitempty" doc:"Whether the place id should be looked up again, after twelve months"`
		Open         *bool    `json:"open,omitempty" doc:"Whether it is open now, by its own clock; absent where that is not known"`
		Distance     *float64 `json:"distance,omitempty" doc:"Metres to the point that was asked about"`
		Version      uint64   `json:"version" doc:"Counts the changes"`
		Tag          string   `json:"tag" doc:"Changes whenever the location does; give it to If-Match, in quotes" example:"1-1705314600000"`
		CreatedAt    instant  `json:"createdAt,omitzero"`
		UpdatedAt    instant  `json:"updatedAt,omitzero"`
	}

	// LocationDetails are embedded, and so exported: the framework describes no others.
	LocationDetails struct {
		Name              string         `json:"name" example:"Auckland Central"`
		PlaceID           string         `json:"placeId,omitempty" doc:"The id that Google's Places knows it by"`
		PlaceIDCheckedAt  instant        `json:"placeIdCheckedAt,omitzero" doc:"When the place id was last looked up"`
		FormattedAddress  string         `json:"formattedAddress,omitempty" doc:"The address as Google's Places writes it"`
		AddressComponents map[string]any `json:"addressComponents,omitempty" doc:"Parts of that address"`
		Address           *address       `json:"address,omitempty" doc:"The address in your own words"`
		Lat               *float64       `json:"lat,omitempty" doc:"Degrees north" example:"-36.8485"`
		Lng               *float64       `json:"lng,omitempty" doc:"Degrees east" example:"174.7633"`
		Phone             string         `json:"phone,omitempty" example:"+6491234567"`
		TimeZone          string         `json:"timeZone,omitempty" example:"Pacific/Auckland"`
		Hours             *hours         `json:"hours,omitempty" doc:"When it is open, by the clock of its time zone"`
		Tags              []string       `json:"tags,omitempty" nullable:"false"`
	}

	address struct {
		Lines    []string `json:"lines,omitempty" nullable:"false" doc:"At most 6"`
		Locality string   `json:"locality,omitempty" example:"Auckland"`
		Region   string   `json:"region,omitempty"`
		Postcode string   `json:"postcode,omitempty" example:"1010"`
		Country  string   `json:"country,omitempty" doc:"A code of ISO 3166 of two letters" example:"NZ"`
	}

	hours struct {
		Weekly  []period     `json:"weekly,omitempty" nullable:"false" doc:"The periods of an ordinary week; a day without one is closed"`
		Special []specialDay `json:"special,omitempty" nullable:"false" doc:"Days that differ"`
		Note    string       `json:"note,omitempty"`
	}

	period struct {
		Day   string `json:"day,omitempty" doc:"monday to sunday, the day on which it begins; not in a special day" example:"friday"`
		Open  string `json:"open" example:"18:00"`
		Close string `json:"close" doc:"On the next day where it is not after open" example:"02:00"`
	}

	specialDay struct {
		Date    string   `json:"date" example:"2026-12-25"`
		Periods []period `json:"periods,omitempty" nullable:"false" doc:"Closed without any"`
		Note    string   `json:"note,omitempty"`
	}
)

// The bodies.
type (
	newLocation struct {
		ID    string `json:"id,omitempty" doc:"A ULID, which makes the request safe to repeat; without it one is made"`
		Code  string `json:"code" doc:"1 to 64 letters, digits and - . _, beginning with a letter or a digit" example:"akl-01"`
		Reuse bool   `json:"reuse,omitempty" doc:"Takes the code over where a deleted location reserves it"`
		LocationFields
	}

	locationChange struct {
		Code *string `json:"code,omitempty" doc:"The new code; the old one is given up in the same write"`
		LocationFields
		Clear []string `json:"clear,omitempty" nullable:"false" doc:"Names of members that shall be empty; point stands for lat and lng"`
	}

	// LocationFields are embedded, and so exported.
	LocationFields struct {
		Name              *string           `json:"name,omitempty" example:"Auckland Central"`
		PlaceID           *string           `json:"placeId,omitempty" doc:"The id that Google's Places knows it by, which may be kept"`
		PlaceIDCheckedAt  string            `json:"placeIdCheckedAt,omitempty" doc:"When the place id was last looked up; now, when the id is new" example:"2026-01-02T10:30:00.123Z"`
		FormattedAddress  *string           `json:"formattedAddress,omitempty" doc:"The address as Google's Places writes it"`
		AddressComponents map[string]string `json:"addressComponents,omitempty" doc:"Parts of that address"`
		Address           *address          `json:"address,omitempty" doc:"The address in your own words; all of it is replaced"`
		Lat               *float64          `json:"lat,omitempty" doc:"Degrees north; lng is needed too" example:"-36.8485"`
		Lng               *float64          `json:"lng,omitempty" doc:"Degrees east; lat is needed too" example:"174.7633"`
		Phone             *string           `json:"phone,omitempty" doc:"In the form of E.164" example:"+6491234567"`
		TimeZone          *string           `json:"timeZone,omitempty" doc:"A name of the IANA database" example:"Pacific/Auckland"`
		Hours             *hours            `json:"hours,omitempty" doc:"When it is open; needs a time zone"`
		Tags              []string          `json:"tags,omitempty" nullable:"false" doc:"At most 20 words to find it by"`
	}

	restoreLocation struct {
		Code string `json:"code,omitempty" doc:"A code to take instead of its own"`
	}

	swapLocation struct {
		With string `json:"with" doc:"The id of the other location" example:"01BX5ZZKBKACTAV9WEVGEMMVRZ"`
	}

	importLocations struct {
		Rows    []importRow    `json:"rows" nullable:"false" doc:"At most 500"`
		Mode    locations.Mode `json:"mode,omitempty" enum:"upsert,create,update" doc:"What rows may do: upsert without it"`
		Preview bool           `json:"preview,omitempty" doc:"Whether to tell what would be done, and do nothing"`
	}

	importRow struct {
		Line  int               `json:"line,omitempty" minimum:"1" maximum:"2147483647" doc:"Where the row is in its file" example:"2"`
		Cells map[string]string `json:"cells" doc:"By column: code, name, lat, lng or point, address, locality, region, postcode, country, phone, timeZone, tags, placeId, placeIdCheckedAt, formattedAddress. A blank cell changes nothing; -clear- empties"`
	}
)

func detailsOf(d locations.Details) LocationDetails {
	out := LocationDetails{
		Name: d.Name, PlaceID: d.Place.ID, PlaceIDCheckedAt: instant(d.Place.CheckedAt),
		FormattedAddress: d.Place.FormattedAddress, AddressComponents: d.Place.Components,
		Phone: d.Phone, TimeZone: d.TimeZone, Tags: d.Tags,
	}
	if d.Point != nil {
		out.Lat, out.Lng = &d.Point.Lat, &d.Point.Lng
	}
	if d.Address != nil {
		a := address(*d.Address)
		out.Address = &a
	}
	if h := d.Hours; h != nil {
		out.Hours = &hours{Weekly: All(h.Weekly, periodOf), Note: h.Note}
		for _, s := range h.Special {
			out.Hours.Special = append(out.Hours.Special,
				specialDay{s.Date, All(s.Periods, periodOf), s.Note})
		}
	}
	return out
}

func periodOf(p locations.Period) period { return period(p) }

func (a *API) locationOf(l locations.Location) location {
	now := a.opts.Now()
	out := location{
		ID: l.ID, Code: l.Code, FormerCode: l.FormerCode, Status: l.Status,
		LocationDetails: detailsOf(l.Details), PlaceIDStale: l.Place.Stale(now), Version: l.Version,
		Tag: l.Tag(), CreatedAt: instant(l.CreatedAt), UpdatedAt: instant(l.UpdatedAt),
	}
	if open, known := l.Open(now); known {
		out.Open = &open
	}
	return out
}

// moment returns what an answer has of a location by the clock alone, for its ETag.
func (l *location) moment() (text string) {
	if l.Open != nil {
		text = ".closed"
		if *l.Open {
			text = ".open"
		}
	}
	if l.PlaceIDStale {
		text += ".stale"
	}
	return text
}

// etag returns the ETag of the answer without its quotes: the location's tag and the moment, which
// locationTag takes off again.
func (l *location) etag() string { return l.Tag + l.moment() }

// change returns what a body asks to change, or adds what is wrong with it.
func (f *LocationFields) change(wrong *problem.Fields) locations.Change {
	c := locations.Change{
		Name: f.Name, PlaceID: f.PlaceID, FormattedAddress: f.FormattedAddress, Phone: f.Phone,
		TimeZone: f.TimeZone, Tags: f.Tags,
	}
	if f.PlaceIDCheckedAt != "" {
		at := readInstant(wrong, "placeIdCheckedAt", f.PlaceIDCheckedAt)
		c.PlaceIDCheckedAt = &at
	}
	if f.AddressComponents != nil {
		c.Components = map[string]any{}
		for name, text := range f.AddressComponents {
			c.Components[name] = text
		}
	}
	if f.Address != nil {
		own := locations.Address(*f.Address)
		c.Address = &own
	}
	switch {
	case f.Lat != nil && f.Lng != nil:
		c.Point = &locations.Point{Lat: *f.Lat, Lng: *f.Lng}
	case f.Lat != nil:
		wrong.Add("lng", "is missing, while lat is given")
	case f.Lng != nil:
		wrong.Add("lat", "is missing, while lng is given")
	}
	if h := f.Hours; h != nil {
		own := func(p period) locations.Period { return locations.Period(p) }
		c.Hours = &locations.Hours{Weekly: All(h.Weekly, own), Note: h.Note}
		for _, s := range h.Special {
			c.Hours.Special = append(c.Hours.Special, locations.SpecialDay{
				Date: s.Date, Periods: All(s.Periods, own), Note: s.Note,
			})
		}
	}
	return c
}

// Guarded is the header of changes that shall be made only to what the caller has seen.
type Guarded struct {
	IfMatch string `header:"If-Match" doc:"ETags of the resource (RFC 9110, 13.1.1): the change is made only if it still has one of them. * demands only that it exists" example:"\"1\""`
}

// settle sets the header to the ETag that the resource has now, which the caller knows; to "" where
// the caller accepts any.
func (g *Guarded) Settle(etag string) { g.IfMatch = etag }

// tag returns the ETag that a change expects without its quotes, "" where any state will do.
func (g Guarded) tag() string { return strings.Trim(g.IfMatch, `"`) }

// locationTag returns the tag of the location that a change expects: another moment is no change.
func (g Guarded) locationTag() string {
	state, _, _ := strings.Cut(g.tag(), ".")
	return state
}

// locationPath is where a location is read.
const locationPath = "/v1/locations/{id}"

// LocationPath is the parameter that names a location.
type LocationPath struct {
	ID locations.ID `path:"id" doc:"The location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
}

type (
	createLocationParams struct{ WithBody }
	locationParams       struct {
		Conditional
		LocationPath
	}
	locationByCodeParams struct {
		Conditional
		Code string `path:"code" doc:"The code, in any case" example:"akl-01"`
	}
	changeLocationParams struct {
		WithBody
		Guarded
		LocationPath
	}
	guardedLocationParams struct {
		Guarded
		LocationPath
	}
	swapLocationParams struct {
		WithBody
		Guarded
		LocationPath
	}
	locationsParams struct {
		PageParams
		Status string          `query:"status" enum:"active,inactive,all" default:"active" doc:"Which to list; inactive ones were deleted"`
		Tag    string          `query:"tag" doc:"Only those that have this tag"`
		Order  locations.Order `query:"order" enum:"created,code,name" doc:"The order, which needs an index of its own; without one the order means nothing"`
		Prefix string          `query:"prefix" doc:"Only codes or names that begin so, in any case; needs the order code or name"`
	}
	nearParams struct {
		Lat    string  `query:"lat" doc:"Degrees north; needed without a box" example:"-36.8485"`
		Lng    string  `query:"lng" doc:"Degrees east; needed without a box" example:"174.7633"`
		Radius float64 `query:"radius" exclusiveMinimum:"0" doc:"Metres; needed without a box" example:"5000"`
		South  string  `query:"south" doc:"With west, north and east: a box instead of a radius" example:"-48"`
		West   string  `query:"west" doc:"Greater than east where the box crosses the antimeridian" example:"166"`
		North  string  `query:"north" doc:"Degrees north" example:"-34"`
		East   string  `query:"east" doc:"Degrees east" example:"-176"`
		Tag    string  `query:"tag" doc:"Only those that have this tag"`
		Limit  int     `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"The greatest number of locations"`
	}
	repairParams struct {
		Mend bool `query:"repair" doc:"Whether to put right what is found"`
	}
)

// changedLocation is the answer to a change, with the ETag of what came of it.
type changedLocation struct {
	ETag string `header:"ETag" doc:"Changes whenever the location does"`
	Body location
}

func (a *API) changed(l locations.Location, err error) (*changedLocation, error) {
	if err != nil {
		return nil, err
	}
	body := a.locationOf(l)
	return &changedLocation{ETag: `"` + body.etag() + `"`, Body: body}, nil
}

// createdLocation is the answer to a request for a location.
type createdLocation struct {
	Status   int
	Location string `header:"Location"`
	ETag     string `header:"ETag" doc:"Changes whenever the location does"`
	Replayed string `header:"Idempotent-Replayed" doc:"true if an earlier, equal request created it"`
	Body     location
}

func (a *API) createLocation(
	ctx context.Context, _ *createLocationParams, body *newLocation,
) (*createdLocation, error) {
	var wrong problem.Fields
	n := locations.NewLocation{ID: locations.ID(body.ID), Code: body.Code, Reuse: body.Reuse}
	change := body.change(&wrong)
	if err := wrong.Err(locations.ErrInvalid); err != nil {
		return nil, err
	}
	n.Details = change.Details()
	l, made, err := a.deps.Locations.Create(ctx, n)
	if err != nil {
		return nil, err
	}
	out := a.locationOf(l)
	status, mark := repeated(!made)
	return &createdLocation{
		Status: status, Location: "/v1/locations/" + string(l.ID),
		ETag: `"` + out.etag() + `"`, Replayed: mark, Body: out,
	}, nil
}

func (a *API) location(ctx context.Context, in *locationParams) (*tagged[location], error) {
	l, err := a.deps.Locations.Location(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	body := a.locationOf(l)
	return newTagged(in.IfNoneMatch, body.etag(), body), nil
}

func (a *API) locationByCode(
	ctx context.Context, in *locationByCodeParams,
) (*tagged[location], error) {
	l, err := a.deps.Locations.ByCode(ctx, in.Code)
	if err != nil {
		return nil, err
	}
	body := a.locationOf(l)
	return newTagged(in.IfNoneMatch, body.etag(), body), nil
}

func (a *API) listLocations(
	ctx context.Context, in *locationsParams,
) (*answer[list[location]], error) {
	q := locations.ListQuery{
		Status: locations.Status(in.Status), Tag: in.Tag, Order: in.Order, Prefix: in.Prefix,
		Size: in.Limit, Cursor: in.Cursor,
	}
	if in.Status == "all" {
		q.Status = ""
	}
	page, err := a.deps.Locations.List(ctx, q)
	if err != nil {
		return nil, err
	}
	return convert(page, a.locationOf), nil
}

// directory is the whole list.
func (a *API) directory(ctx context.Context, in *Conditional) (*tagged[list[location]], error) {
	s, err := a.deps.Locations.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	items := All(s.Locations, a.locationOf)
	moments := sha256.New()
	for i := range items {
		io.WriteString(moments, items[i].moment()+"\n")
	}
	tag := s.Tag + "." + hex.EncodeToString(moments.Sum(nil)[:8])
	return newTagged(in.IfNoneMatch, tag, list[location]{
		Items: items, Unreadable: Unreadable(s.Unreadable)}), nil
}

func (a *API) updateLocation(
	ctx context.Context, in *changeLocationParams, body *locationChange,
) (*changedLocation, error) {
	var wrong problem.Fields
	change := body.change(&wrong)
	if err := wrong.Err(locations.ErrInvalid); err != nil {
		return nil, err
	}
	change.Code, change.Clear = body.Code, body.Clear
	for i, name := range change.Clear {
		if name == "lat" || name == "lng" {
			change.Clear[i] = "point"
		}
	}
	return a.changed(a.deps.Locations.Update(ctx, in.ID, in.locationTag(), change))
}

func (a *API) deleteLocation(
	ctx context.Context, in *guardedLocationParams,
) (*changedLocation, error) {
	return a.changed(a.deps.Locations.Delete(ctx, in.ID, in.locationTag()))
}

func (a *API) restoreLocation(
	ctx context.Context, in *changeLocationParams, body *restoreLocation,
) (*changedLocation, error) {
	return a.changed(a.deps.Locations.Restore(ctx, in.ID, in.locationTag(), body.Code))
}

func (a *API) releaseLocation(
	ctx context.Context, in *guardedLocationParams,
) (*changedLocation, error) {
	return a.changed(a.deps.Locations.Release(ctx, in.ID, in.locationTag()))
}

func (a *API) swapLocations(
	ctx context.Context, in *swapLocationParams, body *swapLocation,
) (*answer[list[location]], error) {
	first, second, err := a.deps.Locations.Swap(ctx, in.ID, locations.ID(body.With),
		in.locationTag())
	if err != nil {
		return nil, err
	}
	return &answer[list[location]]{Body: list[location]{
		Items: []location{a.locationOf(first), a.locationOf(second)},
	}}, nil
}
