package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// TagResource implements [dynamo.Tagger].
func (db *DB) TagResource(ctx context.Context, arn string, tags []dynamo.Tag) error {
	_, err := db.client.TagResource(ctx, &dynamodb.TagResourceInput{
		ResourceArn: aws.String(arn), Tags: notNil(tagList(tags)),
	})
	return translate(ctx, "TagResource", err)
}

// UntagResource implements [dynamo.Tagger].
func (db *DB) UntagResource(ctx context.Context, arn string, keys []string) error {
	_, err := db.client.UntagResource(ctx, &dynamodb.UntagResourceInput{
		ResourceArn: aws.String(arn), TagKeys: notNil(keys),
	})
	return translate(ctx, "UntagResource", err)
}

// ListTagsOfResource implements [dynamo.Tagger].
func (db *DB) ListTagsOfResource(
	ctx context.Context, in *dynamo.ListTagsInput,
) (*dynamo.ListTagsOutput, error) {
	out, err := db.client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{
		ResourceArn: aws.String(in.ResourceArn), NextToken: optional(in.NextToken),
	})
	if err != nil {
		return nil, translate(ctx, "ListTagsOfResource", err)
	}
	answer := &dynamo.ListTagsOutput{NextToken: deref(out.NextToken)}
	for _, t := range out.Tags {
		answer.Tags = append(answer.Tags, dynamo.Tag{Key: deref(t.Key), Value: deref(t.Value)})
	}
	return answer, nil
}

func tagList(tags []dynamo.Tag) []types.Tag {
	var out []types.Tag
	for _, t := range tags {
		out = append(out, types.Tag{Key: aws.String(t.Key), Value: aws.String(t.Value)})
	}
	return out
}
