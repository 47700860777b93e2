package ring

// f08 uses the next file.
func f08() { f09() }
