package wire

import (
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// legacyUpdate is the change of one attribute in AttributeUpdates.
type legacyUpdate struct {
	name   string
	action string
	value  dynamo.Value
	valued bool
}

var updateActions = []string{"ADD", "PUT", "DELETE"}

// legacyUpdates reads AttributeUpdates. An action that is absent is PUT.
func (r *reader) legacyUpdates() []legacyUpdate {
	all := []legacyUpdate{}
	for r.object(); r.member(); {
		if !r.keep(len(all)) {
			continue
		}
		// PUT is the default action ("AttributeValueUpdate" in the API reference).
		one := legacyUpdate{name: string(r.name), action: "PUT"}
		for r.object(); r.member(); {
			switch string(r.name) {
			case "Action":
				one.action = r.string()
			case "Value":
				one.value, one.valued = r.value(1), true
			default:
				r.skip()
			}
		}
		if one.valued && one.value.IsAbsent() {
			r.refuse(messageNoType)
		}
		all = append(all, one)
	}
	return all
}

// check refuses an action that does not support its value.
func (u *legacyUpdate) check() string {
	kind := u.value.Kind()
	set := kind == dynamo.KindSS || kind == dynamo.KindNS || kind == dynamo.KindBS
	switch {
	case !u.valued && u.action != "DELETE":
		return legacyInvalid + "Only DELETE action is allowed when no attribute value is specified"
	case u.valued && u.action == "DELETE" && !set:
		return legacyInvalid + "DELETE action with value is not supported for the type " +
			kind.String()
	case u.action == "ADD" && !set && kind != dynamo.KindN && kind != dynamo.KindL:
		return legacyInvalid + "ADD action is not supported for the type " + kind.String()
	}
	return ""
}

// update translates validated updates. Without updates there is no expression, and the update
// creates an item that has only its key.
func (p *placeholders) update(all []legacyUpdate) string {
	var set, remove, add, remaining []string
	for i := range all {
		u := &all[i]
		name := p.name(u.name)
		switch {
		// DELETE without a value removes the whole attribute of any type.
		case !u.valued:
			remove = append(remove, name)
		case u.action == "PUT":
			set = append(set, name+"="+p.value(u.value))
		case u.action == "DELETE":
			// DELETE with a set removes elements of the set.
			remaining = append(remaining, name+" "+p.value(u.value))
		case u.value.Kind() == dynamo.KindL:
			// ADD of a list appends it.
			set = append(set, name+"=list_append(if_not_exists("+name+","+
				p.value(dynamo.L())+"),"+p.value(u.value)+")")
		default:
			add = append(add, name+" "+p.value(u.value))
		}
	}
	var clauses []string
	for _, c := range []struct {
		word  string
		parts []string
	}{{"SET ", set}, {"REMOVE ", remove}, {"ADD ", add}, {"DELETE ", remaining}} {
		if len(c.parts) > 0 {
			clauses = append(clauses, c.word+strings.Join(c.parts, ","))
		}
	}
	return strings.Join(clauses, " ")
}
