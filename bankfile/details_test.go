package bankfile_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

const cardOfTwo = "Date,Description,Card Member,Amount\n" +
	"2026-01-13,Tea,A READER,-3.40\n2026-01-14,Book,A READER,-12.00\n" +
	"2026-01-15,Cake,B READER,-4.10\n"

// detailsOf reads a text and returns the details and the keys of its entries.
func detailsOf(t *testing.T, text string, m *bankfile.Mapping) (texts []string,
	keys []bankfile.Key, left bankfile.Mapping) {
	t.Helper()
	r, err := read(text, bankfile.Options{Mapping: m})
	if err != nil {
		t.Fatal(err)
	}
	var k bankfile.Keys
	for _, e := range r.entries() {
		texts, keys = append(texts, e.Details), append(keys, k.Of("", e))
	}
	return texts, keys, r.file.Mapping()
}

// Words of columns without a role are kept, with the mapping that the file left as well, and they
// change no identity. A column that a person ignores stays ignored.
func TestWordsOfOtherColumnsAreDetails(t *testing.T) {
	texts, keys, left := detailsOf(t, cardOfTwo, nil)
	if texts[0] != "Card Member: A READER" || texts[2] != "Card Member: B READER" {
		t.Errorf("details %q", texts)
	}
	again, sameKeys, _ := detailsOf(t, cardOfTwo, &left)
	if again[0] != texts[0] || again[2] != texts[2] {
		t.Errorf("details with the mapping that the file left: %q", again)
	}
	if err := left.Answer(bankfile.ColumnTopic(bankfile.RoleIgnore), "Card Member"); err != nil {
		t.Fatal(err)
	}
	ignored, ignoredKeys, kept := detailsOf(t, cardOfTwo, &left)
	if ignored[0] != "" || ignored[2] != "" {
		t.Errorf("details of an ignored column: %q", ignored)
	}
	ignored, _, _ = detailsOf(t, cardOfTwo, &kept)
	if ignored[0] != "" {
		t.Errorf("the mapping forgot the ignored column: %q", ignored)
	}
	for i := range keys {
		if keys[i] != sameKeys[i] || keys[i] != ignoredKeys[i] {
			t.Errorf("row %d is known by %v, %v and %v", i, keys[i], sameKeys[i], ignoredKeys[i])
		}
	}
}
