package wire_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func TestStreamsGoRoundThroughTheSDK(t *testing.T) {
	second := began.Truncate(1e9)
	run(t, map[string]exchange{
		"list": streamsClient((*dynamodbstreams.Client).ListStreams,
			&dynamodbstreams.ListStreamsInput{
				TableName: aws.String("T"), ExclusiveStartStreamArn: aws.String("a"),
				Limit: aws.Int32(3),
			}, &dynamo.ListStreamsInput{
				TableName: "T", ExclusiveStartStreamArn: "a", Limit: 3,
			}, &dynamo.ListStreamsOutput{
				Streams: []dynamo.StreamSummary{{
					StreamArn: "b", StreamLabel: "l", TableName: "T",
				}}, LastEvaluatedStreamArn: "b",
			}, &dynamodbstreams.ListStreamsOutput{
				Streams: []types.Stream{{
					StreamArn: aws.String("b"), StreamLabel: aws.String("l"),
					TableName: aws.String("T"),
				}}, LastEvaluatedStreamArn: aws.String("b"),
			}),
		"describe": streamsClient((*dynamodbstreams.Client).DescribeStream,
			&dynamodbstreams.DescribeStreamInput{
				StreamArn: aws.String("a"), ExclusiveStartShardId: aws.String("s0"),
				Limit: aws.Int32(4), ShardFilter: &types.ShardFilter{
					Type: types.ShardFilterTypeChildShards, ShardId: aws.String("p"),
				},
			}, &dynamo.DescribeStreamInput{
				StreamArn: "a", ExclusiveStartShardID: "s0", Limit: 4, ChildrenOf: "p",
			}, &dynamo.StreamDescription{
				StreamSummary: dynamo.StreamSummary{
					StreamArn: "a", StreamLabel: "l", TableName: "T",
				},
				StreamStatus: dynamo.StreamEnabled, StreamViewType: dynamo.ViewOldImage,
				CreationRequestDateTime: began, KeySchema: dynamo.HashKey("pk"),
				Shards: []dynamo.Shard{
					{ShardID: "s1", StartingSequenceNumber: "1", EndingSequenceNumber: "9"},
					{ShardID: "s2", ParentShardID: "s1", StartingSequenceNumber: "10"},
				}, LastEvaluatedShardID: "s2",
			}, &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{
				StreamArn: aws.String("a"), StreamLabel: aws.String("l"),
				TableName: aws.String("T"), StreamStatus: types.StreamStatusEnabled,
				StreamViewType: types.StreamViewTypeOldImage, CreationRequestDateTime: &began,
				KeySchema: []types.KeySchemaElement{{
					AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash,
				}},
				Shards: []types.Shard{
					{ShardId: aws.String("s1"), SequenceNumberRange: &types.SequenceNumberRange{
						StartingSequenceNumber: aws.String("1"),
						EndingSequenceNumber:   aws.String("9"),
					}},
					{
						ShardId: aws.String("s2"), ParentShardId: aws.String("s1"),
						SequenceNumberRange: &types.SequenceNumberRange{
							StartingSequenceNumber: aws.String("10"),
						},
					},
				}, LastEvaluatedShardId: aws.String("s2"),
			}}),
		"iterator": streamsClient((*dynamodbstreams.Client).GetShardIterator,
			&dynamodbstreams.GetShardIteratorInput{
				StreamArn: aws.String("a"), ShardId: aws.String("s"),
				ShardIteratorType: types.ShardIteratorTypeAtSequenceNumber,
				SequenceNumber:    aws.String("7"),
			}, &dynamo.GetShardIteratorInput{
				StreamArn: "a", ShardID: "s",
				ShardIteratorType: dynamo.IteratorAtSequenceNumber, SequenceNumber: "7",
			}, "place", &dynamodbstreams.GetShardIteratorOutput{
				ShardIterator: aws.String("place"),
			}),
		"records": streamsClient((*dynamodbstreams.Client).GetRecords,
			&dynamodbstreams.GetRecordsInput{
				ShardIterator: aws.String("place"), Limit: aws.Int32(5),
			}, &dynamo.GetRecordsInput{ShardIterator: "place", Limit: 5},
			&dynamo.GetRecordsOutput{
				Records: []dynamo.StreamRecord{{
					EventID: "e", EventName: dynamo.EventRemove, AWSRegion: "local",
					Expired: true, ApproximateCreationDateTime: began,
					Keys:           dynamo.Key{"pk": dynamo.S("k")},
					NewImage:       dynamo.Item{"pk": dynamo.S("k"), "n": dynamo.N("1")},
					OldImage:       dynamo.Item{"pk": dynamo.S("k")},
					SequenceNumber: "12", SizeBytes: 34,
					StreamViewType: dynamo.ViewNewAndOldImages,
				}, {Keys: dynamo.Key{"pk": dynamo.S("k")}, ApproximateCreationDateTime: began}},
				NextShardIterator: "next",
			}, &dynamodbstreams.GetRecordsOutput{
				Records: []types.Record{{
					EventID: aws.String("e"), EventName: types.OperationTypeRemove,
					EventSource: aws.String("aws:dynamodb"), EventVersion: aws.String("1.1"),
					AwsRegion: aws.String("local"),
					UserIdentity: &types.Identity{
						PrincipalId: aws.String("dynamodb.amazonaws.com"),
						Type:        aws.String("Service"),
					},
					Dynamodb: &types.StreamRecord{
						ApproximateCreationDateTime: &second,
						Keys:                        streamed("pk", "k"),
						NewImage: map[string]types.AttributeValue{
							"pk": &types.AttributeValueMemberS{Value: "k"},
							"n":  &types.AttributeValueMemberN{Value: "1"},
						},
						OldImage:       streamed("pk", "k"),
						SequenceNumber: aws.String("12"), SizeBytes: aws.Int64(34),
						StreamViewType: types.StreamViewTypeNewAndOldImages,
					},
				}, {
					EventSource: aws.String("aws:dynamodb"), EventVersion: aws.String("1.1"),
					Dynamodb: &types.StreamRecord{
						ApproximateCreationDateTime: &second, Keys: streamed("pk", "k"),
						SizeBytes: aws.Int64(0),
					},
				}}, NextShardIterator: aws.String("next"),
			}),
		"the last records": streamsClient((*dynamodbstreams.Client).GetRecords,
			&dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("place")},
			&dynamo.GetRecordsInput{ShardIterator: "place"}, &dynamo.GetRecordsOutput{},
			&dynamodbstreams.GetRecordsOutput{Records: []types.Record{}}),
	})
}

func streamed(name, value string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{name: &types.AttributeValueMemberS{Value: value}}
}
