package expr

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits of values, from "Supported data types and naming rules in Amazon DynamoDB".
const (
	// ValueLevelsMax is the maximum nesting of a value. A scalar has one level.
	ValueLevelsMax = 32
	// AttributeNameMax is the maximum length of the name of an attribute or of a member of a map,
	// in bytes.
	AttributeNameMax = 65535
)

const (
	invalidParameter = "One or more parameter values were invalid: "
	emptyValue       = "Supplied AttributeValue is empty, must contain exactly one of the " +
		"supported datatypes"
	tooDeep = "Nesting Levels have exceeded supported limits: Attributes in the item have nested " +
		"levels beyond supported limit"
	emptyName   = "Empty attribute name"
	nameTooLong = "Attribute name is too large, must be less than 65536 bytes"
)

// CheckValue returns v in canonical form and marked as checked; all its numbers are canonical. A
// value that is already marked is returned unchanged. The error is a *dynamo.Error with the
// service's message for an item with such a value: an invalid number, one out of range, an empty
// set, a set with a duplicate, a missing type, or nesting deeper than ValueLevelsMax.
func CheckValue(v dynamo.Value) (dynamo.Value, error) {
	if v.Checked() {
		return v, nil
	}
	checked, refusal := checkValue(v, 1)
	if refusal != "" {
		return dynamo.Value{}, dynamo.Invalid(refusal)
	}
	return checked, nil
}

// CheckItem checks each attribute of an item as CheckValue does, and the names of the attributes.
// It returns the item itself if it need not be changed.
func CheckItem(item dynamo.Item) (dynamo.Item, error) {
	members, refusal := checkMembers(item, 1)
	if refusal != "" {
		return nil, dynamo.Invalid(refusal)
	}
	return members, nil
}

// checkValue checks a value at the given level, and returns a refusal or "".
func checkValue(v dynamo.Value, level int) (dynamo.Value, string) {
	if v.Checked() {
		if level > 1 && deeper(v, ValueLevelsMax+1-level) {
			return v, tooDeep
		}
		return v, ""
	}
	if level > ValueLevelsMax {
		return v, tooDeep
	}
	switch v.Kind() {
	case dynamo.Absent:
		return v, emptyValue
	case dynamo.KindN:
		text, err := dynamo.CanonicalNumber(v.N())
		if err != nil {
			return v, err.Error()
		}
		return dynamo.CanonicalN(text), ""
	case dynamo.KindL:
		elems, refusal := checkElements(v.L(), level)
		return dynamo.MarkChecked(dynamo.L(elems...)), refusal
	case dynamo.KindM:
		members, refusal := checkMembers(v.M(), level+1)
		return dynamo.MarkChecked(dynamo.M(members)), refusal
	case dynamo.KindSS:
		return dynamo.MarkChecked(v), checkStrings(v.SS())
	case dynamo.KindNS:
		return checkNumbers(v.NS())
	case dynamo.KindBS:
		return dynamo.MarkChecked(v), checkBinaries(v.BS())
	}
	return dynamo.MarkChecked(v), ""
}

// deeper reports whether a value has more levels of nesting than levels.
func deeper(v dynamo.Value, levels int) bool {
	if levels <= 0 {
		return true
	}
	switch v.Kind() {
	case dynamo.KindL:
		for _, e := range v.L() {
			if deeper(e, levels-1) {
				return true
			}
		}
	case dynamo.KindM:
		for _, e := range v.M() {
			if deeper(e, levels-1) {
				return true
			}
		}
	}
	return false
}

// checkElements copies the list only if an element was not marked as checked.
func checkElements(elems []dynamo.Value, level int) ([]dynamo.Value, string) {
	out := elems
	for i, e := range elems {
		checked, refusal := checkValue(e, level+1)
		if refusal != "" {
			return nil, refusal
		}
		if e.Checked() {
			continue
		}
		if &out[0] == &elems[0] {
			out = slices.Clone(elems)
		}
		out[i] = checked
	}
	return out, ""
}

// checkMembers copies the map only if a member was not marked as checked. If there are several
// refusals, it returns that of the first name in order.
func checkMembers(
	members map[string]dynamo.Value, level int,
) (map[string]dynamo.Value, string) {
	out := members
	first, refusal := "", ""
	copied := false
	for name, v := range members {
		checked, bad := checkMember(name, v, level)
		switch {
		case bad != "":
			// No other member is checked again, because deep values would take too long.
			if refusal == "" || name < first {
				first, refusal = name, bad
			}
		case refusal == "" && !v.Checked():
			if !copied {
				out, copied = maps.Clone(members), true
			}
			out[name] = checked
		}
	}
	return out, refusal
}

func checkMember(name string, v dynamo.Value, level int) (dynamo.Value, string) {
	if refusal := checkName(name); refusal != "" {
		return v, invalidParameter + refusal
	}
	return checkValue(v, level)
}

func checkName(name string) string {
	switch {
	case name == "":
		return emptyName
	case len(name) > AttributeNameMax:
		return nameTooLong
	}
	return ""
}

// The service's messages about sets differ in form.

func checkStrings(elems []string) string {
	if len(elems) == 0 {
		return invalidParameter + "An string set  may not be empty"
	}
	if repeats(elems) {
		return invalidParameter + "Input collection [" + strings.Join(elems, ", ") +
			"] contains duplicates."
	}
	return ""
}

func checkNumbers(elems []string) (dynamo.Value, string) {
	if len(elems) == 0 {
		return dynamo.Value{}, invalidParameter + "An number set  may not be empty"
	}
	out := elems
	for i, e := range elems {
		text, err := dynamo.CanonicalNumber(e)
		if err != nil {
			return dynamo.Value{}, err.Error()
		}
		if text == e {
			continue
		}
		if &out[0] == &elems[0] {
			out = slices.Clone(elems)
		}
		out[i] = text
	}
	if repeats(out) {
		return dynamo.Value{}, "Input collection contains duplicates"
	}
	return dynamo.MarkChecked(dynamo.NS(out...)), ""
}

func checkBinaries(elems [][]byte) string {
	if len(elems) == 0 {
		return invalidParameter + "Binary sets should not be empty"
	}
	texts := make([]string, len(elems))
	for i, e := range elems {
		texts[i] = base64.StdEncoding.EncodeToString(e)
	}
	if repeats(texts) {
		return invalidParameter + "Input collection [" + strings.Join(texts, ", ") +
			"]of type BS contains duplicates."
	}
	return ""
}

// fewElements is the number of elements up to which comparing all pairs is faster than a map.
const fewElements = 16

// repeats reports whether the elements have a duplicate.
func repeats(elems []string) bool {
	if len(elems) <= fewElements {
		for i, e := range elems {
			if slices.Contains(elems[:i], e) {
				return true
			}
		}
		return false
	}
	seen := make(map[string]struct{}, len(elems))
	for _, e := range elems {
		seen[e] = struct{}{}
	}
	return len(seen) < len(elems)
}
