package bankfile

import "github.com/exchequer-dev/exchequer/bankfile/internal/scan"

// The limits bound the memory that one file can use. Real statements stay far below them; a file
// that exceeds one is damaged or malicious.
const (
	// LineMax is the maximum length of a line in bytes, 64 KiB. Longer lines are refused.
	LineMax = scan.LineMax
	// FieldMax is the maximum length of one value in bytes, 64 KiB.
	FieldMax = scan.FieldMax
	// NameMax is the maximum length in bytes of a text that is kept for the whole file, such as
	// the account of a statement.
	NameMax = 256
	// RecordMax is the maximum length in bytes of one entry with all its parts, 256 KiB.
	RecordMax = scan.RecordMax
	// RawMax is how many bytes of an entry's own text are kept, to be shown again.
	RawMax = 8 << 10
	// DepthMax is the maximum nesting of elements. The depth of camt files is about 15.
	DepthMax = 64
	// DetailsMax is the maximum number of details or splits of one entry that are read separately.
	// An entry with more is read as a whole.
	DetailsMax = 20_000
	// StatementsMax is the maximum number of statements in one file, whose balances are kept.
	StatementsMax = 50_000
	// RefusedMax is the number of refused rows after which reading stops, because the file is
	// probably not what it seems.
	RefusedMax = 10_000
	// IDsMax is the maximum number of bank ids that are compared within a file; each takes at most
	// 16 bytes. In a file with more, no id is trusted.
	IDsMax = 4 << 20
)
