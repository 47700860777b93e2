package locations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/when"
)

// Bounds of an import.
const (
	// RowsMax is how many rows one call takes: a batch that is answered within seconds.
	RowsMax = 500
	// importers is how many rows are written at once.
	importers = 16
	// paddedMax is up to how many digits a number is looked for with zeros before it.
	paddedMax = 8
)

// Mode is what rows may do.
type Mode string

// The modes.
const (
	Upsert     Mode = "upsert" // create what is new, change what is known
	CreateOnly Mode = "create"
	UpdateOnly Mode = "update"
)

// Action is what comes of a row.
type Action string

// The actions.
const (
	RowCreate Action = "create"
	RowChange Action = "change"
	RowSame   Action = "same"
	RowError  Action = "error"
)

// FieldChange is one field of a location before and after.
type FieldChange struct {
	Field, From, To string
}

// Outcome is the result of a row or, in a preview, what it would be.
type Outcome struct {
	Line       int
	Code       string
	Action     Action
	LocationID ID
	// Changes are the fields that differ, of a change.
	Changes []FieldChange
	// Warnings are what looks wrong and is done all the same.
	Warnings []string
	// Problem is the reason of an error.
	Problem error
}

// Import takes rows in: a row whose code no location has makes one, and one whose code is known
// changes that location. A blank cell leaves things as they are; Clear empties. Good rows are saved
// and bad ones reported, each for itself. A repeat changes nothing, so an import that was broken
// off goes on where it is begun again. With preview nothing is written.
func (d *Directory) Import(
	ctx context.Context, rows []Row, mode Mode, preview bool,
) ([]Outcome, error) {
	var wrong problem.Fields
	if len(rows) > RowsMax {
		wrong.Addf("rows", "must be at most %d", RowsMax)
	}
	if mode == "" {
		mode = Upsert
	}
	if mode != Upsert && mode != CreateOnly && mode != UpdateOnly {
		wrong.Add("mode", "must be upsert, create or update")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return nil, err
	}
	jobs := make([]job, len(rows))
	now := instant(d.opts.Now())
	for i := range rows {
		jobs[i] = newJob(rows[i])
	}
	(&Sheet{Rows: slices.Clone(rows)}).repeated(jobs)
	if err := d.findRows(ctx, jobs); err != nil {
		return nil, err
	}
	for i := range jobs {
		jobs[i].decide(mode, now)
	}
	if err := d.warnOfZeros(ctx, jobs); err != nil {
		return nil, err
	}
	if !preview {
		d.carryOut(ctx, jobs)
	}
	outcomes := make([]Outcome, len(jobs))
	for i := range jobs {
		outcomes[i] = jobs[i].Outcome
		// What stopped the whole import is no row's fault.
		if p := problem.From(outcomes[i].Problem); p != nil && p.Kind == problem.Internal {
			return nil, outcomes[i].Problem
		}
	}
	return outcomes, ctx.Err()
}

// job is a row on its way.
type job struct {
	Outcome
	key    string
	row    Row
	change Change
	blank  bool // it has a place for coordinates and none there
	found  *Location
	after  Location
}

func (j *job) fail(err error) {
	if j.Problem == nil {
		j.Action, j.Problem = RowError, err
	}
}

// repeated marks the rows of one call that have the same code.
func (s *Sheet) repeated(jobs []job) {
	s.markRepeated()
	for i := range jobs {
		if s.Rows[i].Problem != nil {
			jobs[i].fail(s.Rows[i].Problem)
		}
	}
}

func newJob(row Row) job {
	j := job{row: row, Outcome: Outcome{Line: row.Line, Code: row.Cells["code"]}}
	shown, key, err := Code(j.Code)
	if err != nil {
		j.fail(err)
		return j
	}
	j.Code, j.key = shown, key
	var wrong problem.Fields
	j.change, j.blank = changeOf(row.Cells, &wrong)
	if err := wrong.Err(ErrInvalid); err != nil {
		j.fail(err)
	}
	return j
}

// changeOf reads the cells of a row.
func changeOf(cells map[string]string, wrong *problem.Fields) (c Change, blank bool) {
	empty := func(name string) bool {
		if !strings.EqualFold(cells[name], Clear) {
			return false
		}
		c.Clear = append(c.Clear, name)
		return true
	}
	text := func(name string, to **string) {
		if v := cells[name]; v != "" && !empty(name) {
			*to = &v
		}
	}
	for name := range cells {
		if columnOf(name) != name {
			wrong.Add(name, "is no column")
		}
	}
	text("placeId", &c.PlaceID)
	text("formattedAddress", &c.FormattedAddress)
	text("phone", &c.Phone)
	text("timeZone", &c.TimeZone)
	if v := cells["name"]; strings.EqualFold(v, Clear) {
		wrong.Add("name", "cannot be emptied")
	} else if v != "" {
		c.Name = &v
	}
	if v := cells["tags"]; v != "" && !empty("tags") {
		c.Tags = tagsOf(v)
	}
	if v := cells["placeIdCheckedAt"]; v != "" {
		at := readChecked(wrong, v)
		c.PlaceIDCheckedAt = &at
	}
	return c, c.point(cells, wrong)
}

// point reads the coordinates, from two cells or one. It reports whether there is a place for them
// with nothing in it.
func (c *Change) point(cells map[string]string, wrong *problem.Fields) (blank bool) {
	lat, lng, pair := cells["lat"], cells["lng"], cells["point"]
	_, hasLat := cells["lat"]
	_, hasPair := cells["point"]
	var p Point
	var err error
	switch {
	case lat+lng+pair == "":
		return hasLat || hasPair
	case pair != "" && lat+lng != "":
		wrong.Add("point", "must be blank where lat and lng are not")
		return false
	case strings.EqualFold(cmp.Or(pair, lat), Clear) && (pair != "" || lng == "" ||
		strings.EqualFold(lng, Clear)):
		c.Clear = append(c.Clear, "point")
		return false
	case pair != "":
		p, err = ParsePair(pair)
	case lat != "" && lng == "":
		// People paste both into one cell. But 53,51 is 53.51 with a decimal comma.
		_, alone := parseAngle(lat)
		if p, err = ParsePair(lat); err != nil || alone == nil {
			err = errors.New("the longitude is missing")
		}
	case lat == "":
		err = errors.New("the latitude is missing")
	default:
		p, err = ParsePoint(lat, lng)
	}
	if err != nil {
		wrong.Add("point", err.Error())
		return false
	}
	c.Point = &p
	return false
}

// findRows finds the locations that have the codes of rows, in batches.
func (d *Directory) findRows(ctx context.Context, jobs []job) error {
	var at []int
	var keys []lookupItem
	for i := range jobs {
		if jobs[i].key != "" {
			at, keys = append(at, i), append(keys, lookupItem{Key: jobs[i].key})
		}
	}
	if err := d.settleShards(ctx); err != nil {
		return err
	}
	lookups, err := modelOf(d).lookups.GetMany(ctx, d.store, keys, singletable.Consistent())
	if err != nil {
		return failed("find", "codes", err)
	}
	var owners []int
	var ids []locationItem
	for n, lookup := range lookups {
		if lookup == nil {
			continue
		}
		id, err := ParseID(string(lookup.ID))
		if err != nil {
			j := &jobs[at[n]]
			j.fail(ErrUnsettled.With("code", j.Code).With("location", lookup.ID))
			continue
		}
		owners, ids = append(owners, at[n]), append(ids, locationItem{ID: id})
	}
	items, err := modelOf(d).locations.GetMany(ctx, d.store, ids, singletable.Consistent())
	if err != nil {
		return failed("find", "locations", err)
	}
	for n, item := range items {
		j := &jobs[owners[n]]
		if item == nil || keyOf(item.Code) != j.key {
			j.fail(ErrUnsettled.With("code", j.Code).With("location", ids[n].ID))
			continue
		}
		l := locationOf(*item)
		j.found, j.LocationID = &l, l.ID
	}
	return nil
}

// decide works out what comes of the row.
func (j *job) decide(mode Mode, now time.Time) {
	if j.Problem != nil {
		return
	}
	before := Location{Status: Active, CreatedAt: now}
	switch {
	case j.found == nil && mode == UpdateOnly:
		j.fail(ErrCodeNotFound.With("code", j.Code))
		return
	case j.found != nil && j.found.Status == Inactive:
		j.fail(ErrCodeReserved.With("code", j.Code).With("location", j.found.ID).
			With("name", j.found.Name))
		return
	case j.found != nil && mode == CreateOnly:
		j.fail(ErrCodeTaken.With("code", j.Code).With("location", j.found.ID).
			With("name", j.found.Name))
		return
	case j.found != nil:
		before = *j.found
	}
	j.address(before.Address)
	j.change.Code = &j.Code
	after, err := j.change.apply(before, now)
	if err != nil {
		j.fail(err)
		return
	}
	j.after = after
	if after.Address != nil {
		if say := misplaced(after.Point, after.Address.Country); say != "" {
			j.Warnings = append(j.Warnings, "the point "+say)
		}
	}
	if j.blank && after.Point == nil {
		j.Warnings = append(j.Warnings, "there are no coordinates")
	}
	j.Action = RowCreate
	if j.found != nil {
		j.Changes = before.changes(&after)
		if j.Action = RowChange; len(j.Changes) == 0 {
			j.Action = RowSame
		}
	}
}

// address puts the parts of an address that the row has into the one that there is.
func (j *job) address(before *Address) {
	var a Address
	if before != nil {
		a = *before
	}
	touched := false
	part := func(name string, to *string) {
		switch v := j.row.Cells[name]; {
		case strings.EqualFold(v, Clear):
			*to, touched = "", true
		case v != "":
			*to, touched = v, true
		}
	}
	lines := strings.Join(a.Lines, "\n")
	part("address", &lines)
	part("locality", &a.Locality)
	part("region", &a.Region)
	part("postcode", &a.Postcode)
	part("country", &a.Country)
	if !touched {
		return
	}
	a.Lines = nil
	for line := range strings.SplitSeq(strings.ReplaceAll(lines, "\r\n", "\n"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			a.Lines = append(a.Lines, line)
		}
	}
	j.change.Address = &a
}

// changes lists the fields in which a location will differ, as texts.
func (l *Location) changes(o *Location) (changes []FieldChange) {
	if l.Code != o.Code {
		changes = append(changes, FieldChange{"code", l.Code, o.Code})
	}
	for _, f := range detailFields {
		if !f.same(&l.Details, &o.Details) {
			changes = append(changes, FieldChange{f.name, f.text(&l.Details), f.text(&o.Details)})
		}
	}
	return changes
}

// text shows a field to people.
func (f detailField) text(d *Details) string {
	switch v := f.get(d).(type) {
	case string:
		return v
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return stamp(v)
	case *Point:
		if v == nil {
			return ""
		}
		return v.String()
	case *Address:
		if v == nil {
			return ""
		}
		parts := append(v.Lines[:len(v.Lines):len(v.Lines)], v.Locality, v.Region, v.Postcode,
			v.Country)
		return strings.Join(strings.FieldsFunc(strings.Join(parts, "\n"),
			func(r rune) bool { return r == '\n' }), ", ")
	case []string:
		return strings.Join(v, "; ")
	default:
		return fmt.Sprint(v)
	}
}

// warnOfZeros warns of new codes that are numbers and differ from a known one by zeros before them
// alone: spreadsheets lose those.
func (d *Directory) warnOfZeros(ctx context.Context, jobs []job) error {
	var at []int
	var keys []lookupItem
	for i := range jobs {
		j := &jobs[i]
		if j.Action != RowCreate || strings.Trim(j.key, "0123456789") != "" {
			continue
		}
		bare := strings.TrimLeft(j.key, "0")
		for n := len(bare); n <= paddedMax; n++ {
			if key := strings.Repeat("0", n-len(bare)) + bare; key != j.key && key != "" {
				at, keys = append(at, i), append(keys, lookupItem{Key: key})
			}
		}
	}
	found, err := modelOf(d).lookups.GetMany(ctx, d.store, keys)
	if err != nil {
		return failed("find", "codes", err)
	}
	for n, lookup := range found {
		if lookup != nil {
			j := &jobs[at[n]]
			j.Warnings = append(j.Warnings, fmt.Sprintf(
				"the code differs from %s by zeros before it alone",
				cmp.Or(lookup.Code, lookup.Key)))
		}
	}
	return nil
}

// carryOut writes what was decided, several rows at a time.
func (d *Directory) carryOut(ctx context.Context, jobs []job) {
	work := make(chan *job)
	var wg sync.WaitGroup
	for range min(importers, len(jobs)) {
		wg.Go(func() {
			for j := range work {
				if err := d.carry(ctx, j); err != nil {
					j.fail(err)
				}
			}
		})
	}
	for i := range jobs {
		if a := jobs[i].Action; a == RowCreate || a == RowChange {
			work <- &jobs[i]
		}
	}
	close(work)
	wg.Wait()
}

func (d *Directory) carry(ctx context.Context, j *job) error {
	if j.Action == RowChange {
		_, err := d.Update(ctx, j.LocationID, j.found.Tag(), j.change)
		return err
	}
	made, _, err := d.Create(ctx, NewLocation{Code: j.Code, Details: j.after.Details})
	j.LocationID = made.ID
	return err
}

// readChecked reads when the id of a place was checked: an instant in the form of RFC 3339, or a
// day, which is its midnight in UTC.
func readChecked(wrong *problem.Fields, text string) time.Time {
	at, err := when.Parse(text)
	if err == nil && at.Local() && len(text) > len(dateLayout) {
		err = errNoOffset
	}
	if err != nil {
		wrong.Addf("placeIdCheckedAt",
			"must be a day or an instant such as 2026-01-31T10:30:00Z: it %v", err)
	}
	return at.In(time.UTC)
}

var errNoOffset = errors.New("has no offset from UTC at its end, such as Z or +13:00")
