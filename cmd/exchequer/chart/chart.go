// Package chart draws series of amounts as text for a terminal and as pictures.
package chart

import (
	"errors"
	"io"

	"github.com/exchequer-dev/exchequer/money"
)

// Chart is what is drawn: series of values over categories, which are months most often.
type Chart struct {
	Title string
	// Unit stands at the axis of values: a currency, most often.
	Unit string
	// Categories name the places of the values of all series.
	Categories []string
	Series     []Series
	// Line, if set, is drawn over the bars: what remains, most often.
	Line *Series
	// Stacked puts the bars of a category on each other in place of side by side.
	Stacked bool
	// Digits is how many digits after the point values have, 2 for most currencies.
	Digits int
}

// Series is one colour of a chart. It has a value for each category; those that are missing are
// zero.
type Series struct {
	Label  string
	Values []money.Decimal
}

// TextOptions say how text is drawn.
type TextOptions struct {
	// Width is how many columns there are; 0 means 80.
	Width int
	// ASCII draws without any other characters.
	ASCII bool
	// Color uses the colours of terminals.
	Color bool
}

// Picture is a kind of picture.
type Picture string

// The kinds of pictures.
const (
	SVG Picture = "svg"
	PNG Picture = "png"
)

var errUnbuilt = errors.New("not there yet")

// Text draws the chart as lines of text.
func Text(w io.Writer, c Chart, o TextOptions) error { return errUnbuilt }

// Draw draws the chart as a picture.
func Draw(w io.Writer, c Chart, kind Picture) error { return errUnbuilt }
