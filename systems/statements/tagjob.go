package statements

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/singletable"
)

// RenameTag gives a tag another text. The tag has it at once; the returned job, which the caller
// runs with RunJob, writes it into the rows that have the tag. Until then a row may show the
// earlier text, while its tag ids are right at any time. Without any change the job is nil. Version
// is the version that the caller has seen; 0 means any. The error is ErrInvalid, ErrNoTag,
// ErrChanged, or ErrTagTaken, which names the tag that has the text already: the person may want to
// merge the two.
func (p *Person) RenameTag(
	ctx context.Context, id, text string, version uint64,
) (Tag, *Job, error) {
	text, err := tagText(text)
	if err != nil {
		return Tag{}, nil, err
	}
	for range editsMax {
		tags, err := p.Tags(ctx)
		if err != nil {
			return Tag{}, nil, err
		}
		tag, err := tagToChange(tags, id, version)
		if err != nil || tag.Text == text {
			return tag, nil, err
		}
		for _, other := range tags {
			if other.ID != id && sameTagText(other.Text, text) {
				return Tag{}, nil, ErrTagTaken.With("text", other.Text).With("tag", other.ID)
			}
		}
		jobs, err := p.Jobs(ctx)
		if err != nil {
			return Tag{}, nil, err
		}
		m, tx := modelOf(p), p.store().NewTx()
		tx.SetToken(newToken())
		m.tags.UpdateTx(tx, tag, m.tagText.Set(text), m.versions.tag.Set(tag.Version+1),
			m.versions.tag.Equals(tag.Version), m.tags.WithKnown(tag))
		job, err := p.tagger().beginTx(tx, jobs, Job{Kind: RenamingTag, TagID: id, Text: tag.Text})
		if err != nil {
			return Tag{}, nil, err
		}
		err = tx.Commit(ctx)
		if err == nil {
			tag.Text = text
			tag.Version++
			return tag, &job, nil
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return Tag{}, nil, failed("rename tag", err)
		}
	}
	return Tag{}, nil, ErrContended.With("items", "tag "+id)
}

// MergeTags makes one tag of two: the first goes at once, and the returned job gives its rows and
// rules the second. Until then rows and totals may speak of the first, which the job names. Version
// is the version of the first that the caller has seen; 0 means any. A repeat returns the same job.
// The error is ErrInvalid, ErrNoTag or ErrChanged.
func (p *Person) MergeTags(
	ctx context.Context, from, to string, version uint64,
) (Job, error) {
	switch to {
	case "":
		return Job{}, ErrInvalid.Field("into", "is missing")
	case from:
		return Job{}, ErrInvalid.Field("into", "is the same tag")
	}
	return p.tagger().removeTag(ctx, Job{Kind: MergingTags, TagID: from, To: to}, version)
}

// DeleteTag removes a tag: it goes at once, and the returned job takes it from its rows and rules.
// Until then rows and totals may speak of it. A rule that only set this tag is disabled. A repeat
// returns the same job. The error is ErrNoTag or ErrChanged.
func (p *Person) DeleteTag(ctx context.Context, id string, version uint64) (Job, error) {
	return p.tagger().removeTag(ctx, Job{Kind: DeletingTag, TagID: id}, version)
}

// removeTag deletes a tag and begins a job.
func (p tagger) removeTag(ctx context.Context, j Job, version uint64) (Job, error) {
	for range editsMax {
		jobs, err := p.Jobs(ctx)
		if err != nil {
			return Job{}, err
		}
		tags, err := p.Tags(ctx)
		if err != nil {
			return Job{}, err
		}
		tag, err := tagToChange(tags, j.TagID, version)
		if errors.Is(err, ErrNoTag) {
			for _, old := range jobs {
				if old.Kind == j.Kind && old.TagID == j.TagID && old.To == j.To {
					return old, nil
				}
			}
		}
		if err != nil {
			return Job{}, err
		}
		var to Tag
		if j.To != "" {
			if to, err = tagToChange(tags, j.To, 0); err != nil {
				return Job{}, err
			}
		}
		made, err := p.removeTagOnce(ctx, jobs, j, tag, to)
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return made, err
		}
	}
	return Job{}, ErrContended.With("items", "tag "+j.TagID)
}

// removeTagOnce fails with ErrConditionFailed where something was changed in the meantime.
//
// The tag that another is merged into gets a new version, although it stays as it is. So no one
// removes it without having seen the job; and its removal makes the jobs that bring rows to
// it bring them to where its own go.
func (p tagger) removeTagOnce(
	ctx context.Context, jobs []Job, j Job, tag, to Tag,
) (Job, error) {
	m, tx := modelOf(p.Person), p.store().NewTx()
	tx.SetToken(newToken())
	m.tags.DeleteTx(tx, tag, m.tags.Exists(), m.versions.tag.Equals(tag.Version))
	if j.To != "" {
		m.tags.UpdateTx(tx, to, m.versions.tag.Set(to.Version+1),
			m.versions.tag.Equals(to.Version))
	}
	for _, other := range jobs {
		if other.Done || other.Kind != MergingTags || other.To != tag.ID {
			continue
		}
		other.Kind, other.To = j.Kind, j.To
		p.saveTx(tx, other)
	}
	j.Text = tag.Text
	j, err := p.beginTx(tx, jobs, j)
	if err != nil {
		return Job{}, err
	}
	err = tx.Commit(ctx)
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		return Job{}, failed("remove tag", err)
	}
	return j, err
}

// tagToChange finds a tag that is still the one that the caller has seen.
func tagToChange(tags []Tag, id string, version uint64) (Tag, error) {
	for _, t := range tags {
		if t.ID != id {
			continue
		}
		if !isSeen(version, t.Version) {
			return Tag{}, ErrChanged.With("what", "The tag "+t.Text)
		}
		return t, nil
	}
	return Tag{}, ErrNoTag.With("tag", id)
}

// prepareRename is for rows that have the tag with another text than it has now.
func (r *jobRun) prepareRename(ctx context.Context) (idle bool, err error) {
	id := r.job.TagID
	texts, err := r.p.tagger().textsOf(ctx, []string{id})
	if err != nil {
		return false, err
	}
	text, there := texts[id]
	r.aboutTag(id, Tag{ID: id, Text: text}, true)
	// The end of a tag that is gone is the work of the job that removed it.
	return !there, nil
}

// prepareReplace is for rows that have a tag which is gone. Rules are changed first, so that they
// bring no more of it.
func (r *jobRun) prepareReplace(ctx context.Context) error {
	id, to := r.job.TagID, r.job.To
	texts := map[string]string{}
	if to != "" {
		var err error
		if texts, err = r.p.tagger().textsOf(ctx, []string{to}); err != nil {
			return err
		}
	}
	text, there := texts[to]
	r.aboutTag(id, Tag{ID: to, Text: text}, there)
	return r.p.rules().replaceInRules(ctx, id, to)
}

// aboutTag makes another tag of one, or, unless it is kept, none.
func (r *jobRun) aboutTag(id string, next Tag, keep bool) {
	has := func(t *Transaction) bool {
		for tag := range tagsOfRow(t) {
			if tag.ID == id {
				return true
			}
		}
		return false
	}
	r.fix = func(t *Transaction) bool {
		return has(t) && retag(t, func(tag Tag) (Tag, bool) {
			if tag.ID == id {
				return next, keep
			}
			return tag, true
		})
	}
	// A sheet does not have the tags of transfers.
	r.holds = func(s *Sheet) bool { return s.Tags[id].Count > 0 || s.Transfers.Count > 0 }
}
