package dynamo

// Sizes of what DynamoDB stores, in bytes. The rules are those of "DynamoDB item sizes and
// formats" in the developer guide; the size of a number, which the guide gives as approximate,
// is the one that the service charges.
const (
	// ItemSizeMax is the greatest size of an item, names included.
	ItemSizeMax = 400 << 10
	// PageSizeMax is how much data one page of a Query or Scan evaluates.
	PageSizeMax = 1 << 20
	// ReadUnitSize is how many bytes one read capacity unit covers.
	ReadUnitSize = 4 << 10
	// WriteUnitSize is how many bytes one write capacity unit covers.
	WriteUnitSize = 1 << 10

	containerOverhead = 3 // a list or a map, whatever it holds
	elementOverhead   = 1 // each element of a list or a map
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

// numberSize of text that is no number is its length: such a value is refused before its size
// matters.
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

// Size returns the size of the item in bytes: the UTF-8 lengths of its attribute names plus the
// sizes of their values.
func (it Item) Size() int {
	size := 0
	for name, v := range it {
		size += len(name) + v.Size()
	}
	return size
}
