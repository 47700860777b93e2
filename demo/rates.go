package demo

import (
	"context"
	_ "embed" // The file is inside the binary.
	"fmt"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
)

//go:embed rates.csv
var ratesCSV []byte

// What must come out of the made-up rates in rates.csv, worked out by other means.
const (
	ratesDays   = 62
	ratesCount  = 310
	aMillion    = "95999176" // yen for a million dollars of New Zealand on 14 February
	fourDigits  = "95999200" // the same by a rate that was rounded on the way
	fiveHundred = "255.52"   // euros for five hundred dollars of New Zealand on 31 March
)

// journey is how many transactions the traveller makes: a deposit and an exchange.
const journey = 2

// exchangeRates takes in a file of rates, converts, and exchanges money in the books.
func (s *story) exchangeRates(ctx context.Context) error {
	s.title("Every day has its exchange rates, and nothing is rounded on the way")
	loaded, err := s.loadRates(ctx)
	if err != nil {
		return err
	}
	s.say("   A file in the form of the European Central Bank: %s rates of %d days are history now.",
		thousands(loaded.Rates), loaded.Days)
	if loaded.Days != ratesDays || loaded.Rates != ratesCount || loaded.RefusedCount > 0 {
		s.differ("%d days and %d rates were taken in, of %d and %d", loaded.Days, loaded.Rates,
			ratesDays, ratesCount)
	}
	s.command("rates load demo/rates.csv")
	if err := s.convert(ctx); err != nil {
		return err
	}
	return s.exchange(ctx)
}

func (s *story) loadRates(ctx context.Context) (api.LoadedRates, error) {
	days, err := feed.Read(ratesCSV)
	if err != nil {
		return api.LoadedRates{}, fmt.Errorf("rates.csv: %w", err)
	}
	request := api.RateDays{HistoryOnly: true}
	for _, d := range days {
		day := api.RateDay{
			Date: api.Date(d.Date), Base: d.Base, Source: d.Source,
			Rates: map[money.Currency]money.Decimal{},
		}
		for _, p := range d.Prices {
			day.Rates[p.Currency] = p.Value
		}
		request.Days = append(request.Days, day)
	}
	return s.client.Rates().Load(ctx, request)
}

// convert shows the rate of a weekend, a cross rate and a currency that is no more.
func (s *story) convert(ctx context.Context) error {
	crossed, err := s.client.Rates().Convert(ctx, api.ConvertQuery{
		RateQuery: api.RateQuery{Base: "NZD", Target: "JPY", On: "2026-02-14"}, Amount: "1000000",
	})
	if err != nil {
		return err
	}
	fixed, err := s.client.Rates().Convert(ctx, api.ConvertQuery{
		RateQuery: api.RateQuery{Base: "ITL", Target: "FRF", On: "2026-02-14"}, Amount: "1000",
	})
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("AMOUNT"), grid.Left("IS"), grid.Left("RATE OF"), grid.Left("MADE OF"))
	for _, c := range []api.Conversion{crossed, fixed} {
		t.Add(string(c.Amount)+" "+string(c.Currency), string(c.Converted)+" "+string(c.Into),
			string(c.Quote.Date), legs(c.Quote))
	}
	s.table(t)
	s.say("   14 February is a Saturday, so the rate is Friday's, and says so. The yen come through the")
	s.say("   euro by the exact quotient; a rate that was rounded first would give %s. Lire and", fourDigits)
	s.say("   francs go by their fixed euro rates, through three decimals, as the law has it.")
	s.command("rates convert 1000000 NZD JPY --date 2026-02-14")
	if crossed.Converted != aMillion || crossed.Quote.Date != "2026-02-13" {
		s.differ("a million NZD are %s JPY at the rate of %s, they should be %s", crossed.Converted,
			crossed.Quote.Date, aMillion)
	}
	if fixed.Converted != "3.38" {
		s.differ("1000 ITL are %s FRF, they should be 3.38", fixed.Converted)
	}
	return nil
}

// legs writes what a rate is made of.
func legs(q api.Quote) string {
	text := ""
	for i, l := range q.Legs {
		if i > 0 {
			text += " × "
		}
		part := fmt.Sprintf("%s/%s %s", l.Base, l.Target, l.Rate)
		if l.Inverted {
			part = "1 / (" + part + ")"
		}
		text += part
	}
	return text
}

// exchange exchanges money in the books, and again after the rate has moved.
func (s *story) exchange(ctx context.Context) error {
	for id, code := range map[client.AccountID]money.Currency{
		"trip-nzd": "NZD", "trip-eur": "EUR",
	} {
		_, err := s.client.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: "traveller", AccountType: "checking", Currency: code,
		})
		if err != nil {
			return err
		}
	}
	sold := money.MustParse("500", "NZD")
	_, err := s.client.Post(ctx, client.Posting{
		IdempotencyKey: "trip-savings", Type: client.Deposit, To: "trip-nzd", Amount: sold,
	})
	if err != nil {
		return err
	}
	request := client.Exchanging{
		IdempotencyKey: "trip-1", From: "trip-nzd", To: "trip-eur", Sold: sold,
		On: "2026-03-31",
	}
	first, err := s.client.Exchange(ctx, request)
	if err != nil {
		return err
	}
	request.On = "" // Without a rate, the request is the same at any rate.
	again, err := s.client.Exchange(ctx, request)
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("ACCOUNT"), grid.Right("DEBIT"), grid.Right("CREDIT"))
	for _, l := range first.Legs {
		if l.Type == client.Debit {
			t.Add(string(l.AccountID), l.Amount.String(), "")
		} else {
			t.Add(string(l.AccountID), "", l.Amount.String())
		}
	}
	s.table(t)
	s.say("   Each currency balances by itself. The same request at another day's rate moves nothing.")
	s.command("ledger exchange --from trip-nzd --to trip-eur --amount 500 --key trip-1")
	account, err := s.client.Account(ctx, "trip-eur")
	if err != nil {
		return err
	}
	if !again.Replayed || account.Balance != money.MustParse(fiveHundred, "EUR") {
		s.differ("the traveller has %s, and should have %s EUR", account.Balance, fiveHundred)
	}
	return nil
}
