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
	"github.com/exchequer-dev/exchequer/server/rest/payload"
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
	Size     int               `json:"size,omitempty" minimum:"1" maximum:"1000"`
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
	if !errors.As(err, &e) || e.Code != "request_invalid" {
		t.Fatalf("got %v", err)
	}
	want := problem.Fields{
		{Name: "b", Wrong: "is not known here", In: problem.InBody},
		{Name: "type", Wrong: "must be a string", In: problem.InBody},
		{Name: "legs[0].amount", Wrong: `must be a string such as "5.50": many programs round JSON numbers`, In: problem.InBody},
		{Name: "legs[1]", Wrong: "must be an object", In: problem.InBody},
		{Name: "legs[2].x", Wrong: "is not known here", In: problem.InBody},
		{Name: "type", Wrong: "is given twice", In: problem.InBody},
		{Name: "legs[0].accountId", Wrong: "is missing", In: problem.InBody},
		{Name: "legs[0].type", Wrong: "is missing", In: problem.InBody},
		{Name: "legs[2].accountId", Wrong: "is missing", In: problem.InBody},
		{Name: "legs[2].type", Wrong: "is missing", In: problem.InBody},
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

// What is sent is a value, also where the struct cannot tell it from what was left out.
func TestDecodeRefusesWhatLooksAbsent(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"t","description":""}`: "description is empty: give it a value, or leave it out",
		`{"type":"t","merchantId":""}`:  "merchantId is empty: give it a value, or leave it out",
		`{"type":"t","size":0}`:         "size must be 1 to 1000",
		`{"type":"t","size":1001}`:      "size must be 1 to 1000",
		`{"type":"t","size":9223372036854775808}`: "size must be a whole number of at most 19 " +
			"digits, and not above 9223372036854775807",
		`{"type":"t","description":"a\u0000"}`:      "description must not have control characters",
		`{"type":"t","description":"\u202ea"}`:      "description must not have characters that",
		`{"type":"t","description":"\ud800"}`:       "description must not have half of a",
		`{"type":"t","description":"\udc00\ud800"}`: "description must not have half of a",
		`{"type":"t","metadata":{"a\n":"x"}}`:       "metadata.a\n is a name that must not have",
		`{"type":"t","legs":[null]}`:                "legs[0] must not be null",
		`{"memo":"m"}`:                              "memo is not known here; type is missing",
	} {
		_, err := decode([]byte(body))
		var told []string
		for _, f := range problem.From(err).Fields {
			told = append(told, f.Name+" "+f.Wrong)
		}
		if !strings.HasPrefix(strings.Join(told, "; "), want) {
			t.Errorf("%s: told %q, want %q", body, told, want)
		}
	}
	if p, err := decode([]byte(`{"type":"t","size":1000,"pending":false,"count":0,
		"description":"two\nlines \ud83d\ude00","metadata":{"a":""}}`)); err != nil || *p.Count != 0 ||
		p.Description != "two\nlines 😀" {
		t.Errorf("read %+v, %v", p, err)
	}
}

func TestDecodeTellsWhereJSONEnds(t *testing.T) {
	for body, offset := range map[string]string{
		`{"a":}`: "6", `{"a":1`: "6", `{"type":"é` + "\xff" + `"}`: "11", `{}x`: "3",
	} {
		_, err := decode([]byte(body))
		if e := problem.From(err); e.Code != "body_malformed" || e.Details["offset"] != offset {
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
