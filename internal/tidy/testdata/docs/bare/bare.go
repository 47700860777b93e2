package bare

type Alone struct{}

// Group of types: each wants its own comment.
type (
	First struct{}
	// Second has one.
	Second struct{}
)

const Limit = 1

// The group's comment will do here.
const (
	A = iota
	B
)

var (
	Loose int
	// Documented is.
	Documented int
	Trailing   int // also is
	private    int
)

func Verb() {}

//go:noinline
func Directive() {}

func (Alone) Method() {}

func (*First) Generic() {}

func (Alone) Error() string { return "" }

type hidden struct{}

func (hidden) Method() {}

func private2() {}
