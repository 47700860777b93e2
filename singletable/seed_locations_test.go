package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// Places with a code that people type: unique, whatever its case.
type (
	Location struct {
		ID        string    `dynamodbav:"locationId"`
		Code      string    `dynamodbav:"locationCode"`
		Name      string    `dynamodbav:"name"`
		Lat       st.Number `dynamodbav:"lat"`
		Lng       st.Number `dynamodbav:"lng"`
		Status    string    `dynamodbav:"status"`
		CreatedAt time.Time `dynamodbav:"createdAt"`
		UpdatedAt time.Time `dynamodbav:"updatedAt"`
	}
	// LocationID and Everything are inputs.
	LocationID struct {
		LocationID string `dynamodbav:"locationId"`
	}
	Everything struct{}
)

type locationsModel struct {
	table     *st.Table
	locations *st.Entity[Location]
	codes     *st.Unique[Location]
	code      st.Field[Location, string]
	status    st.Field[Location, string]
	updatedAt st.Field[Location, time.Time]
	byID      *st.Pattern[LocationID, Location]
	all       *st.Pattern[Everything, Location]
}

func newLocationsModel(tableName string) *locationsModel {
	m := &locationsModel{table: st.NewTable(tableName, st.Keys("PK", "SK"))}
	m.locations = st.NewEntity[Location](m.table, "Location",
		st.Primary("LOCATION#<locationId>", "META"), st.Discriminator("itemType", "Location"))
	m.codes = st.NewUnique(m.locations, "LocationCodeLookup",
		st.Primary("LOCATION_CODE#<locationCode:lower>", "META"),
		st.Discriminator("itemType", "LocationCodeLookup"),
		st.Copy("locationId", "locationCode", "createdAt"))
	m.code = st.FieldOf(m.locations, func(l *Location) *string { return &l.Code })
	m.status = st.FieldOf(m.locations, func(l *Location) *string { return &l.Status })
	m.updatedAt = st.FieldOf(m.locations, func(l *Location) *time.Time { return &l.UpdatedAt })
	m.byID = st.NewLookup[LocationID](m.locations, "location-by-id",
		st.Describe("The location with an id."))
	m.all = st.NewScan[Everything](m.locations, "all-locations", st.Describe("All locations."))
	return m
}

// Locations: a unique code through creation, change of case, change, exchange and deletion.
func Example_locations() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	must := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
		}
	}
	m := newLocationsModel("aolfclub-entities")
	must(m.table.Ensure(ctx, db))
	s := st.NewStore(db, st.Options{})
	created := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	austin := Location{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Code: "austin-main-01",
		Name: "Austin Main Center", Lat: "30.2672", Lng: "-97.7431", Status: "active",
		CreatedAt: created, UpdatedAt: created}
	must(m.locations.Create(ctx, s, austin))
	dallas := austin
	dallas.ID, dallas.Code, dallas.Name = "01BX5ZZKBKACTAV9WEVGEMMVRZ", "AUSTIN-main-01", "Dallas"
	fmt.Println("taken:", errors.Is(m.locations.Create(ctx, s, dallas), st.ErrTaken))
	dallas.Code = "dallas-01"
	must(m.locations.Create(ctx, s, dallas))

	// Changes of the code read the item first, so that the old code is let go.
	_, err = m.locations.Update(ctx, s, Location{ID: austin.ID}, m.code.Set("Austin-Main-01"),
		m.locations.ReadFirst())
	must(err)
	found, ok, err := m.codes.Get(ctx, s, Location{Code: "austin-MAIN-01"})
	must(err)
	fmt.Println(ok, found.Name, found.Code)

	// Two places exchange their codes in one transaction.
	austin.Code = "Austin-Main-01"
	tx := s.NewTx()
	m.locations.UpdateTx(tx, Location{ID: austin.ID}, m.code.Set(dallas.Code),
		m.locations.WithKnown(austin))
	m.locations.UpdateTx(tx, Location{ID: dallas.ID}, m.code.Set(austin.Code),
		m.locations.WithKnown(dallas))
	must(tx.Commit(ctx))
	found, _, err = m.codes.Get(ctx, s, Location{Code: "dallas-01"})
	must(err)
	fmt.Println("dallas-01 is now", found.Name)

	// A soft delete leaves the lookup item alone: the code stays reserved.
	_, err = m.locations.Update(ctx, s, Location{ID: dallas.ID}, m.status.Set("inactive"),
		m.updatedAt.Set(created.Add(time.Hour)))
	must(err)
	must(m.locations.Delete(ctx, s, Location{ID: austin.ID}))
	_, ok, err = m.codes.Get(ctx, s, Location{Code: "dallas-01"})
	must(err)
	fmt.Println("after the deletion:", ok)
	n, err := m.all.Count(ctx, s, Everything{})
	must(err)
	fmt.Println(n, "location")
	// Output:
	// taken: true
	// true Austin Main Center Austin-Main-01
	// dallas-01 is now Austin Main Center
	// after the deletion: false
	// 1 location
}
