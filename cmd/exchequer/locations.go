package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/when"
)

func locationColumns() []column[client.Location] {
	type place = client.Location
	return []column[place]{
		col("CODE", func(l place) string { return l.Code }),
		col("NAME", func(l place) string { return l.Name }).upTo(40),
		col("STATUS", func(l place) string { return string(l.Status) }),
		num("LAT", func(l place) string { return coordinate(l.Lat) }),
		num("LNG", func(l place) string { return coordinate(l.Lng) }),
		col("TAGS", func(l place) string { return strings.Join(l.Tags, "; ") }).upTo(30),
		col("ID", func(l place) string { return string(l.ID) }),
	}
}

func locationDetails() []column[client.Location] {
	type place = client.Location
	return []column[place]{
		col("ID", func(l place) string { return string(l.ID) }),
		col("CODE", func(l place) string { return l.Code }),
		col("FORMER CODE", func(l place) string { return l.FormerCode }),
		col("NAME", func(l place) string { return l.Name }),
		col("STATUS", func(l place) string { return string(l.Status) }),
		col("LAT", func(l place) string { return coordinate(l.Lat) }),
		col("LNG", func(l place) string { return coordinate(l.Lng) }),
		col("ADDRESS", func(l place) string { return addressText(l.Address) }),
		col("PHONE", func(l place) string { return l.Phone }),
		col("TIME ZONE", func(l place) string { return l.TimeZone }),
		col("OPEN", func(l place) string { return openText(l.Open) }),
		col("TAGS", func(l place) string { return strings.Join(l.Tags, "; ") }),
		col("PLACE ID", func(l place) string { return l.PlaceID }),
		col("PLACE CHECKED", func(l place) string {
			if l.PlaceIDStale {
				return instant(l.PlaceIDCheckedAt) + " (stale)"
			}
			return instant(l.PlaceIDCheckedAt)
		}),
		col("FORMATTED", func(l place) string { return l.FormattedAddress }),
		col("TAG", func(l place) string { return l.Tag }),
		col("CREATED", func(l place) string { return instant(l.CreatedAt) }),
		col("UPDATED", func(l place) string { return instant(l.UpdatedAt) }),
	}
}

func coordinate(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func addressText(a *client.LocationAddress) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, part := range append(a.Lines[:len(a.Lines):len(a.Lines)], a.Locality, a.Region,
		a.Postcode, a.Country) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

func openText(open *bool) string {
	switch {
	case open == nil:
		return ""
	case *open:
		return "now"
	}
	return "not now"
}

func (a *app) locationsCommand() *cobra.Command {
	command := group("locations", "Places with a code that people know them by",
		`Places with a code that people know them by.

A code is unique, whatever its case, and stays reserved when its location is deleted. Wherever a
command takes a LOCATION it takes its id or its code.`,
		a.locationsCreate(), a.locationsGet(), a.locationsList(), a.locationsNear(),
		a.locationsUpdate(), a.locationsDelete(), a.locationsRestore(), a.locationsRelease(),
		a.locationsSwap(), a.locationsImport(), a.locationsExport(), a.locationsRepair(),
		a.locationsPlan())
	command.GroupID = groupMoney
	return command
}

// The environment that shapes the directory.
const (
	envLocationsTable  = "EXCHEQUER_LOCATIONS_TABLE" // Or locations.TableNameEnv.
	envLocationIndexes = "EXCHEQUER_LOCATION_INDEXES"
	envLocationShards  = "EXCHEQUER_LOCATION_SHARDS"
)

// locationFlags are flags of serve that the environment has too.
func (a *app) locationFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&a.flags.locationIndexes, "location-indexes", nil,
		"`indexes` that tables create gives the locations' table: created, code, name, cell")
	f.IntVar(&a.flags.locationShards, "location-shards", 0,
		"`number` of shards of the locations' keys, stored with the first location (default none)")
}

// locationOptions returns the choices of the directory.
func (a *app) locationOptions() (o locations.Options, err error) {
	o.TableName = a.env(envLocationsTable)
	indexes := a.flags.locationIndexes
	if text := a.env(envLocationIndexes); text != "" && indexes == nil {
		indexes = strings.Split(text, ",")
	}
	for _, name := range indexes {
		switch strings.TrimSpace(name) {
		case "created":
			o.CreatedIndex = true
		case "code":
			o.CodeIndex = true
		case "name":
			o.NameIndex = true
		case "cell":
			o.CellIndex = true
		default:
			return o, usagef("created, code, name or cell", "There is no index %q of locations",
				name)
		}
	}
	o.Shards = a.flags.locationShards
	if text := a.env(envLocationShards); text != "" && o.Shards == 0 {
		if o.Shards, err = strconv.Atoi(text); err != nil {
			return o, usagef("Set it to a number", "%s is %q", envLocationShards, text)
		}
	}
	return o, nil
}

// locationID returns the id of what a person named by id or code, deleted ones too.
func locationID(ctx context.Context, c *client.Client, name string) (client.LocationID, error) {
	if id, err := locations.ParseID(name); err == nil {
		return client.LocationID(id), nil
	}
	l, err := c.LocationByCode(ctx, name)
	if errors.Is(err, locations.ErrDeleted) {
		return client.LocationID(problem.From(err).Details["location"]), nil
	}
	return l.ID, err
}

// placeFlags are the flags that say what a location is like.
type placeFlags struct {
	name, code, point, phone, zone, placeID, formatted string
	lines, tags                                        []string
	address                                            client.LocationAddress
	placeChecked                                       string
}

func (p *placeFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&p.name, "name", "", "`name` that people know it by")
	f.StringVar(&p.point, "point", "",
		"`coordinates`, such as \"-36.85, 174.76\" or \"36°51′S 174°46′E\"")
	f.StringVar(&p.phone, "phone", "", "`number` in the form +6491234567")
	f.StringVar(&p.zone, "zone", "", "time `zone`, such as Pacific/Auckland")
	f.StringArrayVar(&p.lines, "line", nil, "`line` of the address; may be repeated")
	f.StringVar(&p.address.Locality, "locality", "", "`town` of the address")
	f.StringVar(&p.address.Region, "address-region", "", "`region` of the address")
	f.StringVar(&p.address.Postcode, "postcode", "", "post`code` of the address")
	f.StringVar(&p.address.Country, "country", "", "`country` of the address, such as NZ")
	f.StringArrayVar(&p.tags, "tag", nil, "`word` to find it by; may be repeated")
	f.StringVar(&p.placeID, "place-id", "", "`id` that Google's Places knows it by")
	f.StringVar(&p.placeChecked, "place-checked", "",
		"`instant` at which the place id was looked up (default: now)")
	f.StringVar(&p.formatted, "formatted", "", "`address` as Google's Places writes it")
}

// fields returns what the flags say; what was not given is left out.
func (p *placeFlags) fields(command *cobra.Command) (out client.LocationFields, err error) {
	text := func(flag, value string) *string {
		if !command.Flags().Changed(flag) {
			return nil
		}
		return &value
	}
	out.Name, out.Phone = text("name", p.name), text("phone", p.phone)
	out.TimeZone, out.PlaceID = text("zone", p.zone), text("place-id", p.placeID)
	out.FormattedAddress = text("formatted", p.formatted)
	if p.point != "" {
		at, err := locations.ParsePair(p.point)
		if err != nil {
			return out, usagef(`--point "-36.85, 174.76"`, "The point cannot be read: %v", err)
		}
		out.Lat, out.Lng = &at.Lat, &at.Lng
	}
	if p.placeChecked != "" {
		at, err := when.Instant(p.placeChecked)
		if err != nil {
			return out, usagef("--place-checked 2026-01-31T10:30:00Z",
				"--place-checked %q is no instant: it %v", p.placeChecked, err)
		}
		out.PlaceIDCheckedAt = &at
	}
	for _, flag := range []string{
		"line", "locality", "address-region", "postcode", "country",
	} {
		if command.Flags().Changed(flag) {
			own := p.address
			own.Lines = p.lines
			out.Address = &own
		}
	}
	if command.Flags().Changed("tag") {
		out.Tags = p.tags
	}
	return out, nil
}

func (a *app) locationsCreate() *cobra.Command {
	var (
		p  placeFlags
		n  client.NewLocation
		id string
	)
	command := &cobra.Command{
		Use:   "create",
		Short: "Create a location",
		Long: `Create a location.

A code that is not free is refused with what stands in the way: the location that has it, or the
deleted one that reserves it. Given again with the same --id, the command shows the location that it
created the first time.`,
		Example: `  exchequer locations create --code akl-01 --name "Auckland Central" --point "-36.8485, 174.7633"
  exchequer locations create --code akl-02 --name Albany --tag depot --country NZ`,
		Args: cobra.NoArgs,
	}
	command.RunE = a.with(func(ctx context.Context, c *client.Client, _ []string) (err error) {
		if n.LocationFields, err = p.fields(command); err != nil {
			return err
		}
		n.ID = client.LocationID(id)
		made, err := c.CreateLocation(ctx, n)
		if err != nil {
			return err
		}
		return created(a, locationDetails(), made.Location, made.Replayed, "location")
	})
	p.add(command)
	f := command.Flags()
	f.StringVar(&n.Code, "code", "", "`code` that people call it by (required)")
	f.StringVar(&id, "id", "", "`id` to use, a ULID, which makes a repeat safe")
	f.BoolVar(&n.Reuse, "reuse", false, "take the code over where a deleted location reserves it")
	require(command, "code", "name")
	return command
}

func (a *app) locationsGet() *cobra.Command {
	return &cobra.Command{
		Use:     "get LOCATION",
		Short:   "Show a location",
		Example: "  exchequer locations get akl-01",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			l, err := c.LocationByCode(ctx, args[0])
			if id, bad := locations.ParseID(args[0]); bad == nil {
				l, err = c.Location(ctx, client.LocationID(id))
			}
			if err != nil {
				return err
			}
			return one(a, locationDetails(), l)
		}),
	}
}

func (a *app) locationsList() *cobra.Command {
	var (
		q client.LocationQuery
		p pages
	)
	command := &cobra.Command{
		Use:   "list",
		Short: "List locations",
		Long: `List the locations in use.

Without --order the list is a scan of the table, and its order means nothing. An order needs an index,
which EXCHEQUER_LOCATION_INDEXES names to the server, or to the command where it has none.`,
		Example: `  exchequer locations list
  exchequer locations list --status all --tag depot --all
  exchequer locations list --order code --prefix akl-`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			q.PageQuery = p.query()
			if p.all {
				return all(a, locationColumns(), c.AllLocations(ctx, q), "no locations")
			}
			list, err := c.Locations(ctx, q)
			if err != nil {
				return err
			}
			return page(a, locationColumns(), list, "no locations")
		}),
	}
	f := command.Flags()
	f.StringVar(&q.Status, "status", "", "`status`: active (the default), inactive or all")
	f.StringVar(&q.Tag, "tag", "", "only those that have this `word`")
	f.StringVar(&q.Order, "order", "", "`order`: created, code or name")
	f.StringVar(&q.Prefix, "prefix", "", "only codes or names that begin with this `text`")
	p.add(command)
	return command
}

func (a *app) locationsNear() *cobra.Command {
	var (
		q      client.NearQuery
		within string
		point  string
		box    []float64
	)
	command := &cobra.Command{
		Use:   "near",
		Short: "Find locations around a point, the nearest first",
		Example: `  exchequer locations near --point "-36.85, 174.76" --within 5km
  exchequer locations near --point "17°30′S 179°30′E" --box=-22,176,-12,-178`,
		Args: cobra.NoArgs,
	}
	command.RunE = a.with(func(ctx context.Context, c *client.Client, _ []string) error {
		at, err := locations.ParsePair(point)
		if err != nil {
			return usagef(`--point "-36.85, 174.76"`, "The point cannot be read: %v", err)
		}
		q.Lat, q.Lng = at.Lat, at.Lng
		if q.Radius, err = metres(within); err != nil {
			return err
		}
		if len(box) > 0 {
			if len(box) != 4 {
				return usagef("--box=-48,166,-34,-176",
					"A box has four sides: south, west, north, east")
			}
			q.Box = &client.LocationBox{South: box[0], West: box[1], North: box[2], East: box[3]}
		}
		found, err := c.LocationsNear(ctx, q)
		if err != nil {
			return err
		}
		if found.More {
			a.remark("there are more: raise --limit")
		}
		columns := append([]column[client.Location]{num("METRES",
			func(l client.Location) string { return strconv.FormatFloat(l.Distance, 'f', 0, 64) })},
			locationColumns()...)
		near := whole(found.Items)
		near.Unreadable = found.Unreadable
		return page(a, columns, near, "no locations there")
	})
	f := command.Flags()
	f.StringVar(&point, "point", "", "`coordinates` of the point (required)")
	f.StringVar(&within, "within", "10km", "`distance`: metres, or kilometres with km")
	f.Float64SliceVar(&box, "box", nil, "`south,west,north,east` of a box instead of a distance")
	f.StringVar(&q.Tag, "tag", "", "only those that have this `word`")
	f.IntVar(&q.Limit, "limit", 50, "maximum `number` of locations")
	require(command, "point")
	return command
}

// metres reads a distance such as 500, 500m or 5km.
func metres(text string) (float64, error) {
	number, scale := strings.TrimSpace(text), 1.0
	if cut, ok := strings.CutSuffix(number, "km"); ok {
		number, scale = cut, 1000
	} else {
		number = strings.TrimSuffix(number, "m")
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || v <= 0 {
		return 0, usagef("--within 5km", "%q is no distance", text)
	}
	return v * scale, nil
}

// changing returns a command that changes the location named by its first argument.
func (a *app) changing(
	command *cobra.Command,
	change func(ctx context.Context, c *client.Client, id client.LocationID, tag string) (
		client.Location, error),
) *cobra.Command {
	tag := command.Flags().String("if-tag", "",
		"`tag` that the location must still have, as get shows it")
	command.Args = cobra.ExactArgs(1)
	command.RunE = a.with(func(ctx context.Context, c *client.Client, args []string) error {
		id, err := locationID(ctx, c, args[0])
		if err != nil {
			return err
		}
		l, err := change(ctx, c, id, *tag)
		if err != nil {
			return err
		}
		return one(a, locationDetails(), l)
	})
	return command
}

func (a *app) locationsUpdate() *cobra.Command {
	var (
		p      placeFlags
		change client.LocationChange
	)
	command := &cobra.Command{
		Use:   "update LOCATION",
		Short: "Change a location",
		Long: `Change a location. What no flag names stays as it is.

A new --code is taken and the old one given up in the same write. --clear empties what it names:
placeId, formattedAddress, addressComponents, address, point, phone, timeZone, hours, tags.`,
		Example: `  exchequer locations update akl-01 --name "Auckland City" --code AKL-01
  exchequer locations update akl-01 --clear phone,point`,
	}
	p.add(command)
	f := command.Flags()
	f.StringVar(&p.code, "code", "", "new `code`")
	f.StringSliceVar(&change.Clear, "clear", nil, "`fields` to empty")
	return a.changing(command, func(
		ctx context.Context, c *client.Client, id client.LocationID, tag string,
	) (none client.Location, err error) {
		if change.LocationFields, err = p.fields(command); err != nil {
			return none, err
		}
		if f.Changed("code") {
			change.Code = &p.code
		}
		return c.UpdateLocation(ctx, id, tag, change)
	})
}

func (a *app) locationsDelete() *cobra.Command {
	return a.changing(&cobra.Command{
		Use:     "delete LOCATION",
		Short:   "Put a location out of use; its code stays reserved",
		Example: "  exchequer locations delete akl-01",
	}, func(ctx context.Context, c *client.Client, id client.LocationID, tag string) (
		client.Location, error,
	) {
		return c.DeleteLocation(ctx, id, tag)
	})
}

func (a *app) locationsRestore() *cobra.Command {
	var code string
	command := &cobra.Command{
		Use:   "restore LOCATION",
		Short: "Put a deleted location into use again",
		Long: `Put a deleted location into use again. One whose code was released gets it back if it is
free, or takes the --code given.`,
		Example: "  exchequer locations restore akl-01",
	}
	command.Flags().StringVar(&code, "code", "", "`code` to take instead of its own")
	return a.changing(command, func(
		ctx context.Context, c *client.Client, id client.LocationID, tag string,
	) (client.Location, error) {
		return c.RestoreLocation(ctx, id, tag, code)
	})
}

func (a *app) locationsRelease() *cobra.Command {
	return a.changing(&cobra.Command{
		Use:     "release LOCATION",
		Short:   "Give up the code that a deleted location reserves",
		Example: "  exchequer locations release akl-01",
	}, func(ctx context.Context, c *client.Client, id client.LocationID, tag string) (
		client.Location, error,
	) {
		return c.ReleaseLocation(ctx, id, tag)
	})
}

func (a *app) locationsSwap() *cobra.Command {
	return &cobra.Command{
		Use:     "swap LOCATION LOCATION",
		Short:   "Exchange the codes of two locations in one write",
		Example: "  exchequer locations swap akl-01 akl-02",
		Args:    cobra.ExactArgs(2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			var ids [2]client.LocationID
			for i, name := range args {
				id, err := locationID(ctx, c, name)
				if err != nil {
					return err
				}
				ids[i] = id
			}
			both, err := c.SwapLocations(ctx, ids[0], ids[1])
			if err != nil {
				return err
			}
			return page(a, locationColumns(), whole(both), "")
		}),
	}
}

func (a *app) locationsPlan() *cobra.Command {
	type plan = client.LocationPlan
	return &cobra.Command{
		Use:   "plan",
		Short: "Tell whether listing by a scan is still right",
		Long: `Measure one scan of the locations' table. A scan is right for fewer than 1,000 items, and
while it takes no longer than 100 ms; after that the plan says what to do instead.`,
		Example: "  exchequer locations plan",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			p, err := c.PlanLocations(ctx)
			if err != nil {
				return err
			}
			return one(a, []column[plan]{
				num("LOCATIONS", func(p plan) string { return thousands(p.Locations) }),
				num("LOOKUP ITEMS", func(p plan) string { return thousands(p.Lookups) }),
				num("CALLS", func(p plan) string { return thousands(p.Calls) }),
				num("READ", func(p plan) string { return readUnits(p.ReadUnits) }),
				num("TOOK", func(p plan) string {
					return duration(time.Duration(p.Micros) * time.Microsecond)
				}),
				col("SCAN IS RIGHT",
					func(p plan) string { return strconv.FormatBool(p.ScanIsRight) }),
				col("ADVICE", func(p plan) string { return strings.Join(p.Advice, " ") }),
			}, p)
		}),
	}
}

func (a *app) locationsRepair() *cobra.Command {
	var mend, reindex bool
	command := &cobra.Command{
		Use:   "repair",
		Short: "Check locations and lookup items of codes against each other",
		Long: `Compare locations and lookup items of codes, both ways, and the index keys of each location with its
values, while others write.

No write of this program leaves a difference; another program that writes to the table can. --repair puts
right what it finds. The exit status is 8 when a fault is left, and 9 when none is left but a code could
not be compared, because other writers changed it each time: run it again then.`,
		Example: `  exchequer locations repair
  exchequer locations repair --repair`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			if reindex {
				n, err := c.ReindexLocations(ctx)
				if err != nil {
					return err
				}
				a.remark("%s indexed", count(n, "location"))
			}
			r, err := c.RepairLocations(ctx, mend)
			if err != nil {
				return err
			}
			return a.repaired(r)
		}),
	}
	command.Flags().BoolVar(&mend, "repair", false, "put right what is found")
	command.Flags().BoolVar(&reindex, "reindex", false,
		"write all index keys anew first, after an index was added")
	return command
}

// repaired shows the result of a repair. Its verdict is the exit status.
func (a *app) repaired(r client.LocationRepair) error {
	type fault = client.LocationFault
	a.remark("%s, %s, %s", count(r.Locations, "location"),
		count(r.Lookups, "lookup item"), count(len(r.Faults), "fault"))
	for _, u := range r.Undecided {
		a.remark("not decided: code %s of location %s", u.Code, u.Location)
	}
	columns := []column[fault]{
		col("CODE", func(f fault) string { return f.Code }),
		col("FAULT", func(f fault) string { return f.Kind }),
		col("LOCATION", func(f fault) string { return string(f.Location) }),
		col("OTHER", func(f fault) string { return string(f.Other) }),
		col("ENTRY", func(f fault) string { return f.Entry }),
		col("WHY", func(f fault) string { return f.Why }),
		col("MENDED", func(f fault) string { return strconv.FormatBool(f.Mended) }),
	}
	none := "nothing is wrong"
	if len(r.Undecided) > 0 {
		none = "no fault was found"
	}
	if err := page(a, columns, whole(r.Faults), none); err != nil {
		return err
	}
	left := 0
	for _, f := range r.Faults {
		if !f.Mended {
			left++
		}
	}
	switch r.Verdict {
	case client.VerdictSound:
		return nil
	case client.VerdictUndecided:
		return undecided("whether locations and codes agree", len(r.Undecided), "code",
			"exchequer locations repair")
	}
	return &failure{exit: exitDiffers, text: count(left, "fault") + " left",
		try: "exchequer locations repair --repair"}
}
