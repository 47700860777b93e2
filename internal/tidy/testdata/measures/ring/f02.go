package ring

// f02 uses the next file.
func f02() { f03(nil) }
