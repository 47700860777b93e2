package chart

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is a kind of picture.
type Picture string

// The kinds of pictures.
const (
	SVG Picture = "svg"
	PNG Picture = "png"
)

// Pictures returns all kinds.
func Pictures() []Picture { return []Picture{SVG, PNG} }

// The size of a picture. It grows with the number of categories, up to pictureWidthMax.
const (
	pictureHeight   = 12 * vg.Centimeter
	pictureWidth    = 18 * vg.Centimeter
	pictureWidthMax = 120 * vg.Centimeter
	categoryWidth   = 1.4 * vg.Centimeter
	// namesMax is how many categories are named; of more only some are.
	namesMax = 24
)

// palette are colours that people who do not see all colours tell apart (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	color.RGBA{0xf0, 0xe4, 0x42, 0xff}, color.RGBA{0x99, 0x99, 0x99, 0xff},
}

// Draw draws the chart as a picture. The error is about an unknown kind, or that of the writer.
func Draw(w io.Writer, c Chart, kind Picture) error {
	if !slices.Contains(Pictures(), kind) {
		return fmt.Errorf("%q is no kind of picture: use svg or png", kind)
	}
	p := plot.New()
	p.Title.Text = plain(c.Title, false)
	p.Y.Label.Text = plain(c.Unit, false)
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	width := min(max(pictureWidth, vg.Length(len(c.Categories))*categoryWidth), pictureWidthMax)
	if err := addBars(p, c, width); err != nil {
		return err
	}
	if err := addLine(p, c); err != nil {
		return err
	}
	nameCategories(p, c.Categories)
	p.Y.Min, p.Y.Max = min(p.Y.Min, 0), max(p.Y.Max, 0)
	if p.Y.Min == p.Y.Max {
		p.Y.Max = 1 // Nothing but zeros.
	}
	// Room above the bars for the legend.
	p.Y.Max += (p.Y.Max - p.Y.Min) * 0.06 * float64(min(8, 1+len(c.Series)))
	p.X.Min, p.X.Max = -0.6, float64(max(1, len(c.Categories)))-0.4

	if kind == PNG {
		canvas := vgimg.New(width, pictureHeight)
		p.Draw(draw.New(canvas))
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	}
	canvas := vgsvg.New(width, pictureHeight)
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// addBars adds the series, on each other or side by side. Stacked values of both signs go up and
// down from the axis, each onto those of its own sign.
func addBars(p *plot.Plot, c Chart, width vg.Length) error {
	if len(c.Categories) == 0 || len(c.Series) == 0 {
		return nil
	}
	abreast := 1
	if !c.Stacked {
		abreast = len(c.Series)
	}
	bar := width * 0.6 / vg.Length(len(c.Categories)*abreast)
	below, above := make([]float64, len(c.Categories)), make([]float64, len(c.Categories))
	for i, s := range c.Series {
		fill := palette[i%len(palette)]
		if c.Stacked {
			for n := range c.Categories {
				base := &above[n]
				if s.at(n).Sign() < 0 {
					base = &below[n]
				}
				next := *base + float(s.at(n))
				if next != *base {
					p.Add(block{float64(n), *base, next, bar, fill})
				}
				*base = next
			}
			p.Legend.Add(legend(s.Label), swatch{fill})
			continue
		}
		bars, err := plotter.NewBarChart(values(s, len(c.Categories)), bar)
		if err != nil {
			return fmt.Errorf("draw %s: %w", s.Label, err)
		}
		bars.Color, bars.LineStyle.Width = fill, 0
		bars.Offset = bar * (vg.Length(i) - vg.Length(abreast-1)/2)
		p.Add(bars)
		p.Legend.Add(legend(s.Label), bars)
	}
	return nil
}

// legend cuts a label to what does not cover the bars.
func legend(label string) string {
	runes := []rune(plain(label, false))
	if len(runes) > labelMax {
		return string(runes[:labelMax-1]) + "…"
	}
	return string(runes)
}

// block is one piece of a stack.
type block struct {
	x, from, to float64
	width       vg.Length
	fill        color.Color
}

// Plot draws the piece.
func (b block) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left, right := x(b.x)-b.width/2, x(b.x)+b.width/2
	c.FillPolygon(b.fill, []vg.Point{{X: left, Y: y(b.from)}, {X: right, Y: y(b.from)},
		{X: right, Y: y(b.to)}, {X: left, Y: y(b.to)}})
}

// DataRange tells the axes how far the piece reaches.
func (b block) DataRange() (xmin, xmax, ymin, ymax float64) {
	return b.x, b.x, min(b.from, b.to), max(b.from, b.to)
}

// swatch is a colour in the legend.
type swatch struct{ fill color.Color }

// Thumbnail draws the colour.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.fill, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y},
		{X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y}})
}

func addLine(p *plot.Plot, c Chart) error {
	if c.Line == nil || len(c.Categories) == 0 {
		return nil
	}
	points := make(plotter.XYs, len(c.Categories))
	for i := range points {
		points[i] = plotter.XY{X: float64(i), Y: float(c.Line.at(i))}
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("draw %s: %w", c.Line.Label, err)
	}
	line.Width = vg.Points(1.5)
	dots.Shape = draw.CircleGlyph{}
	p.Add(line, dots)
	p.Legend.Add(legend(c.Line.Label), line, dots)
	return nil
}

// values are those of a series, one for each category.
func values(s Series, n int) plotter.Values {
	out := make(plotter.Values, n)
	for i := range out {
		out[i] = float(s.at(i))
	}
	return out
}

// nameCategories names the places on the axis: all of a few, and every so many of more.
func nameCategories(p *plot.Plot, names []string) {
	every := max(1, (len(names)+namesMax-1)/namesMax)
	ticks := make(plot.ConstantTicks, 0, len(names))
	for i, name := range names {
		if i%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: plain(name, false)})
		}
	}
	p.X.Tick.Marker = ticks
}
