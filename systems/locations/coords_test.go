package locations_test

import (
	"math"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func TestParsePoint(t *testing.T) {
	const s, e = -41.288889, 174.777222
	for _, c := range []struct {
		lat, lng  string
		wantLat   float64
		wantLng   float64
		precision float64
	}{
		{"-41.288889", "174.777222", s, e, 0},
		{"+41.288889", "-174.777222", -s, -e, 0},
		{"−41.288889", "174.777222", s, e, 0}, // Minus sign
		{"41.288889S", "174.777222E", s, e, 0},
		{"S41.288889", "E174.777222", s, e, 0},
		{"s 41.288889", "174.777222 e", s, e, 0},
		{"41.288889° S", "174.777222° E", s, e, 0},
		{"-41,288889", "174,777222", s, e, 0}, // Decimal commas
		{`41°17'20"S`, `174°46'38"E`, s, e, 1e-6},
		{"41° 17′ 20″ S", "174° 46′ 38″ E", s, e, 1e-6},
		{"41 17 20 S", "174 46 38 E", s, e, 1e-6},
		{"S 41:17:20", "E 174:46:38", s, e, 1e-6},
		{"41d17m20s S", "174d46m38s E", s, e, 1e-6},
		{"51d30m26s", "-0.1275", 51.507222, -0.1275, 1e-6}, // The s marks the seconds.
		{"N41d17m20s", "E174d46m38s", -s, e, 1e-6},
		{"S 41 d 17 m 20 s", "174d46m38.0sE", s, e, 1e-6},
		{"41d17m20S", "174d46m38s", s, e, 1e-6},
		{"41°17'20\"s", "174d46m e", s, 174.766667, 1e-6},
		{"-41 17 20", "174 46 38", s, e, 1e-6},
		{"41° 17.33334' S", "174° 46.63332' E", s, e, 1e-6},
		{"0", "-180", 0, -180, 0},
		{"1.23456N", "0", 1.23456, 0, 0},
		{"S41.28", "0", -41.28, 0, 0},
		{"90", "180", 90, 180, 0},
	} {
		p, err := locations.ParsePoint(c.lat, c.lng)
		if err != nil || math.Abs(p.Lat-c.wantLat) > c.precision ||
			math.Abs(p.Lng-c.wantLng) > c.precision {
			t.Errorf("%q, %q is %v, %v", c.lat, c.lng, p, err)
		}
	}
	for _, c := range []struct{ lat, lng, says string }{
		{"91", "10", "swapped"}, {"174.77", "-41.28", "swapped"}, {"181", "10", "outside"},
		{"10", "181", "outside"}, {"E53.51", "N12.35", "letter E"}, {"S -41", "174", "sign"},
		{"10N S", "1", "no coordinate"}, {"", "1", "no coordinate"}, {"1", "", "no coordinate"},
		{"abc", "1", "no coordinate"}, {"1.5 30 0", "1", "no coordinate"},
		{"41 60 0", "1", "no coordinate"}, {"--41", "1", "no coordinate"},
		{"1e1", "1", "no coordinate"}, {"NaN", "1", "no coordinate"}, {"Inf", "1", "no coordinate"},
		{"0x10", "1", "no coordinate"}, {"1_0", "1", "no coordinate"},
	} {
		_, err := locations.ParsePoint(c.lat, c.lng)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %q says %v, want %q", c.lat, c.lng, err, c.says)
		}
	}
}

func TestParsePair(t *testing.T) {
	for _, text := range []string{
		"45.69, -87.51", "45.69,-87.51", "45.69;-87.51", "45.69 -87.51", "(45.69, -87.51)",
		"45.69N 87.51W", "N45.69 W87.51", "N45.69W87.51", "45.69N87.51W", "87.51W, 45.69N",
		"45,69; -87,51", "45,69,-87,51", "geo:45.69,-87.51", "geo:45.69,-87.51?z=12",
		"https://maps.example/maps/@45.69,-87.51,17z", `45°41'24"N 87°30'36"W`,
		"45° 41′ 24″ N, 87° 30′ 36″ W", "45 41 24 N 87 30 36 W", "[45.69, -87.51]",
		"45d41m24s N 87d30m36s W", "45d41m24s, -87d30m36s", "45d41m24s -87d30m36s",
	} {
		p, err := locations.ParsePair(text)
		if err != nil || math.Abs(p.Lat-45.69) > 1e-9 || math.Abs(p.Lng+87.51) > 1e-9 {
			t.Errorf("%q is %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "45.69", "here", "95, 87", "1,2,3", "N45 N46"} {
		if p, err := locations.ParsePair(text); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
}

func FuzzParsePair(f *testing.F) {
	f.Add("45.69, -87.51")
	f.Add(`41°17'20"S 174°46'E`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := locations.ParsePair(text)
		if err == nil && (math.Abs(p.Lat) > 90 || math.Abs(p.Lng) > 180 || p.Lat != p.Lat) {
			t.Errorf("%q is %v", text, p)
		}
	})
}
