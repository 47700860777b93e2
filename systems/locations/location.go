package locations

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/problem"
)

// Status reports whether a location is in use.
type Status string

// The life of a location. It is never removed: its code stays reserved, and it can be restored.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// Bounds of the texts of a location, in bytes unless noted. Together they stay
// far below the 400 KB of an item, and 100 locations fit one answer.
const (
	nameMax       = 200
	lineMax       = 200
	linesMax      = 6 // lines
	placeIDMax    = 512
	addressMax    = 500
	phoneMax      = 16 // E.164: a plus sign and 15 digits
	zoneMax       = 64
	tagMax        = 50
	tagsMax       = 20 // tags
	componentsMax = 30 // components
	componentMax  = 300
)

// placeStaleAfter is from when a place id should be looked up again: Google's own advice is twelve
// months.
const placeStaleAfter = 365 * 24 * time.Hour

// Place is data of Google's Places, kept apart from that of the directory's owner. Its id
// may be kept permanently; CheckedAt is when it was last looked up.
type Place struct {
	ID        string
	CheckedAt time.Time
	// FormattedAddress and Components are the address as fetched, for those whose terms allow
	// keeping it.
	FormattedAddress string
	Components       map[string]any
}

// Stale reports whether the place id should be looked up again.
func (p Place) Stale(now time.Time) bool {
	return p.ID != "" && now.Sub(p.CheckedAt) > placeStaleAfter
}

// Address is the location's address in the owner's own words. All of it is text, none of it is
// required: countries differ in what an address has.
type Address struct {
	Lines    []string `dynamodbav:"lines"`
	Locality string   `dynamodbav:"locality,omitempty"`
	Region   string   `dynamodbav:"region,omitempty"`
	Postcode string   `dynamodbav:"postcode,omitempty"`
	// Country is a code of ISO 3166 of two letters.
	Country string `dynamodbav:"country,omitempty"`
}

// Details are the members of a location other than its code.
type Details struct {
	Name    string
	Place   Place
	Address *Address
	// Point is where it is; nil when that is not known.
	Point *Point
	// Phone is a number in the form of E.164: +6491234567.
	Phone string
	// TimeZone is a name of the IANA database: Pacific/Auckland. Hours are read by its clock.
	TimeZone string
	Hours    *Hours
	// Tags are words to find the location by, sorted.
	Tags []string
}

// Location is a place with a code that people know it by.
type Location struct {
	ID ID
	// Code is unique, regardless of its case. It is empty once it was released.
	Code string
	// FormerCode is the code that was released.
	FormerCode string
	Status     Status
	Details
	// Version counts the changes that this package made; it is zero for a location that another
	// program made and this package has not changed.
	Version              uint64
	CreatedAt, UpdatedAt time.Time

	// Also stored, and compared by conditions.
	created, updated, area, cell string
}

// Tag names this state of the location. It changes whenever the location does, also when another
// program changes it by the rules of the design, which know no version.
func (l Location) Tag() string {
	if l.UpdatedAt.IsZero() { // Another program wrote none.
		return fmt.Sprintf("%d-0", l.Version)
	}
	return fmt.Sprintf("%d-%d", l.Version, l.UpdatedAt.UnixMilli())
}

// clean brings details into the form that is stored.
func (d Details) clean() Details {
	d.Name = strings.TrimSpace(d.Name)
	d.Phone = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(d.Phone)
	d.Tags = slices.Clone(d.Tags)
	slices.Sort(d.Tags)
	if d.Tags = slices.Compact(d.Tags); len(d.Tags) == 0 {
		d.Tags = nil
	}
	if d.Place.ID == "" {
		d.Place.CheckedAt = time.Time{}
	}
	d.Place.CheckedAt = instant(d.Place.CheckedAt)
	if len(d.Place.Components) == 0 {
		d.Place.Components = nil
	}
	if d.Point != nil {
		p := d.Point.rounded()
		d.Point = &p
	}
	if d.Address != nil {
		a := *d.Address
		a.Country = strings.ToUpper(a.Country)
		if len(a.Lines) == 0 {
			a.Lines = []string{}
		}
		d.Address = &a
		if len(a.Lines) == 0 && a.Locality+a.Region+a.Postcode+a.Country == "" {
			d.Address = nil
		}
	}
	return d
}

// check reports every field that is not as it should be.
func (d Details) check(wrong *problem.Fields) {
	lines := func(field, value string, limit int) {
		switch {
		case len(value) > limit:
			wrong.Addf(field, "must have at most %d bytes", limit)
		case !utf8.ValidString(value):
			wrong.Add(field, "must be UTF-8")
		case strings.ContainsAny(value, "\x00\r"):
			wrong.Add(field, "must not have control characters")
		}
	}
	text := func(field, value string, limit int) { // Of one line.
		if strings.ContainsFunc(value, unicode.IsControl) {
			wrong.Add(field, "must not have control characters")
			return
		}
		lines(field, value, limit)
	}
	if d.Name == "" {
		wrong.Add("name", "is missing")
	}
	text("name", d.Name, nameMax)
	text("placeId", d.Place.ID, placeIDMax)
	lines("formattedAddress", d.Place.FormattedAddress, addressMax)
	if len(d.Place.Components) > componentsMax {
		wrong.Addf("addressComponents", "must have at most %d members", componentsMax)
	}
	for name, value := range d.Place.Components {
		lines("addressComponents", name+fmt.Sprint(value), componentMax)
	}
	if a := d.Address; a != nil {
		if len(a.Lines) > linesMax {
			wrong.Addf("address.lines", "must be at most %d", linesMax)
		}
		for i, line := range a.Lines {
			text(fmt.Sprintf("address.lines[%d]", i), line, lineMax)
		}
		text("address.locality", a.Locality, lineMax)
		text("address.region", a.Region, lineMax)
		text("address.postcode", a.Postcode, lineMax)
		if a.Country != "" && !twoLetters(a.Country) {
			wrong.Add("address.country", "must be a code of two letters, such as NZ")
		}
	}
	if d.Point != nil {
		d.Point.check(wrong)
	}
	if d.Phone != "" && !e164(d.Phone) {
		wrong.Add("phone", "must begin with + and the country, and have 7 to 15 digits")
	}
	d.checkClock(wrong)
	if len(d.Tags) > tagsMax {
		wrong.Addf("tags", "must be at most %d", tagsMax)
	}
	for i, tag := range d.Tags {
		if field := fmt.Sprintf("tags[%d]", i); tag == "" {
			wrong.Add(field, "is empty")
		} else {
			text(field, tag, tagMax)
		}
	}
}

// checkClock checks the time zone and the hours, which mean nothing without one.
func (d Details) checkClock(wrong *problem.Fields) {
	if d.TimeZone != "" {
		_, err := time.LoadLocation(d.TimeZone)
		if err != nil || d.TimeZone == "Local" || len(d.TimeZone) > zoneMax {
			wrong.Add("timeZone", "must be a name such as Pacific/Auckland")
		}
	}
	if d.Hours != nil {
		if d.TimeZone == "" {
			wrong.Add("timeZone", "is needed, since hours are by the location's own clock")
		}
		d.Hours.check(wrong)
	}
}

func twoLetters(text string) bool {
	return len(text) == 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z'
}

// e164 reports whether a text is an international number.
func e164(text string) bool {
	digits, ok := strings.CutPrefix(text, "+")
	return ok && len(text) <= phoneMax && len(digits) >= 7 && digits[0] != '0' &&
		strings.Trim(digits, "0123456789") == ""
}

// difference names the first of the details that differs, or returns "".
func (d Details) difference(o Details) string {
	for _, f := range detailFields {
		if !f.same(&d, &o) {
			return f.name
		}
	}
	return ""
}

// detailField is one of the details, to compare and to show.
type detailField struct {
	name string
	get  func(*Details) any
}

func (f detailField) same(a, b *Details) bool { return reflect.DeepEqual(f.get(a), f.get(b)) }

// detailFields lists the details by the names that the API gives them.
var detailFields = []detailField{
	{"name", func(d *Details) any { return d.Name }},
	{"placeId", func(d *Details) any { return d.Place.ID }},
	{"placeIdCheckedAt", func(d *Details) any { return d.Place.CheckedAt }},
	{"formattedAddress", func(d *Details) any { return d.Place.FormattedAddress }},
	{"addressComponents", func(d *Details) any { return d.Place.Components }},
	{"address", func(d *Details) any { return d.Address }},
	{"point", func(d *Details) any { return d.Point }},
	{"phone", func(d *Details) any { return d.Phone }},
	{"timeZone", func(d *Details) any { return d.TimeZone }},
	{"hours", func(d *Details) any { return d.Hours }},
	{"tags", func(d *Details) any { return d.Tags }},
}

// Change is what to change of a location; what is nil stays as it is.
type Change struct {
	Code             *string
	Name             *string
	PlaceID          *string
	PlaceIDCheckedAt *time.Time
	FormattedAddress *string
	Components       map[string]any
	Address          *Address
	Point            *Point
	Phone            *string
	TimeZone         *string
	Hours            *Hours
	Tags             []string
	// Clear names what shall be empty, by the names of the API: placeId, formattedAddress,
	// addressComponents, address, point, phone, timeZone, hours, tags.
	Clear []string
}

// clearable are the names that Change.Clear takes, with what they empty.
var clearable = map[string]func(*Details){
	"placeId":           func(d *Details) { d.Place.ID, d.Place.CheckedAt = "", time.Time{} },
	"formattedAddress":  func(d *Details) { d.Place.FormattedAddress = "" },
	"addressComponents": func(d *Details) { d.Place.Components = nil },
	"address":           func(d *Details) { d.Address = nil },
	"point":             func(d *Details) { d.Point = nil },
	"phone":             func(d *Details) { d.Phone = "" },
	"timeZone":          func(d *Details) { d.TimeZone = "" },
	"hours":             func(d *Details) { d.Hours = nil },
	"tags":              func(d *Details) { d.Tags = nil },
}

// apply returns a location with the changes made, or what is wrong with them.
func (c Change) apply(l Location, now time.Time) (Location, error) {
	var wrong problem.Fields
	for _, name := range c.Clear {
		empty, ok := clearable[name]
		if !ok {
			wrong.Addf("clear", "must not name %q", name)
			continue
		}
		empty(&l.Details)
	}
	if c.PlaceID != nil && *c.PlaceID != l.Place.ID {
		l.Place.ID, l.Place.CheckedAt = *c.PlaceID, now
	}
	set(&l.Name, c.Name)
	set(&l.Place.CheckedAt, c.PlaceIDCheckedAt)
	set(&l.Place.FormattedAddress, c.FormattedAddress)
	set(&l.Phone, c.Phone)
	set(&l.TimeZone, c.TimeZone)
	if c.Components != nil {
		l.Place.Components = c.Components
	}
	l.Address = cmp.Or(c.Address, l.Address)
	l.Point = cmp.Or(c.Point, l.Point)
	l.Hours = cmp.Or(c.Hours, l.Hours)
	if c.Tags != nil {
		l.Tags = c.Tags
	}
	l.Details = l.Details.clean()
	l.Details.check(&wrong)
	err := wrong.Err(ErrInvalid)
	if c.Code != nil {
		shown, _, bad := Code(*c.Code)
		if err = Problems.First(err, bad); err == nil {
			l.Code = shown
		}
	}
	return l, err
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// instant cuts a time to what is stored.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// Details returns what the change makes of nothing, for a new location.
func (c Change) Details() Details {
	var l Location
	l.Point, l.Address, l.Hours, l.Tags = c.Point, c.Address, c.Hours, c.Tags
	set(&l.Name, c.Name)
	set(&l.Place.ID, c.PlaceID)
	set(&l.Place.CheckedAt, c.PlaceIDCheckedAt)
	set(&l.Place.FormattedAddress, c.FormattedAddress)
	l.Place.Components = c.Components
	set(&l.Phone, c.Phone)
	set(&l.TimeZone, c.TimeZone)
	return l.Details
}
