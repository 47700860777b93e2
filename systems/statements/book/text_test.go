package book

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func TestAMerchantIsWhatIsCertain(t *testing.T) {
	for _, test := range []struct{ name, memo, merchant, text string }{
		{"COUNTDOWN AUCKLAND", "", "COUNTDOWN AUCKLAND", "COUNTDOWN AUCKLAND"},
		{"  Café \t Nero ", "Card purchase", "Café Nero", "Café Nero / Card purchase"},
		{"", "Interest paid", "Interest paid", "Interest paid"},
		{"", "", "", ""},
		{"SHOP ONE", "SHOP ONE", "SHOP ONE", "SHOP ONE"},
		{"SHOP 4835-****-****-1234", "", "SHOP", "SHOP 4835-****-****-1234"},
		{"4835 XXXX XXXX 1234 SHOP", "", "SHOP", "4835 XXXX XXXX 1234 SHOP"},
		{"SHOP ********1234 Df", "", "SHOP Df", "SHOP ********1234 Df"},
		{"************1234", "", "************1234", "************1234"},
		{"SHOP 13/08/2025", "", "SHOP", "SHOP 13/08/2025"},
		{"SHOP 2025-08-13 14:32", "", "SHOP", "SHOP 2025-08-13 14:32"},
		// What may belong to a name stays.
		{"7/11", "", "7/11", "7/11"},
		{"BAR 1234", "", "BAR 1234", "BAR 1234"},
		{"Route 13/08", "", "Route 13/08", "Route 13/08"},
		{"XXXX", "", "XXXX", "XXXX"},
		{"a\x00b", "", "a b", "a b"},
	} {
		e := &bankfile.Entry{Name: test.name, Memo: test.memo}
		if got := MerchantOf(e); got != test.merchant {
			t.Errorf("merchant of %q: got %q, want %q", test.name, got, test.merchant)
		}
		if got := TextOf(e); got != test.text {
			t.Errorf("text of %q: got %q, want %q", test.name, got, test.text)
		}
	}
}

func TestAMerchantIsFoundAgainInTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`([a-zé*x0-9/ \-]{0,30}|\x00|\xff| ){0,12}`)
		e := &bankfile.Entry{Name: words.Draw(t, "name"), Memo: words.Draw(t, "memo")}
		name, text := MerchantOf(e), TextOf(e)
		if len(name) > NameMax || len(text) > TextMax || !utf8.ValidString(name+text) {
			t.Fatalf("%q of %q", name, text)
		}
		if again := merchantName(name); again != name && !maskedCard.MatchString(name) &&
			!dateAtEnd.MatchString(name) {
			t.Errorf("the merchant %q has the merchant %q", name, again)
		}
		// A name that has the joint itself is cut short, which matters to this test only.
		joined := strings.Contains(PlainLine(e.Name)+" ", textJoint) ||
			e.Name == "" && strings.Contains(e.Memo, textJoint)
		if got := MerchantOfText(text); got != name && !joined && PlainLine(e.Name) != "" {
			t.Errorf("the text %q has the merchant %q, want %q", text, got, name)
		}
	})
}
