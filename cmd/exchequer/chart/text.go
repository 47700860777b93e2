package chart

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
)

// WidthDefault is the width of text where none is given; no bar is shorter than barMin, however
// narrow the terminal.
const (
	WidthDefault = 80
	widthMin     = 30
	barMin       = 8
	// labelMax bounds the columns of labels.
	labelMax = 24
)

// TextOptions say how text is drawn.
type TextOptions struct {
	// Width is how many columns there are; 0 means WidthDefault, and less than 30 is taken as 30.
	Width int
	// ASCII draws without any other characters.
	ASCII bool
	// Color uses the colours of terminals.
	Color bool
}

// eighths are the ends of bars by eighths of a column.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// colors of terminals, one for each series.
var colors = []int{34, 33, 32, 31, 35, 36}

// Text draws the chart as lines of text: for each category a bar of each series with its value.
// Bars to the left of the axis are negative. The error is that of the writer.
func Text(w io.Writer, c Chart, o TextOptions) error {
	if o.Width == 0 {
		o.Width = WidthDefault
	}
	o.Width = max(o.Width, widthMin)
	d := &textDrawing{c: c, o: o}
	d.measure()
	d.draw()
	_, err := io.WriteString(w, d.out.String())
	return err
}

// textDrawing is text that is being drawn.
type textDrawing struct {
	c   Chart
	o   TextOptions
	out strings.Builder

	categories, labels, values int // Widths of columns.
	bars, zero                 int // The width for bars, and how much of it is left of the axis.
	least, most                money.Decimal
}

// measure divides the width.
func (d *textDrawing) measure() {
	for _, name := range d.c.Categories {
		d.categories = min(max(d.categories, utf8.RuneCountInString(name)), labelMax)
	}
	for _, s := range d.lines() {
		d.labels = min(max(d.labels, utf8.RuneCountInString(s.Label)), labelMax)
		for i := range d.c.Categories {
			v := s.at(i)
			d.values = max(d.values, len(v.Text(d.c.Digits)))
			if v.Cmp(d.least) < 0 {
				d.least = v
			}
			if v.Cmp(d.most) > 0 {
				d.most = v
			}
		}
	}
	d.bars = max(barMin, d.o.Width-d.categories-d.labels-d.values-6)
	below, above := -float(d.least), float(d.most)
	if below+above > 0 {
		d.zero = int(float64(d.bars)*below/(below+above) + 0.5)
	}
	if below > 0 {
		d.zero = max(d.zero, 1)
	}
	if above > 0 {
		d.zero = min(d.zero, d.bars-1)
	}
}

// lines are all series, the line over the bars among them.
func (d *textDrawing) lines() []Series {
	if d.c.Line == nil {
		return d.c.Series
	}
	return append(d.c.Series[:len(d.c.Series):len(d.c.Series)], *d.c.Line)
}

func (d *textDrawing) draw() {
	if d.c.Title != "" {
		d.out.WriteString(plain(d.c.Title, d.o.ASCII))
		if d.c.Unit != "" {
			fmt.Fprintf(&d.out, " (%s)", plain(d.c.Unit, d.o.ASCII))
		}
		d.out.WriteString("\n\n")
	}
	lines := d.lines()
	for i, category := range d.c.Categories {
		for n, s := range lines {
			name := ""
			if n == 0 {
				name = category
			}
			row := fmt.Sprintf("%s  %s %s %*s", d.padded(name, d.categories),
				d.padded(s.Label, d.labels), d.bar(s.at(i), n), d.values, s.at(i).Text(d.c.Digits))
			d.out.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if len(lines) > 1 && i < len(d.c.Categories)-1 {
			d.out.WriteByte('\n')
		}
	}
	if len(d.c.Categories) == 0 || len(lines) == 0 {
		d.out.WriteString("(nothing)\n")
	}
}

// bar draws one value, in all columns of bars and the axis.
func (d *textDrawing) bar(v money.Decimal, series int) string {
	left, right, axis := d.zero, d.bars-d.zero, "│"
	if d.o.ASCII {
		axis = "|"
	}
	before, after := strings.Repeat(" ", left), strings.Repeat(" ", right)
	switch size := float(v); {
	case size < 0:
		full := int(float64(left)*size/float(d.least) + 0.5)
		full = min(max(full, 1), left)
		before = strings.Repeat(" ", left-full) + d.colored(strings.Repeat(d.block(), full), series)
	case size > 0:
		parts := int(float64(right)*8*size/float(d.most) + 0.5)
		parts = min(max(parts, 1), right*8)
		full, end := parts/8, eighths[parts%8]
		if d.o.ASCII {
			full, end = min(right, max(1, (parts+4)/8)), ""
		}
		used := full + utf8.RuneCountInString(end)
		after = d.colored(strings.Repeat(d.block(), full)+end, series) +
			strings.Repeat(" ", right-used)
	}
	return before + axis + after
}

func (d *textDrawing) block() string {
	if d.o.ASCII {
		return "#"
	}
	return "█"
}

func (d *textDrawing) colored(text string, series int) string {
	if !d.o.Color {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colors[series%len(colors)], text)
}

// padded fills a text up to some columns, or cuts it.
func (d *textDrawing) padded(text string, width int) string {
	text = plain(text, d.o.ASCII)
	runes := []rune(text)
	if len(runes) > width {
		end := "…"
		if d.o.ASCII {
			end = "~"
		}
		text = string(runes[:max(0, width-1)]) + end
	}
	return text + strings.Repeat(" ", max(0, width-len(runes)))
}

// plain takes out of a text what would move the cursor of a terminal or, if asked, what is not
// ASCII.
func plain(text string, ascii bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError:
			return '?'
		case ascii && r >= 0x7f:
			return '?'
		}
		return r
	}, text)
}
