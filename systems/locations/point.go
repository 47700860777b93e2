package locations

import (
	"math"
	"strconv"

	"github.com/exchequer-dev/exchequer/problem"
)

// Point is a place on the earth in degrees: north and east are positive.
type Point struct {
	Lat, Lng float64
}

func (p Point) check(wrong *problem.Fields) {
	if !(math.Abs(p.Lat) <= 90) {
		wrong.Add("lat", "must be from -90 to 90")
	}
	if !(math.Abs(p.Lng) <= 180) {
		wrong.Add("lng", "must be from -180 to 180")
	}
}

// pointDigits is how many fraction digits a coordinate keeps: a tenth of a millimetre.
const pointDigits = 9

// rounded returns the point as it is stored, without what is only the noise of arithmetic.
func (p Point) rounded() Point {
	scale := math.Pow10(pointDigits)
	return Point{math.Round(p.Lat*scale) / scale, math.Round(p.Lng*scale) / scale}
}

// String writes the point as two numbers, latitude first.
func (p Point) String() string { return degrees(p.Lat) + ", " + degrees(p.Lng) }

// degrees writes a coordinate with the fewest digits that are still the same number.
func degrees(v float64) string {
	return strconv.FormatFloat(v+0, 'f', -1, 64) // Adding zero takes the sign from -0.
}

// EarthRadius is the earth's mean radius in metres (IUGG). On a sphere of it, distances are right
// to half a percent.
const EarthRadius = 6_371_008.8

// Distance returns the length of the shortest way between two points over the surface, in metres,
// by the haversine formula, which keeps its precision for points that are close.
func Distance(a, b Point) float64 {
	lat1, lat2 := radians(a.Lat), radians(b.Lat)
	sinLat, sinLng := math.Sin((lat2-lat1)/2), math.Sin(radians(b.Lng-a.Lng)/2)
	h := sinLat*sinLat + math.Cos(lat1)*math.Cos(lat2)*sinLng*sinLng
	return 2 * EarthRadius * math.Asin(math.Sqrt(min(1, h)))
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// Box is an area between two parallels and two meridians, both ends included. A West that is
// greater than East means that it crosses the antimeridian: from 170 to -170 are 20 degrees.
type Box struct {
	South, West, North, East float64
}

func (b Box) check(wrong *problem.Fields) {
	for _, side := range []struct {
		name         string
		value, limit float64
	}{
		{"south", b.South, 90}, {"north", b.North, 90},
		{"west", b.West, 180}, {"east", b.East, 180},
	} {
		if !(math.Abs(side.value) <= side.limit) {
			wrong.Addf(side.name, "must be from -%v to %v", side.limit, side.limit)
		}
	}
	if b.South > b.North {
		wrong.Add("south", "must not be north of north")
	}
}

// Contains reports whether a point lies in the box. Longitudes of 180 and -180 are the same.
func (b Box) Contains(p Point) bool {
	if p.Lat < b.South || p.Lat > b.North {
		return false
	}
	within := func(lng float64) bool {
		if b.West <= b.East {
			return b.West <= lng && lng <= b.East
		}
		return lng >= b.West || lng <= b.East
	}
	return within(p.Lng) || math.Abs(p.Lng) == 180 && within(-p.Lng)
}

// Middle returns the point in the middle of the box, by degrees.
func (b Box) Middle() Point {
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	lng := b.West + width/2
	if lng > 180 {
		lng -= 360
	}
	return Point{(b.South + b.North) / 2, lng}
}

// split returns the box as one or two that do not cross the antimeridian, which between them have
// both names of it.
func (b Box) split() []Box {
	if b.West <= b.East {
		boxes := []Box{b}
		if b.West == -180 && b.East < 180 {
			boxes = append(boxes, Box{b.South, 180, b.North, 180})
		}
		if b.East == 180 && b.West > -180 {
			boxes = append(boxes, Box{b.South, -180, b.North, -180})
		}
		return boxes
	}
	return []Box{{b.South, b.West, b.North, 180}, {b.South, -180, b.North, b.East}}
}

// boxSlack widens the box around a circle by a little more than what rounding can lose, in degrees:
// a hundredth of a millimetre.
const boxSlack = 1e-10

// around returns a box that holds every point within a distance of p.
func around(p Point, metres float64) Box {
	angle := metres / EarthRadius
	wide := angle*180/math.Pi + boxSlack
	b := Box{South: max(-90, p.Lat-wide), North: min(90, p.Lat+wide), West: -180, East: 180}
	if b.South == -90 || b.North == 90 || angle >= math.Pi/2 {
		return b // A pole is within, and with it every meridian.
	}
	side := math.Asin(min(1, math.Sin(angle)/math.Cos(radians(p.Lat))))*180/math.Pi + boxSlack
	if side >= 180 {
		return b
	}
	b.West, b.East = p.Lng-side, p.Lng+side
	if b.West < -180 {
		b.West += 360
	}
	if b.East > 180 {
		b.East -= 360
	}
	return b
}
