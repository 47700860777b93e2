package rest

import (
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of reports. Amounts have at least the digits of their currency.
type (
	// Flow is embedded, and so exported: the framework describes no other parts.
	Flow struct {
		In    string `json:"in" doc:"What came in" example:"100.00"`
		Out   string `json:"out" doc:"What went out, zero or less" example:"-5.50"`
		Count int    `json:"count" doc:"Of rows"`
	}

	spending struct {
		Months     []string           `json:"months" nullable:"false" doc:"All of the range; the flows of series are by month, one for each" example:"2025-08"`
		Currencies []currencySpending `json:"currencies" nullable:"false"`
		Converted  *homeConversion    `json:"converted,omitempty" doc:"How amounts came to be in the one currency"`
	}

	currencySpending struct {
		Currency money.Currency `json:"currency" example:"NZD"`
		Series   []series       `json:"series" nullable:"false" doc:"The one that most was spent on first"`
		Flows    []Flow         `json:"flows" nullable:"false" doc:"What all rows add up to, each counted once, by month"`
		Total    Flow           `json:"total"`
	}

	series struct {
		Kind  statements.SeriesKind `json:"kind" enum:"tag,merchant,account,untagged,unnamed,others"`
		ID    string                `json:"id,omitempty" doc:"Of the tag or account"`
		Label string                `json:"label" doc:"The tag's text, or a name" example:"Groceries"`
		Flows []Flow                `json:"flows" nullable:"false" doc:"By month"`
		Total Flow                  `json:"total"`
	}

	homeConversion struct {
		To      money.Currency `json:"to" example:"NZD"`
		Rates   []usedRate     `json:"rates" nullable:"false" doc:"Those that were used, by currency and day"`
		Unrated []unrated      `json:"unrated" nullable:"false" doc:"Rows for whose day there is no rate; they are in no sum"`
	}

	usedRate struct {
		From money.Currency `json:"from" example:"USD"`
		On   bankDate       `json:"on" doc:"The day of the rows" example:"2025-08-16"`
		Rate string         `json:"rate" doc:"For one unit" example:"1.68"`
		Of   bankDate       `json:"of" doc:"The day of the rate, earlier at weekends" example:"2025-08-15"`
		Rows int            `json:"rows"`
	}

	unrated struct {
		Currency money.Currency `json:"currency"`
		Month    string         `json:"month" example:"2025-08"`
		Flow     Flow           `json:"flow" doc:"In their own currency"`
		First    bankDate       `json:"first" doc:"The first day without a rate"`
	}

	cashFlow struct {
		Months     []string        `json:"months" nullable:"false" doc:"All of the range"`
		Currencies []currencyFlow  `json:"currencies" nullable:"false"`
		Converted  *homeConversion `json:"converted,omitempty" doc:"How amounts came to be in the one currency"`
	}

	currencyFlow struct {
		Currency money.Currency `json:"currency" example:"NZD"`
		Accounts []accountFlow  `json:"accounts" nullable:"false"`
		Months   []monthFlow    `json:"months" nullable:"false" doc:"Of all accounts"`
		Total    monthFlow      `json:"total"`
	}

	accountFlow struct {
		ID     string      `json:"id" example:"everyday"`
		Label  string      `json:"label" example:"Everyday"`
		Months []monthFlow `json:"months" nullable:"false"`
		Total  monthFlow   `json:"total"`
	}

	monthFlow struct {
		In        string `json:"in"`
		Out       string `json:"out" doc:"Zero or less"`
		Net       string `json:"net" doc:"Their sum"`
		Count     int    `json:"count" doc:"Of rows that are no transfers"`
		Transfers Flow   `json:"transfers" doc:"Between the person's own accounts"`
	}

	monthTotal struct {
		AccountID string         `json:"accountId"`
		Month     string         `json:"month" example:"2025-08"`
		Currency  money.Currency `json:"currency"`
		All       Flow           `json:"all" doc:"Of every row"`
		Transfers Flow           `json:"transfers" doc:"Between the person's own accounts; what follows is of the others"`
		Tags      []namedFlow    `json:"tags" nullable:"false" doc:"By the id of the tag; a row with two tags counts for both"`
		Untagged  Flow           `json:"untagged"`
		Merchants []namedFlow    `json:"merchants" nullable:"false" doc:"By name"`
		Unnamed   Flow           `json:"unnamed" doc:"Of rows without a merchant"`
		Rest      Flow           `json:"rest" doc:"Of merchants beyond those that are told apart"`
	}

	namedFlow struct {
		Name string `json:"name" doc:"The id of a tag, or a merchant's name"`
		Flow
	}

	totalsCheck struct {
		Verdict         statements.TotalsVerdict `json:"verdict" enum:"sound,faulty,undecided" doc:"So far, and finally on the last line. sound: every month was compared, and no total differs any more. undecided: no total differs, but not every month could be compared"`
		Months          int                      `json:"months" doc:"That were read"`
		Rows            int                      `json:"rows" doc:"That were read"`
		Differences     []totalDifference        `json:"differences" nullable:"false" doc:"The first of them"`
		Differ          int                      `json:"differ" doc:"How many totals differ in all"`
		Repaired        int                      `json:"repaired"`
		Undecided       []string                 `json:"undecided" nullable:"false" doc:"The months that could not be compared, because others wrote to them all the time"`
		Unreadable      []unreadable             `json:"unreadable,omitempty" nullable:"false" doc:"The first 100 stored items that cannot be read, whose months were not compared; absent if all can"`
		UnreadableCount int                      `json:"unreadableCount,omitempty" doc:"How many of them there are"`
	}

	totalDifference struct {
		Month    string         `json:"month" example:"2025-08"`
		Currency money.Currency `json:"currency"`
		What     string         `json:"what" doc:"The first total that differs" example:"untagged"`
		Total    Flow           `json:"total" doc:"As it is written"`
		Rows     Flow           `json:"rows" doc:"What the rows add up to"`
	}
)

// flowForm returns what writes flows of a currency.
func flowForm(currency money.Currency) func(statements.Flow) Flow {
	return func(f statements.Flow) Flow {
		return Flow{inDigits(f.In, currency), inDigits(f.Out, currency), f.Count}
	}
}

func spendingOf(s statements.Spending) spending {
	return spending{
		Months: whole(s.Months), Converted: conversionOf(s.Converted),
		Currencies: All(s.Currencies, func(c statements.CurrencySpending) currencySpending {
			form := flowForm(c.Currency)
			return currencySpending{
				Currency: c.Currency, Flows: All(c.Flows, form), Total: form(c.Total),
				Series: All(c.Series, func(v statements.Series) series {
					return series{v.Kind, v.ID, v.Label, All(v.Flows, form), form(v.Total)}
				}),
			}
		}),
	}
}

func conversionOf(c *statements.Conversion) *homeConversion {
	if c == nil {
		return nil
	}
	return &homeConversion{
		To: c.To,
		Rates: All(c.Rates, func(r statements.UsedRate) usedRate {
			return usedRate{r.From, r.On, r.Rate.String(), r.Of, r.Rows}
		}),
		Unrated: All(c.Unrated, func(u statements.Unrated) unrated {
			return unrated{u.Currency, u.Month, flowForm(u.Currency)(u.Flow), u.First}
		}),
	}
}

func cashFlowOf(f statements.CashFlow) cashFlow {
	return cashFlow{
		Months: whole(f.Months), Converted: conversionOf(f.Converted),
		Currencies: All(f.Currencies, func(c statements.CurrencyFlow) currencyFlow {
			form := func(m statements.MonthFlow) monthFlow {
				return monthFlow{
					inDigits(m.In, c.Currency), inDigits(m.Out, c.Currency),
					inDigits(m.Net, c.Currency), m.Count, flowForm(c.Currency)(m.Transfers),
				}
			}
			return currencyFlow{
				Currency: c.Currency, Months: All(c.Months, form), Total: form(c.Total),
				Accounts: All(c.Accounts, func(v statements.AccountFlow) accountFlow {
					return accountFlow{v.ID, v.Label, All(v.Months, form), form(v.Total)}
				}),
			}
		}),
	}
}

func monthTotalOf(s statements.Sheet) monthTotal {
	form := flowForm(s.Currency)
	named := func(flows map[string]statements.Flow) []namedFlow {
		return All(slices.Sorted(maps.Keys(flows)), func(name string) namedFlow {
			return namedFlow{name, form(flows[name])}
		})
	}
	return monthTotal{
		AccountID: s.AccountID, Month: string(s.Month[:min(7, len(s.Month))]),
		Currency: s.Currency, All: form(s.All), Transfers: form(s.Transfers),
		Tags: named(s.Tags), Untagged: form(s.Untagged), Merchants: named(s.Merchants),
		Unnamed: form(s.Unnamed), Rest: form(s.Rest),
	}
}

func totalsCheckOf(c statements.Checked) totalsCheck {
	return totalsCheck{
		Verdict: c.Verdict(), Months: c.Months, Rows: c.Rows, Differ: c.Differ,
		Repaired: c.Repaired, Undecided: append([]string{}, c.Undecided...),
		Unreadable: unreadablesOf(c.Unreadable), UnreadableCount: c.Unreadable.Len(),
		Differences: All(c.Differences, func(d statements.Difference) totalDifference {
			form := flowForm(d.Currency)
			return totalDifference{d.Month, d.Currency, d.What, form(d.Sheet), form(d.Rows)}
		}),
	}
}
