package ring

// f07 uses the next file.
func f07() { f08() }
