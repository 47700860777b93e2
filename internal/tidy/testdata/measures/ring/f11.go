package ring

// f11 uses the circle and is not part of it.
func f11() { f00() }
