package ring

// f09 uses the next file.
func f09() { f10() }
