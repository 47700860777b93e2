package singletable_test

import (
	"testing"

	st "github.com/exchequer-dev/exchequer/singletable"
)

// order is a request that has grown: Note came with the second version.
type order struct{ Item, Note string }

var orderDigests = st.Digests[order]{
	{Version: "", Of: func(o order) (string, string) {
		if o.Note != "" {
			return o.Item, "note"
		}
		return o.Item, ""
	}},
	{Version: "2.", Of: func(o order) (string, string) { return o.Item + "|" + o.Note, "" }},
}

func TestADigestOfAnOldVersionStaysComparable(t *testing.T) {
	for _, c := range []struct {
		name, stored   string
		request        order
		same           bool
		beyond, digest string
	}{
		{"the same request, stored by the first version", "tea", order{Item: "tea"},
			true, "", "tea"},
		{"another request, stored by the first version", "tea", order{Item: "milk"},
			false, "", "milk"},
		{"a member that the first version does not have", "tea", order{"tea", "hot"}, true, "note",
			"tea"},
		{"the same request, stored by the second version", "2.tea|hot",
			order{"tea", "hot"}, true, "",
			"2.tea|hot"},
		{"another request, stored by the second version", "2.tea|hot", order{"tea", ""}, false, "",
			"2.tea|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			digest, beyond, ok := orderDigests.Like(c.stored, c.request)
			if !ok || digest != c.digest || beyond != c.beyond || (digest == c.stored) != c.same {
				t.Errorf("got %q, beyond %q, known %t", digest, beyond, ok)
			}
		})
	}
	if got := orderDigests.Of(order{"tea", "hot"}); got != "2.tea|hot" {
		t.Errorf("a new request has the digest %q", got)
	}
}

func TestADigestOfAnUnknownVersionIsNotCompared(t *testing.T) {
	later := st.Digests[order]{{Version: "a", Of: orderDigests[0].Of}}
	for _, stored := range []string{"", "b1234"} {
		if _, _, ok := later.Like(stored, order{Item: "tea"}); ok {
			t.Errorf("the stored digest %q has a known version", stored)
		}
	}
}
