package rates

import "github.com/exchequer-dev/exchequer/money"

// fixedRate is the end of a currency: from a day on, so many of its units are one unit of the
// currency that took its place, permanently.
type fixedRate struct {
	into money.Currency
	rate string
	from Date
}

// fixedRates are the irrevocable conversion rates of the currencies that the euro replaced, from
// the regulations of the Council of the European Union, and two currencies that lost their zeros.
var fixedRates = map[money.Currency]fixedRate{
	"ATS": {"EUR", "13.7603", "1999-01-01"}, "BEF": {"EUR", "40.3399", "1999-01-01"},
	"DEM": {"EUR", "1.95583", "1999-01-01"}, "ESP": {"EUR", "166.386", "1999-01-01"},
	"FIM": {"EUR", "5.94573", "1999-01-01"}, "FRF": {"EUR", "6.55957", "1999-01-01"},
	"IEP": {"EUR", "0.787564", "1999-01-01"}, "ITL": {"EUR", "1936.27", "1999-01-01"},
	"LUF": {"EUR", "40.3399", "1999-01-01"}, "NLG": {"EUR", "2.20371", "1999-01-01"},
	"PTE": {"EUR", "200.482", "1999-01-01"}, "GRD": {"EUR", "340.750", "2001-01-01"},
	"SIT": {"EUR", "239.640", "2007-01-01"}, "CYP": {"EUR", "0.585274", "2008-01-01"},
	"MTL": {"EUR", "0.429300", "2008-01-01"}, "SKK": {"EUR", "30.1260", "2009-01-01"},
	"EEK": {"EUR", "15.6466", "2011-01-01"}, "LVL": {"EUR", "0.702804", "2014-01-01"},
	"LTL": {"EUR", "3.45280", "2015-01-01"}, "HRK": {"EUR", "7.53450", "2023-01-01"},
	"BGN": {"EUR", "1.95583", "2026-01-01"},
	"TRL": {"TRY", "1000000", "2005-01-01"}, "ROL": {"RON", "10000", "2005-07-01"},
}

// SourceFixed is the source of fixed rates.
const SourceFixed = "fixed"

// fixedLeg returns the leg from a retired currency to the one that took its place, on a day.
func fixedLeg(code money.Currency, on Date) (Leg, bool) {
	f, ok := fixedRates[code]
	if !ok || on < f.from {
		return Leg{}, false
	}
	rate, err := money.ParseDecimal(f.rate)
	if err != nil {
		return Leg{}, false // A test reads all of them.
	}
	return Leg{
		Pair: Pair{f.into, code}, Rate: rate, Inverted: true, Source: SourceFixed, Fixed: true,
	}, true
}

// euroDigits is how the euro amount between two national units is rounded: to not less than three
// decimals, by Council Regulation 1103/97, article 4.
const euroDigits = 3

// nationalUnits reports whether both ends of a chain of legs are national units of the euro, whose
// conversion the regulation governs.
func nationalUnits(legs []Leg) bool {
	return len(legs) == 2 && legs[0].Fixed && legs[1].Fixed &&
		legs[0].Pair.Base == euro && legs[1].Pair.Base == euro
}

const euro money.Currency = "EUR"
