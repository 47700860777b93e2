package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
)

// The places that the books can be in.
const (
	storeEmbedded = "embedded"
	storeDynamoDB = "dynamodb"
)

// tablesTime bounds a request to the server of this process where the store is DynamoDB, which may
// take minutes to create a table with indexes.
const tablesTime = 10 * time.Minute

// checkStore checks the flags of the store, and lets those that were given go before the variables
// of the others.
func (a *app) checkStore(command *cobra.Command) error {
	set := command.InheritedFlags().Changed
	switch {
	case a.flags.store != storeEmbedded && a.flags.store != storeDynamoDB:
		return usagef("--store dynamodb", "There is no store %q; choose embedded or dynamodb",
			a.flags.store)
	case set("store") && set("server"):
		return usagef("Leave one of them out", "--server and --store exclude each other")
	case set("store"):
		a.flags.server = ""
	case set("data"):
		a.flags.store = storeEmbedded
	}
	for _, flag := range []string{"region", "endpoint"} {
		if flag == "region" && command.Name() == "dynamodb" {
			continue // It is the region of the store that the command serves.
		}
		if set(flag) && a.flags.store != storeDynamoDB {
			return usagef("--store dynamodb", "--%s is for the store dynamodb", flag)
		}
	}
	return nil
}

// dynamoDB returns how to reach the store DynamoDB, or nil for the embedded database.
func (a *app) dynamoDB() *awssdk.Options {
	if a.flags.store != storeDynamoDB {
		return nil
	}
	return &awssdk.Options{
		Region: a.flags.region, Endpoint: a.flags.endpoint, Timeout: a.flags.timeout,
	}
}

// place returns where the books are, in words.
func (a *app) place(dir string) string {
	switch {
	case a.flags.store != storeDynamoDB:
		return dir
	case a.flags.endpoint != "":
		return "DynamoDB at " + a.flags.endpoint
	case a.flags.region != "":
		return "DynamoDB in " + a.flags.region
	}
	return "DynamoDB"
}
