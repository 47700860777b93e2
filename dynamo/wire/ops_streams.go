package wire

import (
	"github.com/exchequer-dev/exchequer/dynamo"
)

// The members that are the same in every stream record.
const (
	recordVersion = "1.1"
	recordSource  = "aws:dynamodb"
)

// The identity that deletes expired items. As on the service, and unlike some emulators, the type
// begins with a capital letter.
const (
	expiryPrincipal = "dynamodb.amazonaws.com"
	expiryType      = "Service"
)

// offerStreams adds the operations on streams, which belong to the service's second model.
func offerStreams(ops operations, streams dynamo.Streams) {
	offer(ops, targetStreams+"ListStreams", decodeListStreams, streams.ListStreams,
		encodeListStreams)
	offer(ops, targetStreams+"DescribeStream", decodeDescribeStream, streams.DescribeStream,
		encodeDescribeStream)
	offer(ops, targetStreams+"GetShardIterator", decodeGetShardIterator,
		streams.GetShardIterator, encodeGetShardIterator)
	offer(ops, targetStreams+"GetRecords", decodeGetRecords, streams.GetRecords, encodeGetRecords)
}

func decodeListStreams(r *reader, in *dynamo.ListStreamsInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName = r.string()
		case "ExclusiveStartStreamArn":
			in.ExclusiveStartStreamArn = r.string()
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		default:
			r.skip()
		}
	}
}

func encodeListStreams(w *writer, _ *dynamo.ListStreamsInput, out *dynamo.ListStreamsOutput) {
	w.open('{')
	w.key("Streams")
	w.open('[')
	for i := range out.Streams {
		w.open('{')
		w.streamSummary(&out.Streams[i])
		w.close('}')
	}
	w.close(']')
	w.member("LastEvaluatedStreamArn", out.LastEvaluatedStreamArn)
	w.close('}')
}

func (w *writer) streamSummary(s *dynamo.StreamSummary) {
	w.member("StreamArn", s.StreamArn)
	w.member("StreamLabel", s.StreamLabel)
	w.member("TableName", s.TableName)
}

// shardFilterChildren is the only filter of shards.
const shardFilterChildren = "CHILD_SHARDS"

func decodeDescribeStream(r *reader, in *dynamo.DescribeStreamInput) {
	arn := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "StreamArn":
			in.StreamArn, arn = r.string(), true
		case "ExclusiveStartShardId":
			in.ExclusiveStartShardID = r.string()
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		case "ShardFilter":
			kind := ""
			for r.object(); r.member(); {
				switch string(r.name) {
				case "Type":
					kind = r.string()
				case "ShardId":
					in.ChildrenOf = r.string()
				default:
					r.skip()
				}
			}
			if kind != "" && kind != shardFilterChildren {
				r.refuse(outOfSet(kind, "shardFilter.type", "["+shardFilterChildren+"]"))
			}
		default:
			r.skip()
		}
	}
	r.require(arn, "streamArn")
}

func encodeDescribeStream(w *writer, _ *dynamo.DescribeStreamInput, d *dynamo.StreamDescription) {
	w.open('{')
	w.key("StreamDescription")
	w.open('{')
	w.streamSummary(&d.StreamSummary)
	w.member("StreamStatus", string(d.StreamStatus))
	w.member("StreamViewType", string(d.StreamViewType))
	if !d.CreationRequestDateTime.IsZero() {
		w.key("CreationRequestDateTime")
		w.time(d.CreationRequestDateTime)
	}
	w.key("KeySchema")
	w.keySchema(d.KeySchema)
	w.key("Shards")
	w.open('[')
	for i := range d.Shards {
		s := &d.Shards[i]
		w.open('{')
		w.member("ShardId", s.ShardID)
		w.member("ParentShardId", s.ParentShardID)
		w.key("SequenceNumberRange")
		w.open('{')
		w.member("StartingSequenceNumber", s.StartingSequenceNumber)
		w.member("EndingSequenceNumber", s.EndingSequenceNumber)
		w.close('}')
		w.close('}')
	}
	w.close(']')
	w.member("LastEvaluatedShardId", d.LastEvaluatedShardID)
	w.close('}')
	w.close('}')
}

func decodeGetShardIterator(r *reader, in *dynamo.GetShardIteratorInput) {
	arn, shard, kind := false, false, false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "StreamArn":
			in.StreamArn, arn = r.string(), true
		case "ShardId":
			in.ShardID, shard = r.string(), true
		case "ShardIteratorType":
			in.ShardIteratorType, kind = dynamo.ShardIteratorType(r.string()), true
		case "SequenceNumber":
			in.SequenceNumber = r.string()
		default:
			r.skip()
		}
	}
	r.require(kind, "shardIteratorType")
	r.require(shard, "shardId")
	r.require(arn, "streamArn")
}

func encodeGetShardIterator(w *writer, _ *dynamo.GetShardIteratorInput, iterator string) {
	w.open('{')
	w.member("ShardIterator", iterator)
	w.close('}')
}

func decodeGetRecords(r *reader, in *dynamo.GetRecordsInput) {
	iterator := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ShardIterator":
			in.ShardIterator, iterator = r.string(), true
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		default:
			r.skip()
		}
	}
	r.require(iterator, "shardIterator")
}

func encodeGetRecords(w *writer, _ *dynamo.GetRecordsInput, out *dynamo.GetRecordsOutput) {
	w.open('{')
	w.key("Records")
	w.open('[')
	for i := range out.Records {
		w.record(&out.Records[i])
	}
	w.close(']')
	w.member("NextShardIterator", out.NextShardIterator)
	w.close('}')
}

// record writes a stream record. The names of its outer members begin in lower case.
func (w *writer) record(rec *dynamo.StreamRecord) {
	w.open('{')
	w.member("eventID", rec.EventID)
	w.member("eventName", string(rec.EventName))
	w.member("eventVersion", recordVersion)
	w.member("eventSource", recordSource)
	w.member("awsRegion", rec.AWSRegion)
	w.key("dynamodb")
	w.open('{')
	w.key("ApproximateCreationDateTime")
	w.int(rec.ApproximateCreationDateTime.Unix())
	w.key("Keys")
	w.item(rec.Keys)
	if rec.NewImage != nil {
		w.key("NewImage")
		w.item(rec.NewImage)
	}
	if rec.OldImage != nil {
		w.key("OldImage")
		w.item(rec.OldImage)
	}
	w.member("SequenceNumber", rec.SequenceNumber)
	w.key("SizeBytes")
	w.int(rec.SizeBytes)
	w.member("StreamViewType", string(rec.StreamViewType))
	w.close('}')
	if rec.Expired {
		w.key("userIdentity")
		w.open('{')
		w.member("PrincipalId", expiryPrincipal)
		w.member("Type", expiryType)
		w.close('}')
	}
	w.close('}')
}
