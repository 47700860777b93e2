package statements_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// plainRow is a row as it should be, and plainBooks are those of an account.
type plainRow struct {
	date     statements.Date
	amount   money.Decimal
	text     string
	notes    string
	tags     []string
	parts    [][]string // The tags of each part, which has half of the amount.
	transfer bool
	edited   map[string]bool
}

type plainRule struct {
	word, notes string
	tag         string // Empty once the tag is gone.
	off         bool   // As nothing else is set.
}

type plainBooks struct {
	*desk
	rt    *rapid.T
	ctx   context.Context
	rows  map[string]*plainRow
	order []string // The ids of all rows that there ever were.
	tags  map[string]string
	rules []plainRule
	open  []string // Jobs that may not be done.
}

func (b *plainBooks) must(err error) {
	if err != nil {
		b.rt.Fatal(err)
	}
}

func (b *plainBooks) draw(n int, what string) int { return rapid.IntRange(0, n-1).Draw(b.rt, what) }

func (b *plainBooks) someTags() []string {
	if len(b.tags) == 0 {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(b.tags))), 0,
		min(2, len(b.tags)), rapid.ID).Draw(b.rt, "tags")
}

func (b *plainBooks) someDay() statements.Date {
	return statements.Date(fmt.Sprintf("2025-%02d-%02d", b.draw(3, "month")+1, b.draw(3, "day")+1))
}

// tryRules lets the rules at a row.
func (b *plainBooks) tryRules(r *plainRow) {
	noted := r.edited["notes"]
	for _, rule := range b.rules {
		if rule.off || !strings.Contains(r.text, rule.word) {
			continue
		}
		if rule.notes != "" && !noted {
			r.notes, noted = rule.notes, true
		}
		if rule.tag != "" && !r.edited["tags"] && r.parts == nil &&
			!slices.Contains(r.tags, rule.tag) {
			r.tags = append(r.tags, rule.tag)
		}
	}
}

// someParts draws parts of half of an amount each, or none.
func (b *plainBooks) someParts(amount money.Decimal) ([]statements.NewSplit, [][]string) {
	if b.draw(2, "divide") == 0 {
		return nil, nil
	}
	half, err := amount.Mul(dec("0.5"))
	b.must(err)
	tags := [][]string{b.someTags(), b.someTags()}
	return []statements.NewSplit{{Amount: half, TagIDs: tags[0]},
		{Amount: half, TagIDs: tags[1]}}, tags
}

func (b *plainBooks) add() {
	r := &plainRow{date: b.someDay(), amount: dec(fmt.Sprint(b.draw(9, "amount") - 4)),
		text: rapid.SampledFrom([]string{"shop", "bar", "shop bar"}).Draw(b.rt, "text"),
		tags: b.someTags(), transfer: b.draw(4, "transfer") == 0, edited: map[string]bool{}}
	n := statements.NewTransaction{AccountID: b.account, Date: r.date, Amount: r.amount,
		Merchant: r.text, Transfer: r.transfer}
	n.Splits, r.parts = b.someParts(r.amount)
	if r.parts != nil {
		r.tags = nil
	}
	n.TagIDs = r.tags
	r.edited["tags"] = len(r.tags) > 0
	b.tryRules(r)
	t, _, err := b.AddTransaction(b.ctx, n)
	b.must(err)
	b.rows[t.ID], b.order = r, append(b.order, t.ID)
}

func (b *plainBooks) some() (string, *plainRow) {
	there := slices.DeleteFunc(slices.Clone(b.order), func(id string) bool {
		return b.rows[id] == nil
	})
	id := there[b.draw(len(there), "row")]
	return id, b.rows[id]
}

func (b *plainBooks) edit() {
	if len(b.rows) == 0 {
		return
	}
	id, r := b.some()
	var c statements.TransactionChange
	switch b.draw(5, "field") {
	case 0:
		r.date = b.someDay()
		c.Date = &r.date
	case 1:
		notes := fmt.Sprint("Note ", b.draw(3, "note"))
		r.edited["notes"] = r.edited["notes"] || notes != r.notes
		r.notes = notes
		c.Notes = &notes
	case 2:
		r.transfer = !r.transfer
		c.Transfer = of(r.transfer)
	case 3:
		if r.parts != nil {
			return
		}
		tags := b.someTags()
		r.edited["tags"] = r.edited["tags"] || !slices.Equal(tags, r.tags)
		r.tags = tags
		c.TagIDs = &tags
	case 4:
		splits, parts := b.someParts(r.amount)
		if parts != nil {
			r.tags = nil
		}
		r.parts = parts
		c.Splits = &splits
	}
	_, err := b.ChangeTransaction(b.ctx, statements.At{AccountID: b.account, ID: id}, c)
	b.must(err)
}

func (b *plainBooks) remove() {
	if len(b.rows) == 0 {
		return
	}
	id, _ := b.some()
	b.must(b.DeleteTransaction(b.ctx, statements.At{AccountID: b.account, ID: id}, 0))
	delete(b.rows, id)
}

// tagAct makes, renames, merges or deletes a tag.
func (b *plainBooks) tagAct() {
	text := fmt.Sprint("Tag ", b.draw(12, "text"))
	if len(b.tags) < 3 {
		tag, _, err := b.CreateTag(b.ctx, text)
		b.must(err)
		b.tags[tag.ID] = tag.Text
		return
	}
	ids := rapid.Permutation(slices.Sorted(maps.Keys(b.tags))).Draw(b.rt, "order")
	switch b.draw(3, "deed") {
	case 0:
		tag, job, err := b.RenameTag(b.ctx, ids[0], text, 0)
		if errors.Is(err, statements.ErrTagTaken) {
			return
		}
		b.must(err)
		b.tags[tag.ID] = text
		if job != nil {
			b.open = append(b.open, job.ID)
		}
	case 1:
		job, err := b.MergeTags(b.ctx, ids[0], ids[1], 0)
		b.must(err)
		b.replace(ids[0], ids[1], job)
	case 2:
		job, err := b.DeleteTag(b.ctx, ids[0], 0)
		b.must(err)
		b.replace(ids[0], "", job)
	}
}

// replace makes another tag of one everywhere, at once.
func (b *plainBooks) replace(id, to string, job statements.Job) {
	b.open = append(b.open, job.ID)
	delete(b.tags, id)
	in := func(ids []string) []string {
		var out []string
		for _, has := range ids {
			if has == id {
				has = to
			}
			if has != "" && !slices.Contains(out, has) {
				out = append(out, has)
			}
		}
		return out
	}
	for _, r := range b.rows {
		r.tags = in(r.tags)
		for i := range r.parts {
			r.parts[i] = in(r.parts[i])
		}
	}
	for i := range b.rules {
		if r := &b.rules[i]; r.tag == id {
			r.tag = to
			r.off = r.off || to == "" && r.notes == ""
		}
	}
}

// work runs a job, perhaps only until the process is ended.
func (b *plainBooks) work() {
	if len(b.open) == 0 {
		return
	}
	id := rapid.SampledFrom(b.open).Draw(b.rt, "job")
	b.killed(b.draw(4, "writes"), func(p *statements.Person, ctx killable) {
		if _, err := p.RunJob(ctx, id, nil); err != nil && !errors.Is(err, context.Canceled) {
			b.rt.Fatal(err)
		}
	})
}

// ruleAct makes a rule, or applies them all.
func (b *plainBooks) ruleAct() {
	if len(b.rules) < 3 && len(b.tags) > 0 {
		r := plainRule{word: rapid.SampledFrom([]string{"shop", "bar"}).Draw(b.rt, "word"),
			tag: rapid.SampledFrom(slices.Sorted(maps.Keys(b.tags))).Draw(b.rt, "tag")}
		if b.draw(2, "noting") == 0 {
			r.notes = fmt.Sprint("Rule ", len(b.rules))
		}
		_, _, err := b.CreateRule(b.ctx, statements.Rule{Name: "x", Order: len(b.rules),
			Conditions: contains(r.word),
			Set:        statements.Setting{Notes: r.notes, TagIDs: []string{r.tag}}})
		b.must(err)
		b.rules = append(b.rules, r)
		return
	}
	job, err := b.ApplyRules(b.ctx, year)
	b.must(err)
	_, err = b.RunJob(b.ctx, job.ID, nil)
	b.must(err)
	for _, r := range b.rows {
		b.tryRules(r)
	}
}

// judge compares rows and totals with what they should be.
func (b *plainBooks) judge() {
	b.must(b.RunJobs(b.ctx, nil))
	want := map[statements.Date]map[string]string{}
	sums := map[statements.Date]map[string]money.Decimal{}
	sum := func(month statements.Date, name string, amount money.Decimal) {
		if sums[month] == nil {
			sums[month], want[month] = map[string]money.Decimal{}, map[string]string{}
		}
		total, err := sums[month][name].Add(amount)
		b.must(err)
		sums[month][name], want[month][name] = total, total.String()
	}
	found := 0
	r := statements.Range{AccountID: b.account, From: "2025-01-01", To: "2025-12-31"}
	for t, err := range b.All(b.ctx, r) {
		b.must(err)
		found++
		row := b.rows[t.ID]
		if row == nil {
			b.rt.Fatalf("a row that should not be there: %+v", t)
		}
		got := plainRow{date: t.Date, amount: t.Amount, text: t.Text, notes: t.Notes,
			tags: t.TagIDs, transfer: t.Transfer}
		texts := b.textsOf(t.TagIDs)
		if !slices.Equal(texts, t.Tags) {
			b.rt.Fatalf("tags %v have the texts %v", texts, t.Tags)
		}
		for _, s := range t.Splits {
			got.parts = append(got.parts, s.TagIDs)
			if texts := b.textsOf(s.TagIDs); !slices.Equal(texts, s.Tags) {
				b.rt.Fatalf("tags %v of a part have the texts %v", texts, s.Tags)
			}
		}
		got.edited = row.edited
		if text, want := fmt.Sprintf("%v", got), fmt.Sprintf("%v", *row); text != want {
			b.rt.Fatalf("got  %s\nwant %s", text, want)
		}
		month := t.Date[:8] + "01"
		sum(month, "all", t.Amount)
		if t.Transfer {
			continue
		}
		for _, id := range t.TagIDs {
			sum(month, id, t.Amount)
		}
		for _, s := range t.Splits {
			for _, id := range s.TagIDs {
				sum(month, id, s.Amount)
			}
		}
	}
	if found != len(b.rows) {
		b.rt.Fatalf("%d rows of %d", found, len(b.rows))
	}
	got := map[statements.Date]map[string]string{}
	sheets, err := b.Sheets(b.ctx, b.account, "", "")
	b.must(err)
	for _, s := range sheets {
		if s.All.Count == 0 {
			continue
		}
		got[s.Month] = map[string]string{"all": net(b, s.All)}
		for id, f := range s.Tags {
			got[s.Month][id] = net(b, f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.rt.Fatal(diff)
	}
}

func net(b *plainBooks, f statements.Flow) string {
	sum, err := f.In.Add(f.Out)
	b.must(err)
	return sum.String()
}

func (b *plainBooks) textsOf(ids []string) []string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, b.tags[id])
	}
	return texts
}

// TestEditsRulesAndTagsKeepToAPlainModel does at random what a person can, with jobs that end
// anywhere between, and compares with a model in which tags change everywhere at once.
func TestEditsRulesAndTagsKeepToAPlainModel(t *testing.T) {
	home, round := newDesk(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		d := *home
		d.Person = home.person(fmt.Sprint("person ", round))
		d.account = home.books.account(d.Person, "Everyday").ID
		b := &plainBooks{desk: &d, rt: rt, ctx: t.Context(), rows: map[string]*plainRow{},
			tags: map[string]string{}}
		deeds := []func(){b.add, b.add, b.edit, b.edit, b.edit, b.tagAct, b.tagAct, b.work,
			b.ruleAct, b.remove}
		for range rapid.IntRange(1, 40).Draw(rt, "deeds") {
			deeds[b.draw(len(deeds), "deed")]()
		}
		b.judge()
	})
}
