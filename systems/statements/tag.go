package statements

import (
	"context"
	"errors"
	"strings"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// CreateTag makes a tag. One whose text is there already, in any case, is returned as it is,
// and made is false. The error is ErrInvalid, ErrTooMany or ErrChanged.
func (p *Person) CreateTag(ctx context.Context, text string) (t Tag, made bool, err error) {
	t = Tag{UserID: p.id, ID: p.newID("tag"), CreatedAt: p.now(), Version: 1}
	if t.Text, err = tagText(text); err != nil {
		return Tag{}, false, err
	}
	tags, err := p.Tags(ctx)
	if err != nil {
		return Tag{}, false, err
	}
	if found, ok := tagOfText(tags, t.Text); ok {
		return found, false, nil
	}
	if len(tags) >= TagsMax {
		return Tag{}, false, ErrTooMany.With("what", "tags").With("limit", TagsMax)
	}
	err = modelOf(p).tags.Create(ctx, p.store(), t)
	if !errors.Is(err, singletable.ErrTaken) {
		return t, err == nil, wrapped("create tag", err)
	}
	// Another request made it just now.
	if tags, err = p.Tags(ctx); err != nil {
		return Tag{}, false, err
	}
	if found, ok := tagOfText(tags, t.Text); ok {
		return found, false, nil
	}
	return Tag{}, false, ErrChanged.With("what", "The tag "+t.Text)
}

// tagText checks the text of a tag and leaves out blanks that cannot be seen.
func tagText(text string) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	var wrong problem.Fields
	checkText(&wrong, "text", text, 1, NameMax)
	return text, wrong.Err(ErrInvalid)
}

// tagOfText finds a tag by its text, regardless of the case of its letters.
func tagOfText(tags []Tag, text string) (Tag, bool) {
	for _, t := range tags {
		if sameTagText(t.Text, text) {
			return t, true
		}
	}
	return Tag{}, false
}

// sameTagText reports whether two texts cannot both be tags of a user. In addition to those of
// which the table makes one key they are those that differ in the case of letters by Unicode.
func sameTagText(a, b string) bool {
	low, other := strings.ToLower(a), strings.ToLower(b)
	return low == other || strings.EqualFold(a, b)
}

// Tags returns the tags of the user, in the order of their ids.
func (p *Person) Tags(ctx context.Context) ([]Tag, error) {
	var tags []Tag
	var bad singletable.UnreadableRows
	for t, err := range modelOf(p).tagsOf.All(ctx, p.store(), OfUser{p.id}) {
		if item, unreadable := singletable.AsUnreadable(err); unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("list tags", err)
		}
		tags = append(tags, t)
	}
	return tags, bad.Err()
}
