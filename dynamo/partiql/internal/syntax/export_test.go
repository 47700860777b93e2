package syntax

// Parse reads a statement of any length and depth, and remembers nothing. A printed statement may
// be longer and deeper than it was written.
func Parse(text string) (*Statement, error) { return parse(text, 1<<16) }
