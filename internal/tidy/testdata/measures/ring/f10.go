package ring

// f10 uses the next file.
func f10() { f00() }
