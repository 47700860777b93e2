package ring

type link struct{}

// f04 is a method.
func (link) f04() { f05() }
