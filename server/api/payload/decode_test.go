package payload_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/api/payload"
)

// posting is a body as the API has them.
type posting struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	MerchantID  string `json:"merchantId,omitempty"`
	Money
	Legs     []leg             `json:"legs,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Count    *int              `json:"count,omitempty"`
	Pending  bool              `json:"pending,omitempty"`
}

type leg struct {
	AccountID string `json:"accountId"`
	Type      string `json:"type"`
	Money
}

type Money struct {
	Amount   payload.Decimal `json:"amount,omitempty"`
	Currency string          `json:"currency,omitempty"`
}

func decode(body []byte) (posting, error) {
	var p posting
	err := payload.ShapesOf(reflect.TypeFor[posting]()).Decode(body, &p)
	return p, err
}

func TestDecodeTakesWhatIsRight(t *testing.T) {
	got, err := decode([]byte(` {
		"type" : "payment", "merchantId": null, "description": "a \"b\" \\ {[,:]} \u00e9 é",
		"metadata": {"a":"1", "A":"2", "": ""},
		"legs": [ {"accountId":"x","type":"debit","amount":"1.0","currency":"USD"} , {} ],
		"amount": null
	} `))
	if err != nil {
		t.Fatal(err)
	}
	if got.Type != "payment" || got.Description != `a "b" \ {[,:]} é é` || len(got.Legs) != 2 ||
		got.Legs[0].Amount != "1.0" || got.MerchantID != "" || got.Amount != "" {
		t.Errorf("got %+v", got)
	}
	want := map[string]string{"a": "1", "A": "2", "": ""}
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestDecodeTellsEveryFault(t *testing.T) {
	body := `{"b":1,"type":2,"legs":[{"amount":1},3,{"x":{"y":[]}}],"type":"t"}`
	_, err := decode([]byte(body))
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != "invalid_body" {
		t.Fatalf("got %v", err)
	}
	want := problem.Fields{
		{Name: "b", Wrong: "is not known here"},
		{Name: "type", Wrong: "must be a string"},
		{Name: "legs[0].amount", Wrong: `must be a string such as "5.50": many programs round JSON numbers`},
		{Name: "legs[1]", Wrong: "must be an object"},
		{Name: "legs[2].x", Wrong: "is not known here"},
		{Name: "type", Wrong: "is given twice"},
	}
	if diff := cmp.Diff(want, e.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestDecodeTellsNoMoreFaultsThanAPersonReads(t *testing.T) {
	var body strings.Builder
	for i := range 100 {
		fmt.Fprintf(&body, `,"m%d":1`, i)
	}
	_, err := decode([]byte("{" + body.String()[1:] + "}"))
	if e := problem.From(err); len(e.Fields) != payload.FaultsMax {
		t.Errorf("%d fields are told", len(e.Fields))
	}
}

func TestDecodeTellsWhereJSONEnds(t *testing.T) {
	for body, offset := range map[string]string{
		`{"a":}`: "6", `{"a":1`: "6", `{"type":"é` + "\xff" + `"}`: "11", `{}x`: "3",
	} {
		_, err := decode([]byte(body))
		if e := problem.From(err); e.Code != "malformed_json" || e.Details["offset"] != offset {
			t.Errorf("%s: %v", body, e)
		}
	}
}

// Whatever arrives, decode neither breaks nor guesses: what it takes is read as encoding/json reads
// it with unknown members refused, and is the same after another round.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"type":"payment","amount":"5.50","currency":"USD"}`,
		`{"legs":[{"accountId":"a","type":"debit","amount":"1","currency":"USD"},null]}`,
		`{"metadata":{"a":"b","c":null}}`, `{"type":"a","type":"b"}`, `{"\u0074ype":"x"}`,
		`{"amount":5.50}`, `{"type":{"a":[1,{"b":"]}"}]}}`, "{\"type\":\"\xff\"}", ` { } `,
		`{"":1}`, `{"count":-3,"pending":true}`, `{"count":1.0}`, `{"count":1e99}`,
		`{"count":99999999999999999999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decode(body)
		if err != nil {
			if kind := problem.KindOf(err); kind != problem.Invalid {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		var plain posting
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&plain); err != nil || !cmp.Equal(got, plain) {
			t.Fatalf("%q: %+v, but encoding/json says %+v, %v", body, got, plain, err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode(text); err != nil ||
			!cmp.Equal(got, again, cmpopts.EquateEmpty()) {
			t.Fatalf("%q became %s: %+v, %v", body, text, again, err)
		}
	})
}
