package locations_test

import (
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func TestCode(t *testing.T) {
	for _, c := range []struct{ typed, shown, key string }{
		{"austin-main-01", "austin-main-01", "austin-main-01"},
		{"AKL-01", "AKL-01", "akl-01"},
		{"  akl-01\t", "akl-01", "akl-01"},
		{"akl–01", "akl-01", "akl-01"}, // En dash
		{"akl—01", "akl-01", "akl-01"}, // Em dash
		{"akl−01", "akl-01", "akl-01"}, // Minus sign
		{"ＡＫＬ－０１", "AKL-01", "akl-01"},
		{"007", "007", "007"},
		{"7", "7", "7"},
		{"a.b_c", "a.b_c", "a.b_c"},
		{strings.Repeat("x", 64), strings.Repeat("x", 64), strings.Repeat("x", 64)},
	} {
		shown, key, err := locations.Code(c.typed)
		if err != nil || shown != c.shown || key != c.key {
			t.Errorf("%q is %q, %q, %v", c.typed, shown, key, err)
		}
	}
	for _, typed := range []string{
		"", "   ", "akl 01", "akl#01", "akl%01", "-akl", ".akl", "akl/01", "ākl", "а", "a\x00",
		"a\xff", strings.Repeat("x", 65),
	} {
		_, _, err := locations.Code(typed)
		wants(t, err, locations.ErrInvalidCode)
	}
}

func TestIDsAreULIDs(t *testing.T) {
	id, err := locations.ParseID("01arz3ndektsv4rrffq69g5fav")
	if err != nil || id != "01ARZ3NDEKTSV4RRFFQ69G5FAV" ||
		!id.Created().Equal(time.UnixMilli(1469922850259)) {
		t.Error(id, id.Created().UnixMilli(), err)
	}
	for _, text := range []string{
		"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
		"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA#",
	} {
		if _, err := locations.ParseID(text); err == nil {
			t.Errorf("%q is an id", text)
		}
	}
	d := open(t, locations.Options{})
	first := d.create(named("a", "A")).ID
	d.pass(time.Millisecond)
	second := d.create(named("b", "B")).ID
	if first >= second || !first.Created().Equal(clockStart) {
		t.Errorf("%s, made at %s, and then %s", first, first.Created(), second)
	}
}
