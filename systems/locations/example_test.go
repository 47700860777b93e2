package locations_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// A code is found in any case, changed, and kept from others when its location is deleted.
func Example() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	directory, err := locations.New(singletable.NewStore(db, singletable.Options{}),
		locations.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := directory.Table().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	akl, _, err := directory.Create(ctx, locations.NewLocation{
		Code: "AKL-01",
		Details: locations.Details{
			Name:  "Auckland Central",
			Point: &locations.Point{Lat: -36.8485, Lng: 174.7633},
		},
	})
	fmt.Println(akl.Code, akl.Status, err)

	found, err := directory.ByCode(ctx, "akl-01")
	fmt.Println(found.Name, err)

	near, err := directory.Near(ctx, locations.NearQuery{
		Point: locations.Point{Lat: -36.84, Lng: 174.76}, Radius: 5000,
	})
	fmt.Printf("%d within 5 km, at %.0f m, %v\n", len(near.Items), near.Items[0].Distance, err)

	code := "AKL-00"
	akl, err = directory.Update(ctx, akl.ID, akl.Tag(), locations.Change{Code: &code})
	fmt.Println(akl.Code, akl.Version, err)

	_, err = directory.Delete(ctx, akl.ID, "")
	fmt.Println(err)
	_, _, err = directory.Create(ctx, locations.NewLocation{
		Code: "akl-00", Details: locations.Details{Name: "Albany"},
	})
	fmt.Println(errors.Is(err, locations.ErrCodeReserved))
	// Output:
	// AKL-01 active <nil>
	// Auckland Central <nil>
	// 1 within 5 km, at 990 m, <nil>
	// AKL-00 2 <nil>
	// <nil>
	// true
}
