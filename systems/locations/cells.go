package locations

import (
	"container/heap"
	"strings"
)

// Cells divide the earth's surface: the whole is a rectangle of longitude and latitude, which is
// cut into four, each of those into four, and so on. A cell's name is the path to it, a digit for
// each cut, so that the name of a cell begins with that of the cell it lies in, and all that lies
// in a cell is one range of names.
const (
	// cellLevel is the depth of the cells that points are named by: 3 m of longitude, at most.
	cellLevel = 24
	// areaLevel is the depth of the cells that are partitions of the index: 2.8 by 1.4 degrees,
	// 313 km by 156 km at the equator.
	areaLevel = 7
	// cellsWanted is how many queries a cover tries to get by with: more of them are smaller, and
	// read less that lies outside.
	cellsWanted = 16
	// cellsMax bounds the queries that one question may become, about a second of them.
	cellsMax = 128
)

// rect is a cell as a rectangle; its west and south sides belong to it.
type rect struct {
	path                     string
	south, west, north, east float64
}

// quarter returns one of the four quarters.
func (r rect) quarter(i int) rect {
	lat, lng := (r.south+r.north)/2, (r.west+r.east)/2
	q := rect{r.path + string(rune('0'+i)), r.south, r.west, lat, lng}
	if i&1 != 0 {
		q.west, q.east = lng, r.east
	}
	if i&2 != 0 {
		q.south, q.north = lat, r.north
	}
	return q
}

func (r rect) meets(b Box) bool {
	return r.south <= b.North && b.South <= r.north && r.west <= b.East && b.West <= r.east
}

func (r rect) inside(b Box) bool {
	return b.South <= r.south && r.north <= b.North && b.West <= r.west && r.east <= b.East
}

var world = rect{"", -90, -180, 90, 180}

// cellOf returns the name of the cell of a point at the deepest level.
func cellOf(p Point) string {
	var path strings.Builder
	r := world
	for range cellLevel {
		i := 0
		if p.Lng >= (r.west+r.east)/2 {
			i |= 1
		}
		if p.Lat >= (r.south+r.north)/2 {
			i |= 2
		}
		r = r.quarter(i)
		r.path = ""
		path.WriteByte(byte('0' + i))
	}
	return path.String()
}

// rects is a heap of cells with the largest first.
type rects []rect

func (h rects) Len() int           { return len(h) }
func (h rects) Less(i, j int) bool { return len(h[i].path) < len(h[j].path) }
func (h rects) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rects) Push(r any)        { *h = append(*h, r.(rect)) }
func (h *rects) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// cover returns names of cells, of mixed levels, that between them hold every point of a box, and
// how many there would be when they are more than cellsMax.
func cover(box Box) (cells []string, n int) {
	for _, b := range box.split() {
		part, n := coverPart(b)
		if len(cells)+n > cellsMax {
			return nil, len(cells) + n
		}
		cells = append(cells, part...)
	}
	return cells, len(cells)
}

// coverPart is cover for a box that does not cross the antimeridian.
func coverPart(b Box) (cells []string, n int) {
	open := &rects{world}
	var done []rect
	for open.Len() > 0 {
		r := heap.Pop(open).(rect)
		deep := len(r.path) >= areaLevel
		if deep && (r.inside(b) || len(r.path) == cellLevel ||
			open.Len()+len(done)+1 >= cellsWanted) {
			if done = append(done, r); len(done) > cellsMax {
				return nil, len(done) + open.Len()
			}
			continue
		}
		for i := range 4 {
			if q := r.quarter(i); q.meets(b) {
				heap.Push(open, q)
			}
		}
	}
	for _, r := range done {
		cells = append(cells, r.path)
	}
	return cells, len(cells)
}
