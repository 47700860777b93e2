package wire

import (
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The parts of table definitions.

// keep reports whether a list with n elements keeps its next element. Otherwise it skips the
// element.
func (r *reader) keep(n int) bool {
	if n < listKept {
		return true
	}
	r.skip()
	return false
}

// many reads a list.
func many[T any](r *reader, one func() T) []T {
	all := []T{}
	for r.list(); r.element(); {
		if r.keep(len(all)) {
			all = append(all, one())
		}
	}
	return all
}

// definitions reads the types of key attributes. Unknown types are refused here, because a
// dynamo.Kind cannot represent them.
func (r *reader) definitions() []dynamo.AttributeDefinition {
	all := []dynamo.AttributeDefinition{}
	for r.list(); r.element(); {
		if !r.keep(len(all)) {
			continue
		}
		var one dynamo.AttributeDefinition
		kind := ""
		for r.object(); r.member(); {
			switch string(r.name) {
			case "AttributeName":
				one.AttributeName = r.string()
			case "AttributeType":
				kind = r.string()
			default:
				r.skip()
			}
		}
		path := fmt.Sprintf("attributeDefinitions.%d.member.attributeType", len(all)+1)
		switch one.AttributeType = dynamo.KindOf(kind); {
		case kind == "":
			r.require(false, path)
		case one.AttributeType != dynamo.KindS && one.AttributeType != dynamo.KindN &&
			one.AttributeType != dynamo.KindB:
			r.refuse(outOfSet(kind, path, "[B, N, S]"))
		}
		all = append(all, one)
	}
	return all
}

// outOfSet returns the service's message about a value that is not in its set of values.
func outOfSet(value, path, set string) string {
	return fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy "+
		"constraint: Member must satisfy enum value set: %s", value, path, set)
}

// keySchema reads a key schema. Elements above listKept are skipped.
func (r *reader) keySchema() []dynamo.KeySchemaElement {
	all := []dynamo.KeySchemaElement{}
	for r.list(); r.element(); {
		if !r.keep(len(all)) {
			continue
		}
		var one dynamo.KeySchemaElement
		for r.object(); r.member(); {
			switch string(r.name) {
			case "AttributeName":
				one.AttributeName = r.string()
			case "KeyType":
				one.KeyType = dynamo.KeyType(r.string())
			default:
				r.skip()
			}
		}
		all = append(all, one)
	}
	return all
}

func (r *reader) projection() dynamo.Projection {
	var p dynamo.Projection
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ProjectionType":
			p.ProjectionType = dynamo.ProjectionType(r.string())
		case "NonKeyAttributes":
			p.NonKeyAttributes = r.strings()
		default:
			r.skip()
		}
	}
	return p
}

// provisioned reads a throughput. path names it in the error of a missing member.
func (r *reader) provisioned(path string) *dynamo.ProvisionedThroughput {
	pt := &dynamo.ProvisionedThroughput{}
	read, write := false, false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ReadCapacityUnits":
			pt.ReadCapacityUnits, read = int64(r.int()), true
		case "WriteCapacityUnits":
			pt.WriteCapacityUnits, write = int64(r.int()), true
		default:
			r.skip()
		}
	}
	r.require(write, path+".writeCapacityUnits")
	r.require(read, path+".readCapacityUnits")
	return pt
}

func (r *reader) onDemand() *dynamo.OnDemandThroughput {
	od := &dynamo.OnDemandThroughput{}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "MaxReadRequestUnits":
			od.MaxReadRequestUnits = r.units("maxReadRequestUnits")
		case "MaxWriteRequestUnits":
			od.MaxWriteRequestUnits = r.units("maxWriteRequestUnits")
		default:
			r.skip()
		}
	}
	return od
}

// units reads a maximum throughput. Zero is refused here, because for a store it means that none is
// given.
func (r *reader) units(member string) int64 {
	n := r.int()
	if n == 0 && r.err == nil {
		r.refuse(fmt.Sprintf("1 validation error detected: Value '0' at "+
			"'onDemandThroughput.%s' failed to satisfy constraint: Member must have value "+
			"greater than or equal to 1", member))
	}
	return int64(n)
}

func (r *reader) globalIndex() dynamo.GlobalSecondaryIndex {
	var ix dynamo.GlobalSecondaryIndex
	for r.object(); r.member(); {
		switch string(r.name) {
		case "IndexName":
			ix.IndexName = r.string()
		case "KeySchema":
			ix.KeySchema = r.keySchema()
		case "Projection":
			ix.Projection = r.projection()
		case "ProvisionedThroughput":
			ix.ProvisionedThroughput = r.provisioned("provisionedThroughput")
		case "OnDemandThroughput":
			ix.OnDemandThroughput = r.onDemand()
		default:
			r.skip()
		}
	}
	return ix
}

func (r *reader) localIndex() dynamo.LocalSecondaryIndex {
	var ix dynamo.LocalSecondaryIndex
	for r.object(); r.member(); {
		switch string(r.name) {
		case "IndexName":
			ix.IndexName = r.string()
		case "KeySchema":
			ix.KeySchema = r.keySchema()
		case "Projection":
			ix.Projection = r.projection()
		default:
			r.skip()
		}
	}
	return ix
}

// indexUpdate reads one change of an index: create, update or delete.
func (r *reader) indexUpdate() dynamo.GlobalSecondaryIndexUpdate {
	var u dynamo.GlobalSecondaryIndexUpdate
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Create":
			ix := r.globalIndex()
			u.Create = &ix
		case "Update":
			ix := r.globalIndex()
			u.Update = &dynamo.UpdateIndex{
				IndexName:             ix.IndexName,
				ProvisionedThroughput: ix.ProvisionedThroughput,
				OnDemandThroughput:    ix.OnDemandThroughput,
			}
		case "Delete":
			u.Delete = r.globalIndex().IndexName
		default:
			r.skip()
		}
	}
	return u
}

// streamSpecification reads a stream specification, of which only StreamEnabled is required.
func (r *reader) streamSpecification() *dynamo.StreamSpecification {
	spec := &dynamo.StreamSpecification{}
	enabled := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "StreamEnabled":
			spec.StreamEnabled, enabled = r.bool(), true
		case "StreamViewType":
			spec.StreamViewType = dynamo.StreamViewType(r.string())
		default:
			r.skip()
		}
	}
	r.require(enabled, "streamSpecification.streamEnabled")
	return spec
}
