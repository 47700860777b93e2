package p

// TODO: finish this.
const todo = "TODO in a string is a word like any other"

func f() {
	/* FIXME */
	_ = "/home/ada/secrets" // XXX(me): never
}

// XXX is the code for no currency, and mastodons are not notes.
const none = "XXX"
