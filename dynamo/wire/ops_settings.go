package wire

import (
	"context"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The default limits of an account of the service, in capacity units ("Service, account, and table
// quotas" in the developer guide).
const (
	accountUnitsMax = 80000
	tableUnitsMax   = 40000
)

// endpointMinutes is the time for which a client may cache an endpoint: one day, as on the service.
const endpointMinutes = 1440

// offerService adds the operations that describe the service.
func offerService(ops operations) {
	ops[targetTables+"DescribeLimits"] = describeLimits
	ops[targetTables+"DescribeEndpoints"] = describeEndpoints
}

func describeLimits(_ context.Context, r *reader, w *writer) error {
	r.skip()
	if err := r.end(); err != nil {
		return err
	}
	w.open('{')
	w.key("AccountMaxReadCapacityUnits")
	w.int(accountUnitsMax)
	w.key("AccountMaxWriteCapacityUnits")
	w.int(accountUnitsMax)
	w.key("TableMaxReadCapacityUnits")
	w.int(tableUnitsMax)
	w.key("TableMaxWriteCapacityUnits")
	w.int(tableUnitsMax)
	w.close('}')
	return nil
}

// describeEndpoints returns the address that the client used.
func describeEndpoints(_ context.Context, r *reader, w *writer) error {
	r.skip()
	if err := r.end(); err != nil {
		return err
	}
	w.open('{')
	w.key("Endpoints")
	w.open('[')
	w.open('{')
	w.key("Address")
	w.string(r.host)
	w.key("CachePeriodInMinutes")
	w.int(endpointMinutes)
	w.close('}')
	w.close(']')
	w.close('}')
	return nil
}

// offerExpiry adds the operations on expiry.
func offerExpiry(ops operations, admin dynamo.Admin) {
	offer(ops, targetTables+"UpdateTimeToLive", decodeUpdateTimeToLive,
		func(ctx context.Context, in *dynamo.UpdateTimeToLiveInput) (struct{}, error) {
			return struct{}{}, admin.UpdateTimeToLive(ctx, in)
		}, encodeUpdateTimeToLive)
	offer(ops, targetTables+"DescribeTimeToLive", decodeNamed, named(admin.DescribeTimeToLive),
		encodeDescribeTimeToLive)
}

func decodeUpdateTimeToLive(r *reader, in *dynamo.UpdateTimeToLiveInput) {
	table, spec, name, enabled := false, false, false, false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "TimeToLiveSpecification":
			spec = true
			for r.object(); r.member(); {
				switch string(r.name) {
				case "AttributeName":
					in.AttributeName, name = r.string(), true
				case "Enabled":
					in.Enabled, enabled = r.bool(), true
				default:
					r.skip()
				}
			}
		default:
			r.skip()
		}
	}
	r.require(spec, "timeToLiveSpecification")
	r.require(!spec || enabled, "timeToLiveSpecification.enabled")
	r.require(!spec || name, "timeToLiveSpecification.attributeName")
	r.require(table, "tableName")
}

func encodeUpdateTimeToLive(w *writer, in *dynamo.UpdateTimeToLiveInput, _ struct{}) {
	w.open('{')
	w.key("TimeToLiveSpecification")
	w.open('{')
	w.member("AttributeName", in.AttributeName)
	w.key("Enabled")
	w.bool(in.Enabled)
	w.close('}')
	w.close('}')
}

func encodeDescribeTimeToLive(w *writer, _ *namedInput, out *dynamo.TimeToLiveDescription) {
	w.open('{')
	w.key("TimeToLiveDescription")
	w.open('{')
	w.member("AttributeName", out.AttributeName)
	w.member("TimeToLiveStatus", string(out.TimeToLiveStatus))
	w.close('}')
	w.close('}')
}

// offerTags adds the operations on tags. Those that change tags have an empty response.
func offerTags(ops operations, tagger dynamo.Tagger) {
	offer(ops, targetTables+"TagResource", decodeTag,
		func(ctx context.Context, in *tagInput) (struct{}, error) {
			return struct{}{}, tagger.TagResource(ctx, in.arn, in.tags)
		}, encodeNothing)
	offer(ops, targetTables+"UntagResource", decodeTag,
		func(ctx context.Context, in *tagInput) (struct{}, error) {
			return struct{}{}, tagger.UntagResource(ctx, in.arn, in.keys)
		}, encodeNothing)
	offer(ops, targetTables+"ListTagsOfResource", decodeListTags, tagger.ListTagsOfResource,
		encodeListTags)
}

// tagInput is the input of both calls that change tags; each of them uses one of the lists.
type tagInput struct {
	arn  string
	tags []dynamo.Tag
	keys []string
}

func decodeTag(r *reader, in *tagInput) {
	arn := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ResourceArn":
			in.arn, arn = r.string(), true
		case "Tags":
			in.tags = r.tags()
		case "TagKeys":
			in.keys = r.strings()
		default:
			r.skip()
		}
	}
	r.require(arn, "resourceArn")
}

func encodeNothing(*writer, *tagInput, struct{}) {}

func (r *reader) tags() []dynamo.Tag {
	all := []dynamo.Tag{}
	for r.list(); r.element(); {
		if !r.keep(len(all)) {
			continue
		}
		var one dynamo.Tag
		for r.object(); r.member(); {
			switch string(r.name) {
			case "Key":
				one.Key = r.string()
			case "Value":
				one.Value = r.string()
			default:
				r.skip()
			}
		}
		all = append(all, one)
	}
	return all
}

func decodeListTags(r *reader, in *dynamo.ListTagsInput) {
	arn := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ResourceArn":
			in.ResourceArn, arn = r.string(), true
		case "NextToken":
			in.NextToken = r.string()
		default:
			r.skip()
		}
	}
	r.require(arn, "resourceArn")
}

func encodeListTags(w *writer, _ *dynamo.ListTagsInput, out *dynamo.ListTagsOutput) {
	w.open('{')
	w.key("Tags")
	w.open('[')
	for _, tag := range out.Tags {
		w.open('{')
		w.key("Key")
		w.string(tag.Key)
		w.key("Value")
		w.string(tag.Value)
		w.close('}')
	}
	w.close(']')
	w.member("NextToken", out.NextToken)
	w.close('}')
}
