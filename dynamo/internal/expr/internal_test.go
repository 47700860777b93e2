package expr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestReservedWords(t *testing.T) {
	if len(reservedWords) != 573 {
		t.Errorf("%d words, want 573", len(reservedWords))
	}
	if !slices.IsSorted(reservedWords[:]) {
		t.Error("the words are not in order, which the search relies on")
	}
	longest := 0
	for _, word := range reservedWords {
		longest = max(longest, len(word))
		if !isReserved(word) || !isReserved(strings.ToLower(word)) {
			t.Errorf("%s is not found", word)
		}
	}
	if longest != longestReserved {
		t.Errorf("the longest word has %d letters, not %d", longest, longestReserved)
	}
	for _, name := range []string{"PK", "SK", "Balance", "REMOVE", "", "STATUSES", "A"} {
		if isReserved(name) {
			t.Errorf("%q is taken for a reserved word", name)
		}
	}
}

func TestParserForgetsWhatIsTooMuch(t *testing.T) {
	p := NewParser()
	hot := texts{kindCondition: "attribute_exists(PK)"}
	kept := 0
	for i := range 3 * cachedPlansMax {
		padding := strings.Repeat(" ", i%2000)
		p.plan(&texts{kindCondition: fmt.Sprintf("a%d = b%s", i, padding)})
		if before := p.plan(&hot); before == p.plan(&hot) {
			kept++
		}
		p.mu.Lock()
		published, bytes := p.publishedLen(), p.total+p.bytes
		p.mu.Unlock()
		if published > cachedPlansMax || bytes > 2*cachedBytesMax+kindCountBytes {
			t.Fatalf("after %d texts: %d plans, %d bytes", i, published, bytes)
		}
	}
	if kept < 2*cachedPlansMax {
		t.Errorf("a text in constant use was parsed anew %d times", 3*cachedPlansMax-kept)
	}
}

// kindCountBytes is the most that one call's texts can have.
const kindCountBytes = int(kindCount) * textMax

func TestParserReadsPublishedPlansWithoutLock(t *testing.T) {
	p := NewParser()
	hot := texts{kindCondition: "attribute_exists(PK)"}
	for range 3 {
		p.plan(&hot)
	}
	p.mu.Lock() // A reader that needed the lock would wait for ever.
	defer p.mu.Unlock()
	if p.plan(&hot) == nil {
		t.Error("no plan")
	}
}
