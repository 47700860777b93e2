package scan

// The limits bound the memory that one piece of a text can use.
const (
	// LineMax is the maximum length of a line in bytes.
	LineMax = 64 << 10
	// FieldMax is the maximum length of one value in bytes.
	FieldMax = 64 << 10
	// RecordMax is the maximum length in bytes of a row that goes over several lines.
	RecordMax = 256 << 10

	// ColumnsMax is the maximum number of columns of a row. The widest file that is known has 60.
	ColumnsMax = 512

	// nameLengthMax is the maximum length of the name of an element that is kept; see Names.
	nameLengthMax = 256
)
