package statements

import (
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// itemMax is how large an item of the store can be ("Quotas in Amazon DynamoDB").
const itemMax = 400 << 10

// full returns a text of exactly some bytes.
func full(sign string, bytes int) string {
	return strings.Repeat(sign, bytes/len(sign)) + strings.Repeat("x", bytes%len(sign))
}

// TestTheLargestTransactionIsStored makes a transaction of everything that one may have, in letters
// of one to three bytes, whole and divided.
func TestTheLargestTransactionIsStored(t *testing.T) {
	db := storetest.OpenFor(t, engine.Options{})
	b, err := New(singletable.NewStore(db, singletable.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Model().Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, sign := range []string{"x", "é", "語"} {
		p, err := b.Person(full(sign, UserMax))
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := p.CreateAccount(t.Context(), NewAccount{Name: "A", Currency: "NZD",
			ID: full(sign, NameMax)})
		if err != nil {
			t.Fatal(err)
		}
		tags := make([]string, TagsOfPartsMax)
		for i := range tags {
			tag, _, err := p.CreateTag(t.Context(), fmt.Sprintf("%02d%s", i, full(sign, NameMax-2)))
			if err != nil {
				t.Fatal(err)
			}
			tags[i] = tag.ID
		}
		for _, divided := range []bool{false, true} {
			n := NewTransaction{AccountID: a.ID, Date: "2025-08-31", Notes: full(sign, NotesMax),
				Merchant: full(sign, NameMax), Transfer: true}
			if !divided {
				n.TagIDs = tags[:TagsOfOneMax]
			}
			for i := 0; i < SplitsMax && divided; i++ {
				n.Splits = append(n.Splits, NewSplit{Notes: full(sign, NameMax)})
				if i < 2 {
					n.Splits[i].TagIDs = tags[i*TagsOfPartsMax/2 : (i+1)*TagsOfPartsMax/2]
				}
			}
			t.Run(fmt.Sprintf("%s, divided %v", sign, divided), func(t *testing.T) {
				fill(t, p, n, sign)
			})
		}
	}
}

// fill adds a transaction, and what files and programs may bring to it, and moves it.
func fill(t *testing.T, p *Person, n NewTransaction, sign string) {
	row, _, err := p.AddTransaction(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	at := At{AccountID: n.AccountID, ID: row.ID}
	before, e, err := p.rows().locate(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	after := before.Clone()
	long := full(sign, TextMax)
	after.Text, after.Counterparty, after.Reference = long, long, long
	after.Category, after.BankID, after.UploadID = long, long, long
	for i := range AnnotationsMax {
		a := Annotation{ID: fmt.Sprintf("%02d%s", i, full(sign, NameMax-2)),
			Text: full(sign, AnnotationMax), Type: full(sign, AnnotationTypeMax),
			Author: full(sign, NameMax)}
		if err := checkAnnotation(&a); err != nil {
			t.Fatal(err)
		}
		after.Annotations = append(after.Annotations, a)
	}
	err = p.rows().
		write(t.Context(), nil, []change{{before: &before, after: after, entryBefore: e}})
	if err != nil {
		t.Fatal(err)
	}
	next := Date("2025-09-01")
	moved, err := p.ChangeTransaction(t.Context(), at, TransactionChange{Date: &next})
	if err != nil {
		t.Fatal(err)
	}
	item, err := modelOf(p).transactions.Item(moved)
	if err != nil {
		t.Fatal(err)
	}
	size := rowBytes(&moved)
	if real := item.Size(); real > itemMax*9/10 || real > size*11/10 || size > real*11/10 {
		t.Errorf("the item has %d bytes, and is taken to have %d", real, size)
	}
}

// TestTheLargestSheetIsStored fills the totals of a month with as many tags and merchants as are
// told apart, each with a sum that no person reaches.
func TestTheLargestSheetIsStored(t *testing.T) {
	p := person(t)
	s := Sheet{UserID: p.id, AccountID: strings.Repeat("a", NameMax), Month: "2025-01-01",
		Currency: "NZD", Tags: map[string]Flow{}, Merchants: map[string]Flow{}}
	sum, err := money.ParseDecimal("-123456789012345678901234.5678901234")
	if err != nil {
		t.Fatal(err)
	}
	f := Flow{In: sum, Out: sum, Count: 1_000_000_000}
	for range TagsMax {
		s.Tags[p.newID("tag")] = f
	}
	for i := range MerchantsMax {
		s.Merchants[fmt.Sprintf("%04d%s", i, strings.Repeat("x", NameMax-4))] = f
	}
	if err := modelOf(p).sheets.Create(t.Context(), p.store(), s); err != nil {
		t.Fatal(err)
	}
}
