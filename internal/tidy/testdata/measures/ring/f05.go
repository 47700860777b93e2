package ring

// f05 uses the next file.
func f05() { f06() }
