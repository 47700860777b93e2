package locations

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// The names of the optional indexes.
const (
	indexCreated = "GSI1"
	indexCode    = "GSI2"
	indexName    = "GSI3"
	indexCell    = "GSI4"
)

// The attribute that distinguishes kinds of items, and its values.
const (
	kindAttribute = "itemType"
	kindLocation  = "Location"
	kindLookup    = "LocationCodeLookup"
)

// kindShards is the kind of the item that holds how many shards there are.
const kindShards = "LocationShards"

// The beginnings of partition keys, and the sort key of both kinds of items.
const (
	locationPrefix = "LOCATION#"
	lookupPrefix   = "LOCATION_CODE#"
	sortKey        = "META"
)

// Items as they are stored. Attribute names are part of the table's contract with other programs.
type (
	locationItem struct {
		ID               ID                 `dynamodbav:"locationId,required"`
		Code             string             `dynamodbav:"locationCode,omitempty"`
		FormerCode       string             `dynamodbav:"formerCode,omitempty"`
		Name             string             `dynamodbav:"name,required"`
		PlaceID          string             `dynamodbav:"placeId,omitempty"`
		PlaceCheckedAt   time.Time          `dynamodbav:"placeIdCheckedAt"`
		FormattedAddress string             `dynamodbav:"formattedAddress,omitempty"`
		Components       map[string]any     `dynamodbav:"addressComponents,omitempty"`
		Lat              singletable.Number `dynamodbav:"lat,omitempty,together"`
		Lng              singletable.Number `dynamodbav:"lng,omitempty,together"`
		Status           Status             `dynamodbav:"status,required"`
		Address          *Address           `dynamodbav:"address,omitempty"`
		Phone            string             `dynamodbav:"phone,omitempty"`
		TimeZone         string             `dynamodbav:"timeZone,omitempty"`
		Hours            *Hours             `dynamodbav:"hours,omitempty"`
		Tags             []string           `dynamodbav:"tags,stringset,omitempty"`
		// Area and Cell are where the location is in the cell index; see cell.
		Area    string `dynamodbav:"geoArea,omitempty"`
		Cell    string `dynamodbav:"geoCell,omitempty"`
		Version uint64 `dynamodbav:"version,omitempty"`
		// Both are text so that a condition compares what another program wrote, in any form.
		CreatedAt string `dynamodbav:"createdAt,omitempty"`
		UpdatedAt string `dynamodbav:"updatedAt,omitempty"`
		// Rest is what other programs store in addition, for a repair that moves the item.
		Rest singletable.Rest `dynamodbav:"@rest,rest"`
	}

	// lookupItem is the lookup item of a code, seen by itself, for repairs.
	lookupItem struct {
		Key       string `dynamodbav:"codeKey,keyonly"`
		ID        ID     `dynamodbav:"locationId,required"`
		Code      string `dynamodbav:"locationCode,omitempty"`
		CreatedAt string `dynamodbav:"createdAt,omitempty"`
	}
)

// Inputs of the patterns.
type (
	// ByID names a location.
	ByID struct {
		LocationID ID `dynamodbav:"locationId"`
	}
	// Listing narrows down a list: to a status, to those with a tag, and, where the list has an
	// order, to a prefix. What is empty narrows down nothing.
	Listing struct {
		Status Status
		Tag    string
		Prefix string
	}
	// InCell names a cell by its area and the beginning of the cells in it.
	InCell struct {
		Area   string `dynamodbav:"geoArea"`
		Prefix string
	}
)

// model is the table's design.
type model struct {
	table     *singletable.Table
	locations *singletable.Entity[locationItem]
	codes     *singletable.Unique[locationItem]
	control   *singletable.Entity[shardsItem]
	fields    fields
	shards    int // in the keys of locations

	// What follows is the same table as repairs see it, where locations and lookup items have
	// nothing to do with each other. It is a table of its own to the kit, which would otherwise
	// find two entities with the same keys.
	apart                      *singletable.Table
	lookups                    *singletable.Entity[lookupItem]
	lookupOwner                singletable.Field[lookupItem, ID]
	loose                      *singletable.Entity[locationItem]
	looseCode, looseFormerCode singletable.Field[locationItem, string]
	looseUpdatedAt             singletable.Field[locationItem, string]
	looseVersion               singletable.Field[locationItem, uint64]

	byID       *singletable.Pattern[ByID, locationItem]
	all        *singletable.Pattern[Listing, locationItem]
	allLookups *singletable.Pattern[Listing, lookupItem]
	// Those whose index the table has not are nil.
	byCreation, byCode, byName *singletable.Pattern[Listing, locationItem]
	inCell                     *singletable.Pattern[InCell, locationItem]
}

// fields are the handles of what updates change and conditions compare.
type fields struct {
	code, formerCode, name, placeID, formattedAddress textField
	phone, timeZone, area, cell, updatedAt            textField

	placeCheckedAt singletable.Field[locationItem, time.Time]
	components     singletable.Field[locationItem, map[string]any]
	lat, lng       singletable.Field[locationItem, singletable.Number]
	status         singletable.Field[locationItem, Status]
	address        singletable.Field[locationItem, *Address]
	hours          singletable.Field[locationItem, *Hours]
	tags           singletable.Field[locationItem, []string]
	version        singletable.Field[locationItem, uint64]
}

// textField is the handle of an attribute that is text.
type textField = singletable.Field[locationItem, string]

// modelOf returns the model of a directory. The field is any so that the compiler sees no type of
// the kit behind a Directory: every package that names one would compile all of them again.
func modelOf(d *Directory) *model { return d.model.Load().(*model) }

// newModel builds the design with a number of shards in the keys.
func newModel(o Options, shards int) *model {
	o.Shards = shards
	m := &model{shards: shards}
	options := []singletable.TableOption{}
	index := func(wanted bool, option singletable.TableOption) {
		if wanted {
			options = append(options, option)
		}
	}
	index(o.CreatedIndex, singletable.GSI(indexCreated, kindAttribute, "createdAt"))
	index(o.CodeIndex, singletable.GSI(indexCode, "GSI2PK", "GSI2SK"))
	index(o.NameIndex, singletable.GSI(indexName, "GSI3PK", "GSI3SK"))
	index(o.CellIndex, singletable.GSI(indexCell, "GSI4PK", "GSI4SK"))
	m.table = singletable.NewTable(o.TableName, singletable.Keys("PK", "SK"), options...)
	m.defineEntities(o, singletable.NewTable(o.TableName, singletable.Keys("PK", "SK"), options...))
	m.defineFields()
	m.definePatterns(o)
	return m
}

func (m *model) defineEntities(o Options, again *singletable.Table) {
	m.apart = again
	key, list := locationPrefix+"<locationId>", "LIST#LOCATION"
	if o.Shards > 0 {
		n := strconv.Itoa(o.Shards)
		key = locationPrefix + "<locationId:shard(" + n + ")>#<locationId>"
		list += "<locationId:shardSuffix(" + n + ")>"
	}
	options := []singletable.EntityOption{
		singletable.Discriminator(kindAttribute, kindLocation),
		singletable.Enum("status", string(Active), string(Inactive)),
		singletable.Sound(soundLocation),
		singletable.Primary(key, sortKey),
	}
	place := func(wanted bool, option singletable.EntityOption) {
		if wanted {
			options = append(options, option)
		}
	}
	place(o.CreatedIndex, singletable.On(indexCreated, kindLocation, "<createdAt>"))
	place(o.CodeIndex, singletable.On(indexCode, list,
		"CODE#<locationCode:lower>#<locationId>", singletable.Sparse()))
	place(o.NameIndex, singletable.On(indexName, list,
		"NAME#<name:lower>#<locationId>", singletable.Sparse()))
	place(o.CellIndex, singletable.On(indexCell, "CELL#<geoArea>",
		"<geoCell>#<locationId>", singletable.Sparse()))
	m.locations = singletable.NewEntity[locationItem](m.table, kindLocation, options...)
	m.control = singletable.NewEntity[shardsItem](m.table, kindShards,
		singletable.Discriminator(kindAttribute, kindShards),
		singletable.Primary("@locations#control#shards", sortKey),
		singletable.About("How many shards the keys of locations have; 0 is a key without one"))
	// Reservable lets a location have a lookup item that names it already.
	m.codes = singletable.NewUnique(m.locations, kindLookup, singletable.Reservable(),
		singletable.Primary(lookupPrefix+"<locationCode:lower>", sortKey),
		singletable.Discriminator(kindAttribute, kindLookup),
		singletable.Copy("locationId", "locationCode", "createdAt"))
	m.loose = singletable.NewEntity[locationItem](again, kindLocation, options...)
	m.lookups = singletable.NewEntity[lookupItem](again, kindLookup,
		singletable.Discriminator(kindAttribute, kindLookup),
		singletable.Primary(lookupPrefix+"<codeKey>", sortKey))
}

func (m *model) defineFields() {
	l, f := m.locations, &m.fields
	text := func(at func(*locationItem) *string) textField {
		return singletable.FieldOf(l, at)
	}
	f.code = text(func(i *locationItem) *string { return &i.Code })
	f.formerCode = text(func(i *locationItem) *string { return &i.FormerCode })
	f.name = text(func(i *locationItem) *string { return &i.Name })
	f.placeID = text(func(i *locationItem) *string { return &i.PlaceID })
	f.formattedAddress = text(func(i *locationItem) *string { return &i.FormattedAddress })
	f.phone = text(func(i *locationItem) *string { return &i.Phone })
	f.timeZone = text(func(i *locationItem) *string { return &i.TimeZone })
	f.area = text(func(i *locationItem) *string { return &i.Area })
	f.cell = text(func(i *locationItem) *string { return &i.Cell })
	f.updatedAt = text(func(i *locationItem) *string { return &i.UpdatedAt })
	f.placeCheckedAt = singletable.FieldOf(l,
		func(i *locationItem) *time.Time { return &i.PlaceCheckedAt })
	f.components = singletable.FieldOf(l,
		func(i *locationItem) *map[string]any { return &i.Components })
	f.lat = singletable.FieldOf(l, func(i *locationItem) *singletable.Number { return &i.Lat })
	f.lng = singletable.FieldOf(l, func(i *locationItem) *singletable.Number { return &i.Lng })
	f.status = singletable.FieldOf(l, func(i *locationItem) *Status { return &i.Status })
	f.address = singletable.FieldOf(l, func(i *locationItem) **Address { return &i.Address })
	f.hours = singletable.FieldOf(l, func(i *locationItem) **Hours { return &i.Hours })
	f.tags = singletable.FieldOf(l, func(i *locationItem) *[]string { return &i.Tags })
	f.version = singletable.FieldOf(l, func(i *locationItem) *uint64 { return &i.Version })
	m.lookupOwner = singletable.FieldOf(m.lookups, func(i *lookupItem) *ID { return &i.ID })
	m.looseCode = singletable.FieldOf(m.loose, func(i *locationItem) *string { return &i.Code })
	m.looseFormerCode = singletable.FieldOf(m.loose,
		func(i *locationItem) *string { return &i.FormerCode })
	m.looseUpdatedAt = singletable.FieldOf(m.loose,
		func(i *locationItem) *string { return &i.UpdatedAt })
	m.looseVersion = singletable.FieldOf(m.loose,
		func(i *locationItem) *uint64 { return &i.Version })
}

func (m *model) definePatterns(o Options) {
	describe, index := singletable.Describe, singletable.UseIndex
	tags := singletable.FieldOf(m.locations, func(i *locationItem) *[]string { return &i.Tags })
	narrowed := singletable.FilterBy(func(in Listing) singletable.Predicate {
		var conds []singletable.Cond[locationItem]
		if in.Status != "" {
			conds = append(conds, m.fields.status.Equals(in.Status))
		}
		if in.Tag != "" {
			conds = append(conds, tags.Contains(in.Tag))
		}
		if len(conds) == 0 {
			return nil
		}
		return singletable.And(conds...)
	})
	m.byID = singletable.NewLookup[ByID](m.locations, "location-by-id",
		describe("A location by its id, as of now"), singletable.Consistent())
	m.all = singletable.NewScan[Listing](m.locations, "locations",
		describe("All locations, in no order, by a scan of the table"), narrowed,
		singletable.Consistent()) // For the kept list, which misses no write that has returned.
	m.allLookups = singletable.NewScan[Listing](m.lookups, "location-codes",
		describe("All lookup items of codes, by a scan of the table"), singletable.Consistent())
	if o.CreatedIndex {
		m.byCreation = singletable.NewQuery[Listing](m.locations, "locations-by-creation",
			describe("All locations, the oldest first"), index(indexCreated), narrowed)
	}
	if o.CodeIndex {
		m.byCode = singletable.NewQuery[Listing](m.locations, "locations-by-code",
			describe("All locations in the order of their codes, from a prefix on"),
			index(indexCode), singletable.BeginsWith("locationCode", "Prefix"), narrowed)
	}
	if o.NameIndex {
		m.byName = singletable.NewQuery[Listing](m.locations, "locations-by-name",
			describe("All locations in the order of their names, from a prefix on"),
			index(indexName), singletable.BeginsWith("name", "Prefix"), narrowed)
	}
	if o.CellIndex {
		m.inCell = singletable.NewQuery[InCell](m.locations, "locations-in-cell",
			describe("The locations in a cell of the earth's surface"),
			index(indexCell), singletable.BeginsWith("geoCell", "Prefix"))
	}
}

// catalogue lists the questions for people and command lines.
func (m *model) catalogue() *singletable.Model {
	patterns := []singletable.AccessPattern{m.byID, m.all}
	for _, p := range []*singletable.Pattern[Listing, locationItem]{
		m.byCreation, m.byCode, m.byName,
	} {
		if p != nil {
			patterns = append(patterns, p)
		}
	}
	if m.inCell != nil {
		patterns = append(patterns, m.inCell)
	}
	return singletable.NewModel("locations", []*singletable.Table{m.table}, patterns...)
}

// cell returns where a point is in the cell index: the area, which is the partition, and the cell
// within it.
func (m *model) cell(p *Point) (area, cell string) {
	if m.inCell == nil || p == nil {
		return "", ""
	}
	path := cellOf(*p)
	return path[:areaLevel], path
}

func (m *model) itemOf(l *Location) locationItem {
	i := locationItem{
		ID: l.ID, Code: l.Code, FormerCode: l.FormerCode, Name: l.Name, PlaceID: l.Place.ID,
		PlaceCheckedAt: l.Place.CheckedAt, FormattedAddress: l.Place.FormattedAddress,
		Components: l.Place.Components, Status: l.Status, Address: l.Address, Phone: l.Phone,
		TimeZone: l.TimeZone, Hours: l.Hours, Tags: l.Tags, Version: l.Version,
		CreatedAt: l.created, UpdatedAt: l.updated,
		Area: l.area, Cell: l.cell,
	}
	if l.Point != nil {
		i.Lat, i.Lng = number(l.Point.Lat), number(l.Point.Lng)
	}
	return i
}

// soundLocation checks a location that was read. Its instants are text; see locationItem.
func soundLocation(i *locationItem) *singletable.AttributeError {
	for attribute, text := range map[string]string{
		"createdAt": i.CreatedAt, "updatedAt": i.UpdatedAt,
	} {
		if _, err := parseStamp(text); err != nil {
			return &singletable.AttributeError{Attribute: attribute, Reason: err}
		}
	}
	for attribute, most := range map[string]float64{"lat": 90, "lng": 180} {
		text := string(i.Lat)
		if attribute == "lng" {
			text = string(i.Lng)
		}
		if text == "" {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err != nil || v < -most || v > most {
			return &singletable.AttributeError{Attribute: attribute, Reason: fmt.Errorf(
				"is %s, outside -%v to %v degrees", text, most, most)}
		}
	}
	return nil
}

// parseStamp reads an instant as it is stored; absent text is the zero time.
func parseStamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("is %q, which is not an RFC 3339 time", text)
	}
	return t, nil
}

func number(v float64) singletable.Number { return singletable.Number(degrees(v)) }

func locationOf(i locationItem) Location {
	l := Location{
		ID: i.ID, Code: i.Code, FormerCode: i.FormerCode, Status: i.Status,
		Details: Details{
			Name: i.Name,
			Place: Place{
				ID: i.PlaceID, CheckedAt: i.PlaceCheckedAt,
				FormattedAddress: i.FormattedAddress, Components: i.Components,
			},
			Address: i.Address, Phone: i.Phone, TimeZone: i.TimeZone, Hours: i.Hours, Tags: i.Tags,
		},
		Version: i.Version,
		created: i.CreatedAt, updated: i.UpdatedAt, area: i.Area, cell: i.Cell,
	}
	l.Point = pointOf(i)
	l.CreatedAt, _ = parseStamp(i.CreatedAt) // Both were checked when the item was read.
	l.UpdatedAt, _ = parseStamp(i.UpdatedAt)
	return l
}

// pointOf returns the point of a stored location, or nil.
func pointOf(i locationItem) *Point {
	lat, err1 := strconv.ParseFloat(string(i.Lat), 64)
	lng, err2 := strconv.ParseFloat(string(i.Lng), 64)
	if err1 != nil || err2 != nil { // Half a point is none.
		return nil
	}
	return &Point{lat, lng}
}

// stamp writes an instant as it is stored.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// touch marks a location as changed at an instant, and finds its place in the cell index.
func (m *model) touch(l *Location, now time.Time) {
	l.Version++
	l.UpdatedAt = instant(now)
	l.updated = stamp(now)
	l.area, l.cell = m.cell(l.Point)
}

// stillSo are the conditions that a location is as it was read.
func (m *model) stillSo(l *Location) []singletable.Step[locationItem] {
	f := &m.fields
	return []singletable.Step[locationItem]{
		f.version.Equals(l.Version), f.updatedAt.Equals(l.updated),
	}
}

// steps are the changes that make of a location another, while it still is as it was read.
func (m *model) steps(before, after *Location) []singletable.Step[locationItem] {
	f, a, b := &m.fields, m.itemOf(before), m.itemOf(after)
	steps := append(m.stillSo(before), m.locations.WithKnown(a))
	add := func(differs bool, step singletable.Step[locationItem]) {
		if differs {
			steps = append(steps, step)
		}
	}
	add(a.Code != b.Code, f.code.Set(b.Code))
	add(a.FormerCode != b.FormerCode, f.formerCode.Set(b.FormerCode))
	add(a.Name != b.Name, f.name.Set(b.Name))
	add(a.PlaceID != b.PlaceID, f.placeID.Set(b.PlaceID))
	add(a.PlaceCheckedAt != b.PlaceCheckedAt, f.placeCheckedAt.Set(b.PlaceCheckedAt))
	add(a.FormattedAddress != b.FormattedAddress, f.formattedAddress.Set(b.FormattedAddress))
	add(fmt.Sprint(a.Components) != fmt.Sprint(b.Components), f.components.Set(b.Components))
	add(a.Lat != b.Lat, f.lat.Set(b.Lat))
	add(a.Lng != b.Lng, f.lng.Set(b.Lng))
	add(a.Status != b.Status, f.status.Set(b.Status))
	add(a.Address != b.Address, f.address.Set(b.Address))
	add(a.Phone != b.Phone, f.phone.Set(b.Phone))
	add(a.TimeZone != b.TimeZone, f.timeZone.Set(b.TimeZone))
	add(a.Hours != b.Hours, f.hours.Set(b.Hours))
	add(strings.Join(a.Tags, "\n") != strings.Join(b.Tags, "\n"), f.tags.Set(b.Tags))
	add(a.Area != b.Area, f.area.Set(b.Area))
	add(a.Cell != b.Cell, f.cell.Set(b.Cell))
	return append(steps, f.version.Set(b.Version), f.updatedAt.Set(b.UpdatedAt))
}
