package engine

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits of tags ("Tagging resources" in the developer guide), in characters.
const (
	tagsMax           = 50
	tagKeyLengthMax   = 128
	tagValueLengthMax = 256
)

// tableArn is the form of a table's ARN.
var tableArn = regexp.MustCompile(`^arn:aws[a-z-]*:dynamodb:[^:]*:[0-9]*:table/([a-zA-Z0-9_.-]+)$`)

// tagged returns the table of an ARN. The service hides from unauthorized callers whether a table
// exists, so it returns the same error for a table that does not exist.
func (c *catalog) tagged(arn string) (*table, error) {
	name := tableArn.FindStringSubmatch(arn)
	if name == nil {
		return nil, dynamo.Invalid("Invalid TableArn: Invalid ResourceArn provided as input " + arn)
	}
	if t := c.db.tables[name[1]]; t != nil {
		return t, nil
	}
	return nil, &dynamo.Error{
		Code:    dynamo.CodeAccessDenied,
		Message: "User is not authorized to perform this operation on resource: " + arn,
	}
}

// checkTags validates new tags.
func checkTags(tags []dynamo.Tag) error {
	seen := map[string]bool{}
	for _, tag := range tags {
		n := utf8.RuneCountInString(tag.Key)
		switch {
		case n == 0 || n > tagKeyLengthMax:
			return dynamo.Invalid(fmt.Sprintf("%sa tag's key has 1 to %d characters, not %d",
				invalidParameter, tagKeyLengthMax, n))
		case utf8.RuneCountInString(tag.Value) > tagValueLengthMax:
			return dynamo.Invalid(fmt.Sprintf("%sthe value of tag %s has more than %d characters",
				invalidParameter, tag.Key, tagValueLengthMax))
		// The prefix is reserved in any case of letters ("Tagging restrictions" in the developer
		// guide).
		case strings.HasPrefix(strings.ToLower(tag.Key), "aws:"):
			return dynamo.Invalid(invalidParameter + "Tag keys starting with 'aws:' are reserved " +
				"for system use: " + tag.Key)
		case seen[tag.Key]:
			return dynamo.Invalid(invalidParameter + "Duplicate tag key: " + tag.Key)
		}
		seen[tag.Key] = true
	}
	return nil
}

// TagResource adds tags to a table or changes their values; see [dynamo.Tagger].
func (db *DB) TagResource(ctx context.Context, arn string, tags []dynamo.Tag) error {
	if err := checkTags(tags); err != nil {
		return err
	}
	if len(tags) == 0 {
		return dynamo.Invalid(invalidParameter + "Atleast one Tag needs to be provided as input.")
	}
	return db.catalog.retag(ctx, arn, func(now []dynamo.Tag) []dynamo.Tag {
		for _, tag := range tags {
			i := slices.IndexFunc(now, func(t dynamo.Tag) bool { return t.Key == tag.Key })
			if i < 0 {
				now = append(now, tag)
			} else {
				now[i] = tag
			}
		}
		return now
	})
}

// UntagResource removes tags from a table; missing tags are ignored.
func (db *DB) UntagResource(ctx context.Context, arn string, keys []string) error {
	if len(keys) == 0 {
		return dynamo.Invalid(invalidParameter +
			"Atleast one Tag Key needs to be provided as input.")
	}
	return db.catalog.retag(ctx, arn, func(now []dynamo.Tag) []dynamo.Tag {
		return slices.DeleteFunc(now, func(t dynamo.Tag) bool {
			return slices.Contains(keys, t.Key)
		})
	})
}

// retag changes the tags of a table.
func (c *catalog) retag(ctx context.Context, arn string,
	change func([]dynamo.Tag) []dynamo.Tag,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.db.schema.Lock()
	defer c.db.schema.Unlock()
	if err := c.db.usable(); err != nil {
		return err
	}
	t, err := c.tagged(arn)
	if err != nil {
		return err
	}
	d := t.descriptor
	d.Tags = change(slices.Clone(d.Tags))
	// Counted after the change, because a new value of a known key adds no tag.
	if len(d.Tags) > tagsMax {
		return &dynamo.Error{
			Code: dynamo.CodeLimitExceeded, Message: fmt.Sprintf("Subscriber limit exceeded: The "+
				"number of tags exceeds the limit of %d for table %s", tagsMax, d.Name),
		}
	}
	if err := c.change(d, nil); err != nil {
		return err
	}
	// Tags do not affect items, so the table is changed in place and not replaced.
	t.Tags = d.Tags
	return nil
}

// ListTagsOfResource lists the tags of a table, which fit on one page; see [dynamo.Tagger].
func (db *DB) ListTagsOfResource(ctx context.Context, in *dynamo.ListTagsInput) (
	*dynamo.ListTagsOutput, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	t, err := db.catalog.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if in.NextToken != "" {
		return nil, dynamo.Invalid("Invalid NextToken: all tags are on the first page")
	}
	return &dynamo.ListTagsOutput{Tags: slices.Clone(t.Tags)}, nil
}

var _ dynamo.Tagger = (*DB)(nil)
