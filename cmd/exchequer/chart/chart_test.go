package chart_test

import (
	"bytes"
	"errors"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/chart"
	"github.com/exchequer-dev/exchequer/money"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// decimals reads the values of a test.
func decimals(t *testing.T, texts ...string) []money.Decimal {
	t.Helper()
	var out []money.Decimal
	for _, text := range texts {
		d, err := money.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// spending and flow are the two charts of reports.
func spending(t *testing.T) chart.Chart {
	return chart.Chart{Title: "Spending by tag", Unit: "NZD", Digits: 2, Stacked: true,
		Categories: []string{"2026-01", "2026-02", "2026-03"},
		Series: []chart.Series{
			{Label: "Groceries", Values: decimals(t, "412.5", "0", "388.05")},
			{Label: "Eating out & cafés", Values: decimals(t, "80", "121.4", "-12")},
			{Label: "A label that is far too long to be shown whole", Values: decimals(t, "5")},
		}}
}

func flow(t *testing.T) chart.Chart {
	return chart.Chart{Title: "Cash flow", Unit: "JPY",
		Categories: []string{"2026-01", "2026-02"},
		Series: []chart.Series{
			{Label: "In", Values: decimals(t, "300000", "1")},
			{Label: "Out", Values: decimals(t, "-250000", "-320000")},
		},
		Line: &chart.Series{Label: "Net", Values: decimals(t, "50000", "-319999")}}
}

func text(t *testing.T, c chart.Chart, o chart.TextOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := chart.Text(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func picture(t *testing.T, c chart.Chart, kind chart.Picture) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := chart.Draw(&out, c, kind); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestChartsAreDrawnAsTheyAlwaysWere(t *testing.T) {
	many := flow(t)
	many.Line = nil
	for len(many.Categories) < 60 {
		many.Categories = append(many.Categories, "x")
	}
	for name, got := range map[string][]byte{
		"spending.txt":    text(t, spending(t), chart.TextOptions{}),
		"flow.txt":        text(t, flow(t), chart.TextOptions{Width: 60}),
		"flow-ascii.txt":  text(t, flow(t), chart.TextOptions{Width: 60, ASCII: true}),
		"flow-color.txt":  text(t, flow(t), chart.TextOptions{Width: 50, Color: true}),
		"ascii.txt":       text(t, spending(t), chart.TextOptions{ASCII: true, Width: 70}),
		"nothing.txt":     text(t, chart.Chart{Title: "Nothing"}, chart.TextOptions{}),
		"spending.svg":    picture(t, spending(t), chart.SVG),
		"flow.svg":        picture(t, flow(t), chart.SVG),
		"many-months.svg": picture(t, many, chart.SVG),
		"nothing.svg":     picture(t, chart.Chart{Title: "Nothing"}, chart.SVG),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPictureIsTheSameBytesAgain(t *testing.T) {
	for _, kind := range chart.Pictures() {
		if !bytes.Equal(picture(t, flow(t), kind), picture(t, flow(t), kind)) {
			t.Errorf("two %s of the same chart differ", kind)
		}
	}
}

func TestAPNGShowsTheColoursOfItsSeries(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(picture(t, spending(t), chart.PNG)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	for _, c := range [][3]uint32{{0, 0x72, 0xb2}, {0xe6, 0x9f, 0}} {
		if seen[c] < 1000 {
			t.Errorf("colour %v has %d points", c, seen[c])
		}
	}
}

func TestAnUnknownKindAndABrokenWriterAreErrors(t *testing.T) {
	if err := chart.Draw(&bytes.Buffer{}, flow(t), "gif"); err == nil {
		t.Error("a gif is drawn")
	}
	broken := errors.New("the disk is full")
	for _, kind := range chart.Pictures() {
		if err := chart.Draw(failing{broken}, flow(t), kind); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", kind, err)
		}
	}
	err := chart.Text(failing{broken}, flow(t), chart.TextOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("text: got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestTextStaysWithinItsWidth draws random charts.
func TestTextStaysWithinItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := chart.Chart{Digits: rapid.IntRange(0, 3).Draw(t, "digits")}
		for range rapid.IntRange(0, 4).Draw(t, "categories") {
			c.Categories = append(c.Categories, rapid.StringN(0, 12, -1).Draw(t, "category"))
		}
		for range rapid.IntRange(0, 4).Draw(t, "series") {
			s := chart.Series{Label: rapid.StringN(0, 40, -1).Draw(t, "label")}
			for range rapid.IntRange(0, 5).Draw(t, "values") {
				d, err := money.NewDecimal(rapid.Int64Range(-1e9, 1e9).Draw(t, "value"), 2)
				if err != nil {
					t.Fatal(err)
				}
				s.Values = append(s.Values, d)
			}
			c.Series = append(c.Series, s)
		}
		width := rapid.IntRange(70, 200).Draw(t, "width")
		ascii := rapid.Bool().Draw(t, "ascii")
		var out bytes.Buffer
		if err := chart.Text(&out, c, chart.TextOptions{Width: width, ASCII: ascii}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Fatalf("%d columns of %d: %q", n, width, line)
			}
			if ascii && strings.ContainsFunc(line, func(r rune) bool { return r >= 0x7f }) {
				t.Fatalf("not ASCII: %q", line)
			}
		}
		if err := chart.Draw(&bytes.Buffer{}, c, chart.SVG); err != nil {
			t.Fatal(err)
		}
	})
}
