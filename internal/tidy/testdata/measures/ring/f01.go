package ring

// f01 uses the next file.
func f01() { f02() }
