package sim

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
)

// The tables of the systems, and the beginnings of the keys of items that are checked.
const (
	locationTable  = "aolfclub-entities"
	rateTable      = "ExchangeRates"
	statementTable = "PuteaMatai"
	paymentTable   = "PaymentScheduler"
	historyTable   = "TransactionHistory"

	lookupKeys = "LOCATION_CODE#"
	totalKeys  = "@statements#total#"
	rowKeys    = "TRANSACTION#"
)

// placeFacts are the attributes of locations and of look-up items of codes that stand in a second
// place too. The others, such as names, stand in one place.
var placeFacts = map[string][]string{
	"Location": {"locationCode", "locationId", "itemType", "createdAt", "GSI2PK", "GSI2SK",
		"GSI3PK", "GSI3SK", "GSI4PK", "GSI4SK"},
	"LocationCodeLookup": {"locationId", "locationCode", "createdAt", "itemType"},
}

// checkedLocations is the comparison of locations and look-up items.
func (w *world) checkedLocations(c *caller) checked {
	return checked{
		system: "locations", table: locationTable, times: 3,
		facts: func(item dynamo.Item) []string {
			facts := placeFacts[item["itemType"].S()]
			if item["itemType"].S() == "Location" && item["locationCode"].S() == "" {
				return nil // Without a code nothing else says that there is the location.
			}
			return slices.Clone(facts)
		},
		// Other programs may leave out what the key or the other item has.
		derivable: func(item dynamo.Item, a string) bool {
			return a == "locationId" && item["itemType"].S() == "Location" ||
				item["itemType"].S() == "LocationCodeLookup" &&
					(a == "locationCode" || a == "createdAt")
		},
		other: func(item dynamo.Item, a string) (dynamo.Value, bool) {
			all, err := w.scan(locationTable)
			if a != "locationCode" || item["itemType"].S() != "Location" || err != nil {
				return dynamo.Value{}, false
			}
			for _, o := range all {
				if has(o, a) && !strings.EqualFold(o[a].S(), item[a].S()) {
					return o[a], true
				}
			}
			return dynamo.Value{}, false
		},
		find: func() ([]finding, error) {
			got, err := c.RepairLocations(w.ctx, false)
			if err != nil {
				return nil, err
			}
			if (got.Verdict == client.VerdictFaulty) != (len(got.Faults) > 0) {
				return nil, fmt.Errorf("the verdict is %q, and the faults are %+v", got.Verdict,
					got.Faults)
			}
			var found []finding
			for _, f := range got.Faults {
				found = append(found, finding{fmt.Sprintf("%+v", f),
					func(item dynamo.Item) bool { return namesPlace(f, item["PK"].S()) }})
			}
			return found, nil
		},
	}
}

func namesPlace(f client.LocationFault, partition string) bool {
	return strings.Contains(f.Entry, partition) ||
		f.Location != "" && strings.HasSuffix(partition, "#"+string(f.Location)) ||
		f.Other != "" && strings.HasSuffix(partition, "#"+string(f.Other)) ||
		f.Code != "" && strings.EqualFold(partition, lookupKeys+f.Code)
}

// checkedRates is the health of rates. The values of a rate stand in one place, so that it finds
// only what cannot be read.
func (w *world) checkedRates(c *caller) checked {
	return checked{
		system: "rates", table: rateTable, times: 1, unreadable: true,
		facts: func(item dynamo.Item) []string {
			if !has(item, "Timestamp") {
				return nil
			}
			return []string{"Rate"}
		},
		find: func() ([]finding, error) {
			got, err := c.Rates().Health(w.ctx)
			if err != nil {
				return nil, err
			}
			var found []finding
			for _, u := range got.Unreadable {
				found = append(found, finding{u.Error(), func(item dynamo.Item) bool {
					return strings.Contains(u.Key, item["PK"].S())
				}})
			}
			return found, nil
		},
	}
}

// checkedTotals is the comparison of rows of bank accounts and the totals of their months.
func (w *world) checkedTotals(c *caller) checked {
	return checked{
		system: "statements", table: statementTable, times: 3,
		facts: func(item dynamo.Item) []string {
			switch {
			case strings.HasPrefix(item["PK"].S(), totalKeys):
				if n, is := item["all"].M()["count"]; !is || n.N() == "0" {
					return nil // The total of no rows may be absent too.
				}
				return []string{"all", "untagged", "tags", "merchants"}
			case strings.HasPrefix(item["SK"].S(), rowKeys):
				return []string{"amount", "tagIds", "merchant"}
			}
			return nil
		},
		find: func() ([]finding, error) {
			var found []finding
			for _, account := range bankAccounts {
				got, err := c.CheckTotals(w.ctx, account, false, nil)
				if err != nil {
					return nil, err
				}
				for _, d := range got.Differences {
					found = append(found, finding{fmt.Sprintf("%s %+v", account, d),
						func(item dynamo.Item) bool {
							key := item["PK"].S() + "#" + item["SK"].S()
							return strings.Contains(key, "#"+string(account)+"#"+d.Month)
						}})
				}
				for _, u := range got.Unreadable {
					found = append(found, finding{u.Error(), func(item dynamo.Item) bool {
						return strings.Contains(u.Key, item["PK"].S()) &&
							strings.Contains(u.Key, item["SK"].S())
					}})
				}
			}
			return found, nil
		},
	}
}

// pastFacts are attributes of a payment of the history that a move compares with the payment.
var pastFacts = []string{"Amount", "Currency", "PayeeID", "TransactionID", "CreatedAt", "UpdatedAt",
	"Reason"}

// tamperWithHistory puts a payment whose day was moved back beside its copy in the history, with
// another value. The move of its day finds the difference, names the payment and removes nothing.
func (w *world) tamperWithHistory(c *caller, r *rand.Rand) error {
	items, err := w.scan(historyTable)
	if err != nil {
		return err
	}
	today := w.now().UTC().Format(time.DateOnly)
	items = slices.DeleteFunc(items, func(item dynamo.Item) bool {
		return item["Type"].S() != "Payment" || item["Timestamp"].S() >= today
	})
	if len(items) == 0 {
		return nil
	}
	past := items[r.IntN(len(items))]
	facts := slices.DeleteFunc(slices.Clone(pastFacts), func(a string) bool {
		return !has(past, a)
	})
	attribute := facts[r.IntN(len(facts))]
	at := past["Timestamp"].S()
	day, id := client.Date(at[:len(time.DateOnly)]), at[strings.IndexByte(at, '#')+1:]
	what := fmt.Sprintf("payment %s stands beside its copy with another %s", id, attribute)
	w.event("tampering: %s", what)
	w.count("tampering:", "payments "+attribute)
	again := maps.Clone(past)
	delete(again, "Timestamp")
	again["ScheduledTime"], again[attribute] = past["Timestamp"], another(past[attribute])
	put := &dynamo.PutInput{TableName: paymentTable, Item: again}
	if _, err := w.db().Put(w.ctx, put); err != nil {
		return cannotTell("tamper with payment "+id, err)
	}
	if err := w.db().CatchUp(); err != nil {
		return err
	}
	got, err := c.MovePaymentDay(w.ctx, day, "", nil)
	var e *problem.Error
	differs := errors.As(err, &e) && e.Code == "payment_copy_differs" &&
		strings.Contains(err.Error(), id)
	if !differs {
		return fmt.Errorf("%s, and the move of its day says %+v, %w", what, got, err)
	}
	key := dynamo.Key{"AccountID": again["AccountID"], "ScheduledTime": again["ScheduledTime"]}
	gone, err := w.db().Delete(w.ctx, &dynamo.DeleteInput{TableName: paymentTable, Key: key,
		ReturnValues: dynamo.ReturnAllOld})
	if err != nil || gone.Attributes == nil {
		return fmt.Errorf("%s, and the move removed it: %w", what, err)
	}
	if _, err := c.MovePaymentDay(w.ctx, day, "", nil); err != nil {
		return cannotTell("move a day again that was tampered with", err)
	}
	return nil
}
