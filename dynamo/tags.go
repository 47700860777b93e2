package dynamo

import "context"

// Tag is a label of a table: a key of 1 to 128 characters and a value of up to 256.
type Tag struct {
	Key   string
	Value string
}

// Tagger changes the tags of tables, which are identified by their ARN. A table has at most 50
// tags.
type Tagger interface {
	TagResource(ctx context.Context, arn string, tags []Tag) error
	UntagResource(ctx context.Context, arn string, keys []string) error
	ListTagsOfResource(ctx context.Context, in *ListTagsInput) (*ListTagsOutput, error)
}

// ListTagsInput is a request for a page of the tags of a table.
type ListTagsInput struct {
	ResourceArn string
	NextToken   string
}

// ListTagsOutput is a page of tags. NextToken is empty on the last page.
type ListTagsOutput struct {
	Tags      []Tag
	NextToken string
}
