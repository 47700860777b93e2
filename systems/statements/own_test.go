package statements

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// shelf is books on a database of their own, for tests that look behind the keys.
type shelf struct {
	*Books
	db    storetest.Database
	store *singletable.Store
}

func newShelf(t testing.TB, opts Options) *shelf {
	t.Helper()
	return newShelfOn(t, storetest.OpenFor(t, engine.Options{}), opts)
}

func newShelfOn(t testing.TB, db storetest.Database, opts Options) *shelf {
	t.Helper()
	s := &shelf{db: db}
	if opts.Now == nil {
		// An early clock leaves few months without any sheet to look into.
		opts.Now = func() time.Time { return time.Date(1970, 1, 15, 12, 0, 0, 0, time.UTC) }
	}
	s.store = singletable.NewStore(s.db, singletable.Options{CursorKey: []byte("a key of tests")})
	var err error
	if s.Books, err = New(s.store, opts); err != nil {
		t.Fatal(err)
	}
	if err := s.Model().Ensure(t.Context(), s.db); err != nil {
		t.Fatal(err)
	}
	return s
}

// rounds sets how many rounds a property is tried in.
func rounds(t *testing.T, usual int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	if err := checks.Value.Set(strconv.Itoa(storetest.Rounds(usual))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(before) })
}

// user returns the part of a user with accounts of these ids, named like them.
func (s *shelf) user(t testing.TB, user string, accounts ...string) *Person {
	t.Helper()
	p, err := s.Person(user)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range accounts {
		_, _, err := p.CreateAccount(t.Context(),
			NewAccount{ID: id, Name: strings.ToUpper(id), Currency: "NZD"})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// tb is what testing.TB and rapid.T have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
}

// put writes rows with their entries and sheets, and makes the tags that they have.
func put(t tb, p *Person, rows ...Transaction) []*Transaction {
	t.Helper()
	made := map[string]bool{}
	rows = slices.Clone(rows)
	for i := range rows {
		row := &rows[i]
		tags := slices.Clone(row.TagIDs)
		row.Tags = textsOfTags(row.TagIDs)
		row.Splits = slices.Clone(row.Splits)
		for i := range row.Splits {
			part := &row.Splits[i]
			tags, part.Tags = append(tags, part.TagIDs...), textsOfTags(part.TagIDs)
		}
		for _, id := range tags {
			if !made[id] {
				makeTag(t, p, id)
			}
			made[id] = true
		}
	}
	return putTagged(t, p, rows...)
}

// putTagged writes rows whose tags are there.
func putTagged(t tb, p *Person, rows ...Transaction) []*Transaction {
	t.Helper()
	var out []*Transaction
	known := sheets{}
	for i := range rows {
		row := rows[i]
		if row.Currency == "" {
			row.Currency = "NZD"
		}
		if row.Source == "" {
			row.Source = FromPerson
		}
		if row.ID == "" {
			row.ID = book.RandomID(row.Date)
		}
		row.CreatedAt = p.now()
		entry := &Entry{UserID: p.id, AccountID: row.AccountID, Month: book.MonthOfID(row.ID),
			ID: row.ID, State: Live, Date: row.Date, Amount: row.Amount, Currency: row.Currency,
			Source: row.Source}
		one := []change{{after: &row, entryAfter: entry}}
		if err := p.rows().write(context.Background(), known, one); err != nil {
			t.Fatal(err)
		}
		out = append(out, &row)
	}
	return out
}

// textsOfTags are the texts that makeTag gives.
func textsOfTags(ids []string) []string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, "Tag "+id)
	}
	return texts
}

// makeTag makes a tag with an id unless it is there.
func makeTag(t tb, p *Person, id string) {
	t.Helper()
	tag := Tag{UserID: p.id, ID: id, Text: "Tag " + id, CreatedAt: p.now(), Version: 1}
	err := modelOf(p).tags.Create(context.Background(), p.store(), tag)
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		t.Fatal(err)
	}
}

// dec reads a number of a test.
func dec(text string) money.Decimal {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// flowText writes a flow on a line.
func flowText(f Flow) string { return fmt.Sprintf("%s %s (%d)", f.In, f.Out, f.Count) }

func idsOfRows(rows []Transaction) []string {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].AccountID + "/" + rows[i].ID
	}
	return ids
}
