package statements

import (
	"context"
	"slices"

	"github.com/exchequer-dev/exchequer/singletable"
)

// freshTags gives a row the texts of its tags as they are now. Tags that are gone become what a job
// has made of them, which may be nothing; the error is ErrNoTag for one that was asked for.
func (p tagger) freshTags(ctx context.Context, t *Transaction, asked map[string]bool) error {
	var ids []string
	for tag := range tagsOfRow(t) {
		ids = append(ids, tag.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	texts, err := p.textsOf(ctx, ids)
	if err != nil {
		return err
	}
	var gone map[string]string
	if len(texts) < len(distinct(ids)) {
		if gone, err = p.successors(ctx, texts); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if texts[id] == "" && gone[id] == "" && asked[id] {
			return ErrNoTag.With("tag", id)
		}
	}
	retag(t, func(tag Tag) (Tag, bool) {
		if next, replaced := gone[tag.ID]; replaced {
			tag.ID = next
		}
		text, there := texts[tag.ID]
		return Tag{ID: tag.ID, Text: text}, there
	})
	return nil
}

// textsOf returns the texts of tags by id, of those that are there.
func (p tagger) textsOf(ctx context.Context, ids []string) (map[string]string, error) {
	var at []Tag
	for _, id := range distinct(ids) {
		at = append(at, Tag{UserID: p.id, ID: id})
	}
	tags, err := modelOf(p.Person).tags.GetMany(ctx, p.store(), at, singletable.Consistent())
	if err != nil {
		return nil, failed("read tags", err)
	}
	texts := map[string]string{}
	for _, t := range tags {
		if t != nil {
			texts[t.ID] = t.Text
		}
	}
	return texts, nil
}

// successors returns what tags that are gone were merged into, by id; texts gets the texts of
// those.
func (p tagger) successors(
	ctx context.Context, texts map[string]string,
) (map[string]string, error) {
	jobs, err := p.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	next := map[string]string{}
	for _, j := range jobs {
		if j.Kind == MergingTags {
			next[j.TagID] = j.To
		}
	}
	var into []string
	for id, to := range next {
		// A tag that was merged is never there again, so that no way is longer than all of them.
		for range next {
			if next[to] != "" {
				to = next[to]
			}
		}
		next[id] = to
		into = append(into, to)
	}
	more, err := p.textsOf(ctx, into)
	for id, text := range more {
		texts[id] = text
	}
	return next, err
}

// retag makes other tags of those of a row and its parts; f returns false for one that goes. It
// reports whether the row became another.
func retag(t *Transaction, f func(Tag) (Tag, bool)) bool {
	changed := retagged(&t.TagIDs, &t.Tags, f)
	for i := range t.Splits {
		s := &t.Splits[i]
		if retagged(&s.TagIDs, &s.Tags, f) {
			changed = true
		}
	}
	return changed
}

func retagged(ids, texts *[]string, f func(Tag) (Tag, bool)) bool {
	var nextIDs, nextTexts []string
	for i, id := range *ids {
		tag := Tag{ID: id}
		if i < len(*texts) {
			tag.Text = (*texts)[i]
		}
		if next, keep := f(tag); keep && !slices.Contains(nextIDs, next.ID) {
			nextIDs, nextTexts = append(nextIDs, next.ID), append(nextTexts, next.Text)
		}
	}
	if slices.Equal(nextIDs, *ids) && slices.Equal(nextTexts, *texts) {
		return false
	}
	*ids, *texts = nextIDs, nextTexts
	return true
}
