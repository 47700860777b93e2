package ring

// f06 uses the next file.
func f06() { f07() }
