package payments

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

func requests(t *testing.T) map[string]*NewPayment {
	t.Helper()
	amount, err := money.Parse("5.50", "NZD")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 10, 30, 0, 123456789, time.UTC)
	return map[string]*NewPayment{
		"to an account": {Key: "k-1", AccountID: "payer", PayeeID: "payee", Amount: amount, At: at,
			Description: "rent", Data: []byte(`{"a":1}`)},
		"to a merchant": {
			Key:        "k-2",
			AccountID:  "payer",
			MerchantID: "cafe",
			Amount:     amount,
			At:         at,
		},
		"after a time": {
			Key: "k-3", AccountID: "payer", PayeeID: "payee", Amount: amount,
			After: new(36*time.Hour + time.Second),
		},
	}
}

// Ids and digests are stored with every payment. Were one to change, a repeated request would be
// another payment, or a conflict.
func TestIDsAndDigestsAreFrozen(t *testing.T) {
	var samples []frozen.Sample
	all := requests(t)
	for _, name := range []string{"to an account", "to a merchant", "after a time"} {
		digest, _ := digestV1(all[name])
		samples = append(samples,
			frozen.Sample{Name: "v1 digest " + name, Value: digest},
			frozen.Sample{Name: "v1 id " + name, Value: string(idOf(all[name]))},
		)
	}
	frozen.Check(t, "requests", samples...)
}

// A request grows a member, and gets a new version of its digest: requests that were stored before
// are still recognised, and the new member is a difference if it is set.
func TestARequestThatGrowsIsRecognised(t *testing.T) {
	old := requests(t)["to an account"]
	stored := requestDigests.Of(old)
	grown := false // Whether the request below sets the new member.
	v1 := requestDigests[0].Of
	versions := digests{
		{Version: "", Of: func(n *NewPayment) (string, string) {
			digest, beyond := v1(n)
			if grown {
				beyond = "fund"
			}
			return digest, beyond
		}},
		{Version: "2.", Of: func(n *NewPayment) (string, string) {
			digest, _ := v1(n)
			if grown {
				digest += "fund"
			}
			return digest, ""
		}},
	}
	if got := difference(versions, stored, old); got != "" {
		t.Errorf("the same request differs in %q from what was stored before it grew", got)
	}
	changed := *old
	changed.PayeeID = "another"
	if got := difference(versions, stored, &changed); got != "payeeId" {
		t.Errorf("another payee is a difference in %q", got)
	}
	grown = true
	if got := difference(versions, stored, old); got != "fund" {
		t.Errorf("the new member is a difference in %q", got)
	}
	if stored = versions.Of(old); difference(versions, stored, old) != "" {
		t.Errorf("a request of the new version is not recognised")
	}
}
