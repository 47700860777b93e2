package statements

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestWordsAreFoundAsAPersonTypesThem(t *testing.T) {
	row := &Transaction{
		Merchant: "Café  Ōtepoti", Text: "VISA PURCHASE  4021 DUNEDIN", Notes: "With Aroha",
		Tags: []string{"Eating Out"}, Reference: "INV-2041",
		Annotations: []Annotation{{Text: "looks like a double"}},
		Splits:      []Split{{Notes: "tip", Tags: []string{"Gifts"}}},
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", true}, {"   ", true}, {"café", true}, {"CAFÉ", true}, {"cafe", false},
		{"ōtepoti visa", true}, {"visa nothere", false}, {`"visa purchase 4021"`, true},
		{`"purchase visa"`, false}, {`"dunedin with"`, false}, {`-visa`, false},
		{`-nothere`, true}, {`café -nothere`, true}, {`café -"visa purchase"`, false},
		{"nothere OR café", true}, {"nothere OR elsewhere", false},
		{"nothere OR café aroha", true}, {"café aroha OR nothere", true},
		{"café OR aroha nothere", false}, {"nothere OR -elsewhere", true},
		{"inv-2041", true}, {"double", true}, {"eating", true}, {"gifts tip", true},
		{`"unfinished`, false}, {`"eating out`, true}, {"OR", false}, {"café OR", true},
		{`"OR"`, false}, {`-`, true}, {`""`, true},
	} {
		w, why := parseWords(c.text)
		if why != "" {
			t.Errorf("%s: %s", c.text, why)
		}
		if got := w.match(row); got != c.want {
			t.Errorf("%s: found %t, want %t", c.text, got, c.want)
		}
	}
}

// searchRow draws a row of a search's test.
func searchRow(t *rapid.T, i int) Transaction {
	row := *anyRow(t, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "account"), "")
	row.ID = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"t", "#", "%", "a$"}).Draw(t, "id"), i)
	row.Text = rapid.SampledFrom([]string{"", "visa", "eftpos"}).Draw(t, "text")
	row.Pending = rapid.Bool().Draw(t, "pending")
	return row
}

// anySearch draws what to search for.
func anySearch(t *rapid.T) Search {
	s := Search{From: Date(fmt.Sprintf("2025-0%d-1%d", rapid.IntRange(1, 3).Draw(t, "from"),
		rapid.IntRange(0, 9).Draw(t, "day"))), To: "2025-03-31",
		Latest: rapid.Bool().Draw(t, "latest"), Unsigned: rapid.Bool().Draw(t, "unsigned")}
	few := func(what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }
	if few("some accounts") {
		s.Accounts = []string{"a", "c"}
	}
	if few("words") {
		s.Text = rapid.SampledFrom([]string{"visa", "-visa", "visa OR market"}).Draw(t, "text")
	}
	if few("least") {
		d := money.DecimalFromInt(int64(rapid.IntRange(-4, 4).Draw(t, "least")))
		s.AmountFrom = &d
	}
	if few("tags") {
		s.TagIDs = []string{"a", rapid.SampledFrom([]string{"b", "d"}).Draw(t, "tag")}
		s.AnyTag = rapid.Bool().Draw(t, "any")
	} else if few("untagged") {
		s.Untagged = true
	}
	if few("merchant") {
		s.Merchant = "Market"
	}
	if few("currency") {
		s.Currency = "EUR"
	}
	if few("pending") {
		pending := rapid.Bool().Draw(t, "is pending")
		s.Pending = &pending
	}
	if few("transfer") {
		transfer := rapid.Bool().Draw(t, "is transfer")
		s.Transfer = &transfer
	}
	return s
}

// TestASearchFindsWhatIsThere compares pages of random sizes with all rows, looked at one by one.
func TestASearchFindsWhatIsThere(t *testing.T) {
	s := newShelf(t, Options{})
	round := 0
	rounds(t, 40)
	rapid.Check(t, func(r *rapid.T) {
		round++
		p := s.user(t, fmt.Sprintf("user-%d", round), "a", "b", "c")
		var rows []Transaction
		for i := range rapid.IntRange(0, 25).Draw(r, "rows") {
			rows = append(rows, searchRow(r, i))
		}
		put(r, p, rows...)
		for range 3 {
			q := anySearch(r)
			w, _ := parseWords(q.Text)
			var want []Transaction
			for _, row := range rows {
				in := row.Date >= q.From && row.Date <= q.To &&
					(len(q.Accounts) == 0 || slices.Contains(q.Accounts, row.AccountID))
				if in && q.matches(&row, w) {
					want = append(want, row)
				}
			}
			slices.SortFunc(want, func(a, b Transaction) int {
				c := cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(keyOrder.Replace(a.ID),
					keyOrder.Replace(b.ID)), cmp.Compare(a.AccountID, b.AccountID))
				if q.Latest {
					return -c
				}
				return c
			})
			var got []Transaction
			cursor := ""
			for {
				size := rapid.IntRange(1, 7).Draw(r, "size")
				page, err := p.Search(context.Background(), q, size, cursor)
				if err != nil {
					r.Fatal(err)
				}
				if len(page.Transactions) > size {
					r.Fatalf("%d rows on a page of %d", len(page.Transactions), size)
				}
				got = append(got, page.Transactions...)
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			if diff := gocmp.Diff(idsOfRows(want), idsOfRows(got)); diff != "" {
				r.Fatalf("%+v: %s", q, diff)
			}
		}
	})
}

// TestASearchSetsAsideWhatDoesNotMatch pins the rules that the property test shares with the code.
func TestASearchSetsAsideWhatDoesNotMatch(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a")
	yes, no := true, false
	put(t, p,
		Transaction{AccountID: "a", ID: "rent", Date: "2026-01-01", Amount: dec("-450"),
			TagIDs: []string{"home"}, Merchant: "Landlord"},
		Transaction{AccountID: "a", ID: "wage", Date: "2026-01-02", Amount: dec("2000"),
			Pending: true, Source: FromBank, UploadID: "u1"},
		Transaction{AccountID: "a", ID: "shop", Date: "2026-01-03", Amount: dec("-60"),
			TagIDs: []string{"row"}, Splits: []Split{{Amount: dec("-40"), TagIDs: []string{"food"}},
				{Amount: dec("-20"), TagIDs: []string{"home", "garden"}}}},
		Transaction{AccountID: "a", ID: "move", Date: "2026-02-04", Amount: dec("-450"),
			Transfer: true, TagIDs: []string{"home"}, Currency: "EUR"})
	least, most := dec("60"), dec("450")
	negative := dec("-60")
	for name, c := range map[string]struct {
		q    Search
		want []string
	}{
		"all": {Search{}, []string{"rent", "wage", "shop", "move"}},
		"a size": {Search{AmountFrom: &least, AmountTo: &most,
			Unsigned: true}, []string{"rent", "shop", "move"}},
		"a signed amount": {Search{AmountTo: &negative}, []string{"rent", "shop", "move"}},
		"money in":        {Search{AmountFrom: &least}, []string{"wage"}},
		"a tag":           {Search{TagIDs: []string{"home"}}, []string{"rent", "shop", "move"}},
		"all tags":        {Search{TagIDs: []string{"home", "food"}}, []string{"shop"}},
		"any tag": {Search{TagIDs: []string{"food", "nothing"},
			AnyTag: true}, []string{"shop"}},
		"tags of parts count": {Search{TagIDs: []string{"row"}}, nil},
		"untagged":            {Search{Untagged: true}, []string{"wage"}},
		"a merchant":          {Search{Merchant: "Landlord"}, []string{"rent"}},
		"pending":             {Search{Pending: &yes}, []string{"wage"}},
		"no transfers": {Search{Transfer: &no,
			TagIDs: []string{"home"}}, []string{"rent", "shop"}},
		"a currency": {Search{Currency: "EUR"}, []string{"move"}},
		"an upload":  {Search{UploadID: "u1"}, []string{"wage"}},
		"typed in":   {Search{Source: FromPerson}, []string{"rent", "shop", "move"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.From, c.q.To = "2026-01-01", "2026-12-31"
			found, err := p.Search(t.Context(), c.q, 10, "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range found.Transactions {
				got = append(got, row.ID)
			}
			if diff := gocmp.Diff(c.want, got); diff != "" || found.Next != "" {
				t.Error(diff, found.Next)
			}
		})
	}
}

func TestASearchReadsOnlyMonthsThatMayHaveTheTag(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a", "b")
	for m := 1; m <= 12; m++ {
		tag := "other"
		if m == 5 {
			tag = "rare"
		}
		for _, account := range []string{"a", "b"} {
			put(t, p, Transaction{AccountID: account, Amount: dec("-1"), TagIDs: []string{tag},
				Date: Date(fmt.Sprintf("2025-%02d-10", m))})
		}
	}
	ctx, meter := singletable.WithMeter(t.Context())
	found, err := p.Search(ctx,
		Search{From: "2025-01-01", To: "2025-12-31", TagIDs: []string{"rare"}}, 10, "")
	if err != nil || len(found.Transactions) != 2 || found.Next != "" {
		t.Fatal(found, err)
	}
	// The accounts, two lots of sheets, and May of both. A strict store divides them.
	if !storetest.Strict() && meter.Calls() != 5 || found.Read != 2 {
		t.Errorf("%d calls for %d rows", meter.Calls(), found.Read)
	}
}

func TestASearchThatFindsNothingForLongGivesAShortPage(t *testing.T) {
	var accounts []string
	for i := range 12 {
		accounts = append(accounts, fmt.Sprintf("account-%02d", i))
	}
	p := newShelf(t, Options{}).user(t, "someone", accounts...)
	put(t, p, Transaction{AccountID: "account-05", ID: "last", Date: "2025-12-31",
		Amount: dec("1")})
	q := Search{From: "2016-01-01", To: "2025-12-31"}
	first, err := p.Search(t.Context(), q, 10, "")
	if err != nil || len(first.Transactions) != 0 || first.Next == "" {
		t.Fatal(first, err)
	}
	second, err := p.Search(t.Context(), q, 10, first.Next)
	if err != nil || len(second.Transactions) != 1 || second.Next != "" {
		t.Fatal(second, err)
	}
}

func TestASearchIsRefusedInWords(t *testing.T) {
	s := newShelf(t, Options{})
	p := s.user(t, "someone", "a")
	other := s.user(t, "other", "a")
	put(t, p, Transaction{AccountID: "a", Date: "2026-01-01"},
		Transaction{AccountID: "a", Date: "2026-01-02"})
	q := Search{From: "2026-01-01", To: "2026-01-31"}
	page, err := p.Search(t.Context(), q, 1, "")
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	with := func(change func(*Search)) Search {
		changed := q
		change(&changed)
		return changed
	}
	two, one := dec("2"), dec("1")
	latest := with(func(s *Search) { s.Latest = true })
	worded := with(func(s *Search) { s.Text = "x" })
	elsewhere := with(func(s *Search) { s.Accounts = []string{"b"} })
	for name, c := range map[string]struct {
		p      *Person
		q      Search
		size   int
		cursor string
		want   error
	}{
		"no range":     {p, Search{}, 1, "", ErrInvalid},
		"too long":     {p, Search{From: "2016-01-01", To: "2026-01-01"}, 1, "", ErrRangeTooLong},
		"no size":      {p, q, 0, "", ErrInvalid},
		"a large size": {p, q, PageMax + 1, "", ErrInvalid},
		"no account":   {p, elsewhere, 1, "", ErrNoAccount},
		"amounts": {p, with(func(s *Search) {
			s.AmountFrom, s.AmountTo = &two, &one
		}), 1, "", ErrInvalid},
		"text": {p, with(func(s *Search) { s.Text = "\xff" }), 1, "", ErrInvalid},
		"tag and none": {p, with(func(s *Search) {
			s.Untagged, s.TagIDs = true, []string{"a"}
		}), 1, "", ErrInvalid},
		"another user":   {other, q, 1, page.Next, ErrInvalidCursor},
		"another search": {p, worded, 1, page.Next, ErrInvalidCursor},
		"a made up one":  {p, q, 1, "x" + page.Next, ErrInvalidCursor},
		"another order":  {p, latest, 1, page.Next, ErrInvalidCursor},
	} {
		if _, err := c.p.Search(t.Context(), c.q, c.size, c.cursor); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, size := range []int{0, PageMax + 1} {
		r := Range{AccountID: "a", From: q.From, To: q.To}
		if _, err := p.Transactions(t.Context(), r, size, ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("a page of %d rows of one account: %v", size, err)
		}
	}
}
