package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// needValue are the flags whose empty value is a mistake, such as a variable of the shell that is
// not set: the command would do something else than what was meant. A flag that empties what it
// names, as in an edit, is not among them.
var needValue = []string{
	"account", "amount", "code", "currency", "cursor", "date", "from", "id", "into", "key", "limit",
	"location", "merchant-id", "overdraft", "rate", "settlement", "status", "to", "ttl",
	"type", "user", "zone", "at",
}

// needMore are the flags of whole numbers of which 0 is no value, but means a flag that was not
// given.
var needMore = []string{
	"concurrency", "days", "limit", "location-shards", "payment-attempts", "payment-bytes",
	"payment-concurrency", "payment-shards", "status-shards", "units",
}

// checkGiven refuses flags that were given without a value that they could mean. What is given is
// never taken for left out.
func checkGiven(command *cobra.Command) error {
	edits := slices.Contains([]string{"edit", "change", "set", "update"}, command.Name())
	var failed error
	command.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case failed != nil:
		case f.Value.String() == "" && !edits && slices.Contains(needValue, f.Name):
			failed = usagef("Give it a value, or leave it out", "The flag --%s is empty", f.Name)
		case f.Value.Type() == "int" && f.Value.String() == "0" &&
			slices.Contains(needMore, f.Name):
			failed = usagef("Give it a number, or leave it out",
				"The flag --%s must be more than 0", f.Name)
		}
	})
	return failed
}
