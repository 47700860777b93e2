package p

// A comment may be long for the sake of a web address: https://example.org/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/and/more/of/it
// A comment may not be long for its own sake, and this one goes on and on well beyond what fits here.

const message = "One or more parameter values were invalid: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is longer than the line can be"

const short = "this string is short enough to cut" + "and this one too" + "and so is this, with one more piece" + message

const raw = `
one line in a raw string over several lines may be as long as it likes, since it is data and not code, xxxxxxxxxxxxxxxxxxxx
`

/* https://example.org/
a second line of the comment, without an address of its own, is not exempt because of the first line. */
