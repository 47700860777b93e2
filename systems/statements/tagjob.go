package statements

import (
	"context"
	"errors"
)

// RenameTag gives a tag another text. The tag has it at once; the returned job, which the caller
// runs with RunJob, writes it into the rows that have the tag. Without any change the job is nil.
// Version is the version that the caller has seen; 0 means any. The error is ErrInvalid, ErrNoTag,
// ErrChanged, or ErrTagTaken, which names the tag that has the text already: the person may want to
// merge the two.
func (p *Person) RenameTag(
	ctx context.Context, id, text string, version uint64,
) (Tag, *Job, error) {
	return Tag{}, nil, errors.ErrUnsupported
}

// MergeTags makes one tag of two: the first goes at once, and the returned job gives its rows the
// second. A repeat returns the same job. The error is ErrInvalid, ErrNoTag or ErrChanged.
func (p *Person) MergeTags(
	ctx context.Context, from, to string, version uint64,
) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// DeleteTag removes a tag: it goes at once, and the returned job takes it from its rows. A repeat
// returns the same job. The error is ErrNoTag or ErrChanged.
func (p *Person) DeleteTag(ctx context.Context, id string, version uint64) (Job, error) {
	return Job{}, errors.ErrUnsupported
}
