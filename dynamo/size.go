package dynamo

// Sizes in DynamoDB, in bytes. The rules are those of "DynamoDB item sizes and formats" in the
// developer guide. The size of a number, for which the guide gives an approximation, is the one
// that the service charges.
const (
	// ItemSizeMax is the maximum size of an item, including attribute names.
	ItemSizeMax = 400 << 10
	// PageSizeMax is the amount of data that one page of a Query or Scan evaluates.
	PageSizeMax = 1 << 20
	// ReadUnitSize is the number of bytes in one read capacity unit.
	ReadUnitSize = 4 << 10
	// WriteUnitSize is the number of bytes in one write capacity unit.
	WriteUnitSize = 1 << 10

	containerOverhead = 3 // for a list or a map
	elementOverhead   = 1 // for each element of a list or a map
)

// Size returns the size of the value in bytes, without the attribute's name.
func (v Value) Size() int {
	switch v.Kind() {
	case KindS, KindB:
		return v.length()
	case KindN:
		return numberSize(v.text(), v.Checked())
	case KindBOOL, KindNULL:
		return 1
	case KindL:
		size := containerOverhead
		for _, e := range v.L() {
			size += elementOverhead + e.Size()
		}
		return size
	case KindM:
		size := containerOverhead
		for name, e := range v.M() {
			size += elementOverhead + len(name) + e.Size()
		}
		return size
	case KindSS:
		size := 0
		for _, e := range v.SS() {
			size += len(e)
		}
		return size
	case KindNS:
		size := 0
		for _, e := range v.NS() {
			size += numberSize(e, v.Checked())
		}
		return size
	case KindBS:
		size := 0
		for _, e := range v.BS() {
			size += len(e)
		}
		return size
	}
	return 0
}

// numberSize returns the length of text if it is not a number, because such a value is refused
// before its size matters.
func numberSize(text string, canonical bool) int {
	if !canonical {
		c, err := CanonicalNumber(text)
		if err != nil {
			return len(text)
		}
		text = c
	}
	return NumberSize(text)
}

// Size returns the size of the item in bytes: the UTF-8 lengths of its attribute names and the
// sizes of their values.
func (it Item) Size() int {
	size := 0
	for name, v := range it {
		size += len(name) + v.Size()
	}
	return size
}
