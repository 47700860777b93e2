package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ListStreams implements [dynamo.Streams].
func (db *DB) ListStreams(
	ctx context.Context, in *dynamo.ListStreamsInput,
) (*dynamo.ListStreamsOutput, error) {
	out, err := db.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{
		TableName:               optional(in.TableName),
		ExclusiveStartStreamArn: optional(in.ExclusiveStartStreamArn),
		Limit:                   limit(in.Limit),
	})
	if err != nil {
		return nil, translate(ctx, "ListStreams", err)
	}
	answer := &dynamo.ListStreamsOutput{
		LastEvaluatedStreamArn: deref(out.LastEvaluatedStreamArn),
	}
	for _, s := range out.Streams {
		answer.Streams = append(answer.Streams, dynamo.StreamSummary{
			StreamArn:   deref(s.StreamArn),
			StreamLabel: deref(s.StreamLabel),
			TableName:   deref(s.TableName),
		})
	}
	return answer, nil
}

// DescribeStream implements [dynamo.Streams].
func (db *DB) DescribeStream(
	ctx context.Context, in *dynamo.DescribeStreamInput,
) (*dynamo.StreamDescription, error) {
	call := &dynamodbstreams.DescribeStreamInput{
		StreamArn:             aws.String(in.StreamArn),
		ExclusiveStartShardId: optional(in.ExclusiveStartShardID),
		Limit:                 limit(in.Limit),
	}
	if in.ChildrenOf != "" {
		call.ShardFilter = &streamtypes.ShardFilter{
			Type:    streamtypes.ShardFilterTypeChildShards,
			ShardId: aws.String(in.ChildrenOf),
		}
	}
	out, err := db.streams.DescribeStream(ctx, call)
	if err != nil {
		return nil, translate(ctx, "DescribeStream", err)
	}
	d := deref(out.StreamDescription)
	answer := &dynamo.StreamDescription{
		StreamSummary: dynamo.StreamSummary{
			StreamArn:   deref(d.StreamArn),
			StreamLabel: deref(d.StreamLabel),
			TableName:   deref(d.TableName),
		},
		StreamStatus:            dynamo.StreamStatus(d.StreamStatus),
		StreamViewType:          dynamo.StreamViewType(d.StreamViewType),
		CreationRequestDateTime: deref(d.CreationRequestDateTime),
		LastEvaluatedShardID:    deref(d.LastEvaluatedShardId),
	}
	for _, e := range d.KeySchema {
		answer.KeySchema = append(answer.KeySchema, dynamo.KeySchemaElement{
			AttributeName: deref(e.AttributeName), KeyType: dynamo.KeyType(e.KeyType),
		})
	}
	for _, s := range d.Shards {
		numbers := deref(s.SequenceNumberRange)
		answer.Shards = append(answer.Shards, dynamo.Shard{
			ShardID:                deref(s.ShardId),
			ParentShardID:          deref(s.ParentShardId),
			StartingSequenceNumber: deref(numbers.StartingSequenceNumber),
			EndingSequenceNumber:   deref(numbers.EndingSequenceNumber),
		})
	}
	return answer, nil
}

// GetShardIterator implements [dynamo.Streams].
func (db *DB) GetShardIterator(
	ctx context.Context, in *dynamo.GetShardIteratorInput,
) (string, error) {
	out, err := db.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         aws.String(in.StreamArn),
		ShardId:           aws.String(in.ShardID),
		ShardIteratorType: streamtypes.ShardIteratorType(in.ShardIteratorType),
		SequenceNumber:    optional(in.SequenceNumber),
	})
	if err != nil {
		return "", translate(ctx, "GetShardIterator", err)
	}
	return deref(out.ShardIterator), nil
}

// GetRecords implements [dynamo.Streams].
func (db *DB) GetRecords(
	ctx context.Context, in *dynamo.GetRecordsInput,
) (*dynamo.GetRecordsOutput, error) {
	out, err := db.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: aws.String(in.ShardIterator), Limit: limit(in.Limit),
	})
	if err != nil {
		return nil, translate(ctx, "GetRecords", err)
	}
	answer := &dynamo.GetRecordsOutput{NextShardIterator: deref(out.NextShardIterator)}
	for _, r := range out.Records {
		answer.Records = append(answer.Records, record(r))
	}
	return answer, nil
}

// expirer is the identity that deletes expired items, as it is in the service's records.
const expirer = "dynamodb.amazonaws.com"

func record(r streamtypes.Record) dynamo.StreamRecord {
	change := deref(r.Dynamodb)
	who := deref(r.UserIdentity)
	return dynamo.StreamRecord{
		EventID:                     deref(r.EventID),
		EventName:                   dynamo.StreamEvent(r.EventName),
		AWSRegion:                   deref(r.AwsRegion),
		Expired:                     deref(who.PrincipalId) == expirer,
		ApproximateCreationDateTime: deref(change.ApproximateCreationDateTime),
		Keys:                        streamItem(change.Keys),
		NewImage:                    streamItem(change.NewImage),
		OldImage:                    streamItem(change.OldImage),
		SequenceNumber:              deref(change.SequenceNumber),
		SizeBytes:                   deref(change.SizeBytes),
		StreamViewType:              dynamo.StreamViewType(change.StreamViewType),
	}
}
