package locations

// Judge lets a plan say whether a scan is right.
func Judge(p *Plan, o Options) { p.judge(o) }

// Cover returns the cells of a box, and CellOf that of a point at the deepest level.
func Cover(b Box) (cells []string, n int) { return cover(b) }

// CellOf returns the name of a point's cell.
func CellOf(p Point) string { return cellOf(p) }

// Around returns a box around a circle.
func Around(p Point, metres float64) Box { return around(p, metres) }
