package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// theme is what a round is about.
type theme struct {
	deeds []weight
	// things is how many different things of each kind the steps are about, such as accounts, keys
	// and codes; 0 means all that there are. A round about few things has many clients, because
	// what is looked for there happens where they meet.
	things int
	// faults are what goes wrong in each phase of the theme, in addition to what the seed draws.
	faults []weight
	// store are rules of storeFaults, one of which each phase has.
	store []string
}

// everything is a mixture of all operations.
var everything = slices.Concat(ledgerTheme, paymentTheme, locationTheme, rateTheme, bankTheme)

// wideThemes is how many of the themes are about whole systems. They come first.
const wideThemes = 5

// themes are those of the rounds. The first ones are about whole systems, the others about what
// clients do to one thing at the same time.
var themes = []theme{
	{deeds: everything},
	{deeds: ledgerTheme},
	{deeds: paymentTheme},
	{deeds: slices.Concat(locationTheme, rateTheme)},
	{deeds: bankTheme},
	oneKey, oneAccount, onePayment, payday, oneCode, oneRate, oneFile,
}

// oneKey is about postings that share keys, and about repeats of keys that are old.
var oneKey = theme{
	deeds: []weight{
		{"key of the moment", 20}, {"same key", 4}, {"repeat", 4}, {"post", 3}, {"exchange", 2},
		{"reverse", 2}, {"open", 2}, {"read key", 2}, {"other body", 1},
	},
	things: 2,
}

// oneAccount is about statements of an account that is posted to.
var oneAccount = theme{
	deeds: []weight{
		{"post", 12}, {"deposit", 6}, {"withdraw", 4}, {"statement", 10}, {"list legs", 4},
		{"balance", 2}, {"reverse", 2}, {"reconcile", 1},
	},
	things: 2,
	store:  []string{"index-lag,rate=0.5,delay=200ms", "index-lag,rate=0.2,delay=200ms"},
}

// onePayment is about a payment that is scheduled by several clients, paid by several workers and
// changed by others, until its day is moved.
var onePayment = theme{
	deeds: []weight{
		{"schedule at once", 8}, {"pay amid change", 6}, {"schedule same key", 6},
		{"cancel payment", 5}, {"pay payment", 5}, {"run payments", 4}, {"move day", 6},
		{"change payment", 4}, {"replay payment", 3}, {"read payment", 2}, {"list payments", 2},
		{"list due", 2},
	},
	things: 2,
	faults: []weight{{faultHalt, 16}, {faultLease, 2}, {faultLostAnswer, 2}},
}

// payday is about several workers that pay what is due, while claims run out and the money is not
// always there.
var payday = theme{
	deeds: []weight{
		{"schedule", 14}, {"pay amid change", 3}, {"run payments", 10}, {"pay payment", 6},
		{"withdraw", 4}, {"deposit", 2},
		{"freeze", 3}, {"unfreeze", 4}, {"close", 1}, {"change payment", 4}, {"cancel payment", 4},
		{"replay payment", 3}, {"move day", 3}, {"list due", 2}, {"list payments", 2},
	},
	things: 6,
	faults: []weight{{faultHalt, 8}, {faultLease, 3}, {faultKill, 1}},
}

// oneCode is about few locations that want few codes.
var oneCode = theme{deeds: locationTheme, things: 3}

// oneRate is about the rates of one pair, and about days that are loaded in batches.
var oneRate = theme{
	deeds: []weight{
		{"save rate", 12},
		{"load rates", 6},
		{"read rate", 3},
		{"list rates", 2},
		{"rate history", 2},
	},
	things: 1,
	store:  []string{"unprocessed,rate=0.3", "throttle,rate=0.05", "lost-answer,rate=0.05"},
}

// oneFile is about a file that is imported and undone by several clients.
var oneFile = theme{
	deeds: []weight{
		{"import at once", 12}, {"undo twice", 4}, {"import file", 6}, {"undo import", 6},
		{"list rows", 4},
		{"apply rules", 2}, {"rename tag", 2}, {"month totals", 1}, {"list uploads", 1},
	},
	things: 2,
	faults: []weight{{faultHalt, 16}},
}

// values draws the values that the arguments of steps have.
func (t theme) values(r *rand.Rand) (values []int) {
	for range t.things {
		values = append(values, r.IntN(1000))
	}
	return values
}

// pause returns the longest time that a client waits before a step.
func (t theme) pause() time.Duration {
	if t.things > 0 {
		return 5 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// clients draws how many clients a round has.
func (t theme) clients(r *rand.Rand) int {
	if t.things > 0 {
		return clientsMax - r.IntN(3)
	}
	return 3 + r.IntN(clientsMax-2)
}
