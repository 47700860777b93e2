package awssdk

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// values converts an optional map; nil stays nil.
func values(m map[string]dynamo.Value) map[string]types.AttributeValue {
	if m == nil {
		return nil
	}
	return required(m)
}

// required converts a map that the service requires even if it is empty.
func required(m map[string]dynamo.Value) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(m))
	for name, v := range m {
		out[name] = value(v)
	}
	return out
}

func valueList(vs []dynamo.Value) []types.AttributeValue {
	if len(vs) == 0 {
		return nil
	}
	out := make([]types.AttributeValue, len(vs))
	for i, v := range vs {
		out[i] = value(v)
	}
	return out
}

// value converts one value. Empty slices are not nil, because the SDK would send nil as null. An
// absent value becomes a null with the value false, which the service refuses, because the SDK
// would omit it.
func value(v dynamo.Value) types.AttributeValue {
	switch v.Kind() {
	case dynamo.KindS:
		return &types.AttributeValueMemberS{Value: v.S()}
	case dynamo.KindN:
		return &types.AttributeValueMemberN{Value: v.N()}
	case dynamo.KindB:
		return &types.AttributeValueMemberB{Value: notNil(v.B())}
	case dynamo.KindBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case dynamo.KindNULL:
		return &types.AttributeValueMemberNULL{Value: true}
	case dynamo.KindL:
		list := make([]types.AttributeValue, len(v.L()))
		for i, e := range v.L() {
			list[i] = value(e)
		}
		return &types.AttributeValueMemberL{Value: list}
	case dynamo.KindM:
		return &types.AttributeValueMemberM{Value: required(v.M())}
	case dynamo.KindSS:
		return &types.AttributeValueMemberSS{Value: notNil(v.SS())}
	case dynamo.KindNS:
		return &types.AttributeValueMemberNS{Value: notNil(v.NS())}
	case dynamo.KindBS:
		return &types.AttributeValueMemberBS{Value: notNil(v.BS())}
	}
	return &types.AttributeValueMemberNULL{Value: false}
}

func notNil[E any](s []E) []E {
	if s == nil {
		return []E{}
	}
	return s
}

// item converts an item of a response; nil stays nil for an item that does not exist.
func item(m map[string]types.AttributeValue) dynamo.Item {
	if m == nil {
		return nil
	}
	out := make(dynamo.Item, len(m))
	for name, v := range m {
		out[name] = valueOf(v)
	}
	return out
}

func items(ms []map[string]types.AttributeValue) []dynamo.Item {
	if len(ms) == 0 {
		return nil
	}
	out := make([]dynamo.Item, len(ms))
	for i, m := range ms {
		out[i] = item(m)
	}
	return out
}

// valueOf converts a value of a response. A type that this version does not know becomes absent.
func valueOf(v types.AttributeValue) dynamo.Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return dynamo.S(v.Value)
	case *types.AttributeValueMemberN:
		return dynamo.N(v.Value)
	case *types.AttributeValueMemberB:
		return dynamo.B(v.Value)
	case *types.AttributeValueMemberBOOL:
		return dynamo.Bool(v.Value)
	case *types.AttributeValueMemberNULL:
		return dynamo.Null()
	case *types.AttributeValueMemberL:
		list := make([]dynamo.Value, len(v.Value))
		for i, e := range v.Value {
			list[i] = valueOf(e)
		}
		return dynamo.L(list...)
	case *types.AttributeValueMemberM:
		members := make(map[string]dynamo.Value, len(v.Value))
		for name, e := range v.Value {
			members[name] = valueOf(e)
		}
		return dynamo.M(members)
	case *types.AttributeValueMemberSS:
		return dynamo.SS(v.Value...)
	case *types.AttributeValueMemberNS:
		return dynamo.NS(v.Value...)
	case *types.AttributeValueMemberBS:
		return dynamo.BS(v.Value...)
	}
	return dynamo.Value{}
}

// streamItem is item for the streams client, which has its own copies of the types.
func streamItem(m map[string]streamtypes.AttributeValue) dynamo.Item {
	if m == nil {
		return nil
	}
	out := make(dynamo.Item, len(m))
	for name, v := range m {
		out[name] = streamValue(v)
	}
	return out
}

func streamValue(v streamtypes.AttributeValue) dynamo.Value {
	switch v := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return dynamo.S(v.Value)
	case *streamtypes.AttributeValueMemberN:
		return dynamo.N(v.Value)
	case *streamtypes.AttributeValueMemberB:
		return dynamo.B(v.Value)
	case *streamtypes.AttributeValueMemberBOOL:
		return dynamo.Bool(v.Value)
	case *streamtypes.AttributeValueMemberNULL:
		return dynamo.Null()
	case *streamtypes.AttributeValueMemberL:
		list := make([]dynamo.Value, len(v.Value))
		for i, e := range v.Value {
			list[i] = streamValue(e)
		}
		return dynamo.L(list...)
	case *streamtypes.AttributeValueMemberM:
		members := make(map[string]dynamo.Value, len(v.Value))
		for name, e := range v.Value {
			members[name] = streamValue(e)
		}
		return dynamo.M(members)
	case *streamtypes.AttributeValueMemberSS:
		return dynamo.SS(v.Value...)
	case *streamtypes.AttributeValueMemberNS:
		return dynamo.NS(v.Value...)
	case *streamtypes.AttributeValueMemberBS:
		return dynamo.BS(v.Value...)
	}
	return dynamo.Value{}
}

// optional returns a pointer to v, or nil for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// limit returns a limit for the protocol; 0 means no limit.
func limit(n int) *int32 { return optional(narrow(n)) }

// narrow converts a number to the protocol's 32 bits. A value out of range is clamped. The service
// rejects the clamped value too.
func narrow(n int) int32 { return int32(max(math.MinInt32, min(math.MaxInt32, n))) }

// deref returns what p points to, or the zero value for nil.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
