package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// The answers of what is done to the directory as a whole.
type (
	neighbours struct {
		Items      []location   `json:"items" nullable:"false" doc:"The locations, the nearest first"`
		More       bool         `json:"more" doc:"Whether there are more than the limit"`
		Unreadable []unreadable `json:"unreadable,omitempty" nullable:"false" doc:"The stored items that cannot be read, and that may be near; absent if all can"`
	}

	importOutcome struct {
		Line       int              `json:"line" example:"2"`
		Code       string           `json:"code" example:"akl-01"`
		Action     locations.Action `json:"action" enum:"create,change,same,error"`
		LocationID locations.ID     `json:"locationId,omitempty"`
		Changes    []fieldChange    `json:"changes,omitempty" nullable:"false" doc:"Field by field, of a change"`
		Warnings   []string         `json:"warnings,omitempty" nullable:"false" doc:"What looks wrong and is done all the same"`
		Problem    *problem.Error   `json:"problem,omitempty" doc:"Why, of an error"`
	}

	fieldChange struct {
		Field string `json:"field" example:"name"`
		From  string `json:"from"`
		To    string `json:"to"`
	}

	repairReport struct {
		Verdict   locations.Verdict `json:"verdict" enum:"sound,faulty,undecided" doc:"sound: everything was compared, and nothing is wrong any more. undecided: no fault is left, but not everything could be compared"`
		Locations int               `json:"locations"`
		Lookups   int               `json:"lookups" doc:"Lookup items of codes"`
		Faults    []repairFault     `json:"faults" nullable:"false"`
		Undecided []repairUndecided `json:"undecided" nullable:"false" doc:"The codes that could not be compared, because other writers changed them each time"`
		Mended    bool              `json:"mended" doc:"Whether the verdict is sound"`
	}

	repairUndecided struct {
		Code     string       `json:"code"`
		Location locations.ID `json:"location,omitempty"`
	}

	repairFault struct {
		Kind     locations.FaultKind `json:"kind" enum:"lookup_missing,lookup_foreign,lookup_wrong,lookup_stray,code_twice,index_wrong,key_misplaced,item_wrong,item_unreadable"`
		Code     string              `json:"code"`
		Location locations.ID        `json:"location" doc:"Has the code or, of a stray lookup item, is the one that the item names"`
		Other    locations.ID        `json:"other,omitempty" doc:"The location that the lookup item names"`
		Entry    string              `json:"entry,omitempty" doc:"The key of the item, of a fault of a single item" example:"LOCATION_CODE#akl-01 META"`
		Why      string              `json:"why,omitempty" doc:"What is wrong with the item"`
		Mended   bool                `json:"mended"`
	}

	reindexed struct {
		Locations int `json:"locations" doc:"How many were written anew"`
	}

	scanPlan struct {
		Locations   int      `json:"locations"`
		Lookups     int      `json:"lookups" doc:"Lookup items, which a scan reads too"`
		Calls       int      `json:"calls" doc:"Calls to the store that one whole scan took"`
		ReadUnits   float64  `json:"readUnits"`
		Bytes       int64    `json:"bytes" doc:"About how much of the table was read"`
		Micros      int64    `json:"micros" doc:"Microseconds that the scan took"`
		ScanIsRight bool     `json:"scanIsRight"`
		Advice      []string `json:"advice" nullable:"false"`
	}
)

func (a *API) registerLocations() {
	a.registerLocationReads()
	a.registerLocationWrites()
	a.registerLocationDuties()
}

// locationsTag is the chapter of the operations on locations.
const locationsTag = "Locations"

func (a *API) registerLocationReads() {
	const tag, scope = locationsTag, api.LocationsRead
	register(a.Router, operation{
		id: "list-locations", method: http.MethodGet, path: "/v1/locations", tag: tag,
		scope: scope, summary: "List locations",
		description: "Those in use, unless a status is given. Pages are filled up: the server goes on " +
			"reading until there are enough rows, up to twenty calls of the store.",
		problems: []*problem.Definition{
			locations.ErrInvalid, locations.ErrInvalidCursor, locations.ErrOrderMissing,
		},
	}, a.listLocations)
	register(a.Router, operation{
		id: "get-directory", method: http.MethodGet, path: "/v1/locations/directory", tag: tag,
		scope: scope, summary: "Get all locations in use at once",
		description: "By code, from a list that the server keeps. It is read anew after each write, " +
			"and once a minute for the writes of other servers. Send If-None-Match.",
		problems: []*problem.Definition{locations.ErrTooMany},
	}, a.directory)
	register(a.Router, operation{
		id: "find-locations-near", method: http.MethodGet, path: "/v1/locations/near", tag: tag,
		scope: scope, summary: "Find locations around a point or in a box",
		description: "By true distance, the nearest first. A box may cross the antimeridian: from " +
			"west 170 to east -170 are 20 degrees. A box needs no point; without one there are no " +
			"distances, and the nearest to its middle come first.",
		problems: []*problem.Definition{
			locations.ErrInvalid, locations.ErrAreaTooLarge, locations.ErrTooMany,
		},
	}, a.near)
	register(a.Router, operation{
		id: "get-location-by-code", method: http.MethodGet, path: "/v1/locations/by-code/{code}",
		tag: tag, scope: scope, summary: "Get a location by its code",
		description: "In two reads: of the code, and of the location that has it. A location that was " +
			"deleted is not found so, but by its id.",
		problems: []*problem.Definition{
			locations.ErrInvalidCode, locations.ErrCodeNotFound, locations.ErrDeleted,
			locations.ErrUnsettled,
		},
	}, a.locationByCode)
	register(a.Router, operation{
		id: "get-location", method: http.MethodGet, path: "/v1/locations/{id}", tag: tag,
		scope: scope, summary: "Get a location",
		description: "As of now, deleted ones too.",
		problems:    []*problem.Definition{locations.ErrNotFound},
	}, a.location)
	register(a.Router, operation{
		id: "plan-locations", method: http.MethodGet, path: "/v1/locations/plan", tag: tag,
		scope: scope, summary: "Tell whether listing by a scan is still right", stream: true,
		description: "Measures one scan of the table: it is right for fewer than 1,000 items, and while " +
			"it takes no longer than 100 ms.",
	}, a.planLocations)
}

func (a *API) registerLocationWrites() {
	const tag, scope = locationsTag, api.LocationsWrite
	taken := []*problem.Definition{
		locations.ErrInvalid, locations.ErrInvalidCode, locations.ErrCodeTaken,
		locations.ErrCodeReserved, locations.ErrUnsettled, locations.ErrContended,
	}
	change := append(taken[:len(taken):len(taken)], locations.ErrNotFound, locations.ErrChanged)
	name, lat, lng := "Auckland Central", -36.8485, 174.7633
	fields := LocationFields{Name: &name, Lat: &lat, Lng: &lng}
	registerBody(a.Router, operation{
		id: "create-location", method: http.MethodPost, path: "/v1/locations", tag: tag,
		scope: scope, status: http.StatusCreated, repeats: true, summary: "Create a location",
		description: "A code that is not free is refused with what stands in the way: the location " +
			"that has it, or the deleted one that reserves it. A repeat with the same id and contents gets the " +
			"location with status 200 and Idempotent-Replayed: true; with other contents it is a " +
			"conflict that names the member.",
		example: newLocation{Code: "akl-01", LocationFields: fields},
		problems: append(taken[:len(taken):len(taken)], locations.ErrExists,
			locations.ErrCodeYours),
	}, a.createLocation)
	registerBody(a.Router, operation{
		id: "update-location", method: http.MethodPatch, path: "/v1/locations/{id}", tag: tag,
		scope: scope, summary: "Change a location",
		description: "What is left out stays as it is. A change of a code's case alone takes nothing " +
			"from anybody.",
		example:  locationChange{LocationFields: fields},
		problems: append(change[:len(change):len(change)], locations.ErrInactive),
	}, a.updateLocation)
	register(a.Router, operation{
		id: "delete-location", method: http.MethodDelete, path: "/v1/locations/{id}", tag: tag,
		scope: scope, summary: "Put a location out of use",
		description: "It can be restored, and its code stays reserved. Deleting it again changes nothing.",
		problems: []*problem.Definition{
			locations.ErrNotFound, locations.ErrChanged, locations.ErrContended,
		},
	}, a.deleteLocation)
	registerBody(a.Router, operation{
		id: "restore-location", method: http.MethodPost, path: "/v1/locations/{id}/restore",
		tag: tag, scope: scope, summary: "Put a deleted location into use again",
		description: "With its own code or another. One whose code was released gets it back if it is " +
			"free.",
		example: restoreLocation{},
		problems: append(change[:len(change):len(change)],
			locations.ErrNoCode, locations.ErrActive),
	}, a.restoreLocation)
	register(a.Router, operation{
		id: "release-location-code", method: http.MethodPost, path: "/v1/locations/{id}/release",
		tag: tag, scope: api.LocationsAdmin,
		summary:     "Give up the code that a deleted location reserves",
		description: "So that others can take it. The location remembers it as formerCode.",
		problems: []*problem.Definition{
			locations.ErrNotFound, locations.ErrChanged, locations.ErrActive, locations.ErrNoCode,
			locations.ErrUnsettled, locations.ErrContended,
		},
	}, a.releaseLocation)
	registerBody(a.Router, operation{
		id: "swap-locations", method: http.MethodPost, path: "/v1/locations/{id}/swap", tag: tag,
		scope: scope, summary: "Exchange the codes of two locations",
		description: "In one write, so that neither is free at any time.",
		example:     swapLocation{With: "01BX5ZZKBKACTAV9WEVGEMMVRZ"},
		problems: []*problem.Definition{
			locations.ErrInvalid, locations.ErrNotFound, locations.ErrInactive,
			locations.ErrNoCode, locations.ErrContended,
		},
	}, a.swapLocations)
}

func (a *API) registerLocationDuties() {
	const tag = locationsTag
	registerBody(a.Router, operation{
		id: "import-locations", method: http.MethodPost, path: "/v1/locations/import", tag: tag,
		scope: api.LocationsWrite, summary: "Take in rows of a sheet",
		description: "A row whose code nobody has makes a location, and one whose code is known changes " +
			"that location. Good rows are saved and bad ones reported, each for itself; a repeat " +
			"changes nothing.",
		example: importLocations{Preview: true, Rows: []importRow{{
			Line: 2, Cells: map[string]string{
				"code": "akl-01", "name": "Auckland Central", "point": "36°50′54″S 174°45′48″E",
			},
		}}},
		problems: []*problem.Definition{locations.ErrInvalid, locations.ErrContended},
	}, a.importLocations)
	register(a.Router, operation{
		id: "repair-locations", method: http.MethodPost, path: "/v1/locations/repair", tag: tag,
		scope: api.LocationsAdmin, stream: true,
		summary: "Check locations and lookup items against each other",
		description: "Both ways, while others write. No write of this server leaves a difference; " +
			"another program can. An item that cannot be read is a fault. What changes each time " +
			"that it is looked at makes the verdict undecided, never sound.",
		problems: []*problem.Definition{locations.ErrContended},
	}, a.repairLocations)
	register(a.Router, operation{
		id: "reindex-locations", method: http.MethodPost, path: "/v1/locations/reindex", tag: tag,
		scope: api.LocationsAdmin, summary: "Write the index keys of all locations anew",
		description: "After an index was added to a table in use.", stream: true,
		problems: []*problem.Definition{locations.ErrContended},
	}, a.reindexLocations)
}

func (a *API) near(ctx context.Context, in *nearParams) (*answer[neighbours], error) {
	q, pointless, err := in.query()
	if err != nil {
		return nil, err
	}
	found, err := a.deps.Locations.Near(ctx, q)
	if err != nil {
		return nil, err
	}
	return &answer[neighbours]{Body: neighbours{
		Items: All(found.Items, func(n locations.Neighbour) location {
			l := a.locationOf(n.Location)
			if !pointless {
				l.Distance = &n.Distance
			}
			return l
		}),
		More: found.More, Unreadable: Unreadable(found.Unreadable),
	}}, nil
}

// query reads a point with a radius, or the four sides of a box with a point or without one. A box
// without one is pointless: what is near its middle comes first, and has no distance.
func (in *nearParams) query() (q locations.NearQuery, pointless bool, err error) {
	q = locations.NearQuery{Radius: in.Radius, Tag: in.Tag, Limit: in.Limit}
	var wrong problem.Fields
	number := func(name, text, why string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			wrong.Add(name, "must be degrees; "+why)
		}
		return v
	}
	boxed := in.South+in.West+in.North+in.East != ""
	pointless = boxed && in.Lat+in.Lng == ""
	if !pointless {
		const why = "a point has lat and lng"
		q.Point = locations.Point{
			Lat: number("lat", in.Lat, why), Lng: number("lng", in.Lng, why),
		}
	}
	if boxed {
		const why = "a box has south, west, north and east"
		q.Box = &locations.Box{
			South: number("south", in.South, why), West: number("west", in.West, why),
			North: number("north", in.North, why), East: number("east", in.East, why),
		}
	} else if in.Radius <= 0 {
		wrong.Add("radius", "must be more than zero, unless there is a box")
	}
	if pointless {
		q.Point = q.Box.Middle()
	}
	return q, pointless, wrong.Err(problem.ErrRequestInvalid)
}

func (a *API) importLocations(
	ctx context.Context, _ *createLocationParams, body *importLocations,
) (*answer[list[importOutcome]], error) {
	rows := All(body.Rows, func(r importRow) locations.Row {
		return locations.Row{Line: r.Line, Cells: r.Cells}
	})
	outcomes, err := a.deps.Locations.Import(ctx, rows, body.Mode, body.Preview)
	if err != nil {
		return nil, err
	}
	return &answer[list[importOutcome]]{Body: list[importOutcome]{
		Items: All(outcomes, func(o locations.Outcome) importOutcome {
			out := importOutcome{
				Line: o.Line, Code: o.Code, Action: o.Action, LocationID: o.LocationID,
				Warnings: o.Warnings,
			}
			for _, c := range o.Changes {
				out.Changes = append(out.Changes, fieldChange(c))
			}
			if o.Problem != nil {
				out.Problem = problemOf(o.Problem)
			}
			return out
		}),
	}}, nil
}

func (a *API) repairLocations(
	ctx context.Context, in *repairParams,
) (*answer[repairReport], error) {
	r, err := a.deps.Locations.Repair(ctx, in.Mend)
	if err != nil {
		return nil, err
	}
	return &answer[repairReport]{Body: repairReport{
		Verdict: r.Verdict(), Locations: r.Locations, Lookups: r.Lookups, Mended: r.Mended(),
		Faults: All(r.Faults, func(f locations.Fault) repairFault { return repairFault(f) }),
		Undecided: All(r.Undecided, func(u locations.Undecided) repairUndecided {
			return repairUndecided(u)
		}),
	}}, nil
}

func (a *API) reindexLocations(ctx context.Context, _ *struct{}) (*answer[reindexed], error) {
	n, err := a.deps.Locations.Reindex(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[reindexed]{Body: reindexed{n}}, nil
}

func (a *API) planLocations(ctx context.Context, _ *struct{}) (*answer[scanPlan], error) {
	p, err := a.deps.Locations.Plan(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[scanPlan]{Body: scanPlan{
		Locations: p.Locations, Lookups: p.Lookups, Calls: p.Calls, ReadUnits: p.ReadUnits,
		Bytes: p.Bytes, Micros: p.Took.Microseconds(), ScanIsRight: p.ScanIsRight,
		Advice: p.Advice,
	}}, nil
}
