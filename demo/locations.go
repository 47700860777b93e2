package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/problem"
)

// branch is a place of the story.
type branch struct {
	code, name, point string
}

// branches are in Wellington, Auckland and, beyond the antimeridian, the Chatham Islands.
var branches = []branch{
	{"wlg-01", "Lambton Quay", "41°16′43″S 174°46′38″E"},
	{"wlg-02", "Cuba Street", "-41.2936, 174.7757"},
	{"akl-01", "Queen Street", "S36.8485 E174.7633"},
	{"cha-01", "Waitangi Wharf", "-43.9455, -176.5614"},
}

// locations shows locations, and two people who request the same code at once.
func (s *story) locations(ctx context.Context) error {
	s.title("The shops are somewhere, and no two places share a code")
	var rows []client.LocationRow
	for i, b := range branches {
		rows = append(rows, client.LocationRow{Line: i + 2, Cells: map[string]string{
			"code": b.code, "name": b.name, "point": b.point,
		}})
	}
	outcomes, err := s.client.ImportLocations(ctx, rows, "", false)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Action != "create" {
			s.differ("the place %s: %s, not create", o.Code, o.Action)
		}
	}
	wanted := "Thorndon"
	_, err = s.client.CreateLocation(ctx, client.NewLocation{
		Code: "WLG-01", LocationFields: client.LocationFields{Name: &wanted},
	})
	var refused *problem.Error
	switch {
	case errors.As(err, &refused) && refused.Code == "location_code_taken":
		s.say("   refused: %s", refused.Sentence)
	case err != nil:
		return err
	default:
		s.differ("two places have the code wlg-01")
	}
	if err := s.near(ctx); err != nil {
		return err
	}
	if err := s.swap(ctx); err != nil {
		return err
	}
	s.command(`locations near --point "-41.28, 174.77" --within 5km`)
	s.command("locations repair")
	return nil
}

// near shows what is close to the station of Wellington, and what is across the antimeridian.
func (s *story) near(ctx context.Context) error {
	found, err := s.client.LocationsNear(ctx, client.NearQuery{
		Lat: -41.2788, Lng: 174.7802, Radius: 800_000,
	})
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("CODE"), grid.Left("NAME"), grid.Right("FROM THE STATION"))
	var order string
	for _, l := range found.Items {
		order += l.Code + " "
		t.Add(l.Code, l.Name, fmt.Sprintf("%.1f km", l.Distance/1000))
	}
	s.table(t)
	if want := "wlg-01 wlg-02 akl-01 cha-01 "; order != want {
		s.differ("the places around the station are %snot %s", order, want)
	}
	return nil
}

// swap lets two places exchange their codes, and looks whether everything still fits.
func (s *story) swap(ctx context.Context) error {
	first, err := s.client.LocationByCode(ctx, "wlg-01")
	if err != nil {
		return err
	}
	second, err := s.client.LocationByCode(ctx, "wlg-02")
	if err != nil {
		return err
	}
	if _, err := s.client.SwapLocations(ctx, first.ID, second.ID); err != nil {
		return err
	}
	now, err := s.client.LocationByCode(ctx, "wlg-01")
	if err != nil {
		return err
	}
	s.say("   Two shops exchange their codes in one write: wlg-01 is now %s.", now.Name)
	if now.ID != second.ID {
		s.differ("wlg-01 is %s, not %s", now.Name, second.Name)
	}
	repair, err := s.client.RepairLocations(ctx, false)
	if err != nil {
		return err
	}
	if repair.Verdict != client.VerdictSound || repair.Locations != len(branches) {
		s.differ("%d places with %d faults, not %d with none", repair.Locations,
			len(repair.Faults), len(branches))
	}
	return nil
}
