package statements

import (
	"bytes"
	"strings"
	"testing"
)

// TestTheLastYearIsReadLikeAnyOther has rows in the last month that dates can name, behind which
// there is no other one to stop at.
func TestTheLastYearIsReadLikeAnyOther(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a")
	put(t, p,
		Transaction{AccountID: "a", ID: "near", Date: "1970-01-05", Amount: dec("-1")},
		Transaction{AccountID: "a", ID: "far", Date: "9999-12-31", Amount: dec("-2")})
	for _, latest := range []bool{false, true} {
		found, err := p.Search(t.Context(), Search{From: "9999-01-01", To: "9999-12-31",
			Latest: latest}, 10, "")
		if err != nil || len(found.Transactions) != 1 || found.Next != "" {
			t.Errorf("latest first %t: %+v, %v", latest, found, err)
		}
	}
	spent, err := p.Spending(t.Context(), SpendingQuery{From: "9999-12-01", To: "9999-12-31"})
	if err != nil || len(spent.Months) != 1 || spent.Currencies[0].Total.Out != dec("-2") {
		t.Errorf("spending: %+v, %v", spent, err)
	}
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Rows != 2 || c.Differ != 0 {
		t.Errorf("check: %+v", c)
	}
	var out bytes.Buffer
	done, err := p.Export(t.Context(), &out, Export{Format: ExportJSONLines})
	if err != nil || done.Rows != 2 || !strings.Contains(out.String(), "9999-12-31") {
		t.Errorf("export: %+v, %v\n%s", done, err, &out)
	}
	erased, err := p.EraseAccount(t.Context(), "a", nil)
	if err != nil || erased.Transactions != 2 {
		t.Errorf("erase: %+v, %v", erased, err)
	}
}
