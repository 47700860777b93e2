package p

// TODO: finish this.
const todo = "TODO in a string is a word like any other"

func f() {
	/* FIXME */
	_ = "/root/secrets" // XXX(me): never
}

// XXX is the code for no currency, and mastodons are not notes.
const none = "XXX"
