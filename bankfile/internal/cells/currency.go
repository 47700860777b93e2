package cells

import (
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// CurrencyOf returns the currency of a code or sign as files write it, or "".
func CurrencyOf(text string) money.Currency {
	text = strings.ToUpper(TrimBlanks(text))
	if len(text) != 3 {
		return CurrencySigns[text]
	}
	for i := range 3 {
		if text[i] < 'A' || text[i] > 'Z' {
			return CurrencySigns[text]
		}
	}
	return money.Currency(text)
}

// CurrencySigns are the signs that mean one currency only, in upper case. The dollar sign is not
// one of them.
var CurrencySigns = map[string]money.Currency{
	"€": "EUR", "£": "GBP", "KČ": "CZK", "ZŁ": "PLN", "FT": "HUF", "NZ$": "NZD", "A$": "AUD",
	"AU$": "AUD", "C$": "CAD", "US$": "USD", "HK$": "HKD", "S$": "SGD", "₹": "INR", "₽": "RUB",
	"₺": "TRY", "₪": "ILS", "R$": "BRL", "FR": "CHF", "FR.": "CHF", "RS": "INR", "RS.": "INR",
	"₩": "KRW", "₴": "UAH", "₦": "NGN", "฿": "THB", "₫": "VND", "₱": "PHP",
}

// SharedSigns are the signs that several currencies have, in upper case.
var SharedSigns = map[string][]money.Currency{
	"$": {
		"USD", "AUD", "NZD", "CAD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "BBD", "BSD",
		"BZD", "BMD", "BND", "FJD", "GYD", "JMD", "KYD", "LRD", "NAD", "SBD", "SRD", "TTD", "UYU",
		"XCD", "DOP", "CUP",
	},
	"KR": {"SEK", "NOK", "DKK", "ISK"},
	"¥":  {"JPY", "CNY"}, "￥": {"JPY", "CNY"}, "元": {"CNY", "TWD"},
	"RS": {
		"INR",
		"PKR",
		"LKR",
		"NPR",
		"MUR",
		"SCR",
	}, "₨": {"INR", "PKR", "LKR", "NPR", "MUR", "SCR"},
	"£": {"GBP", "EGP", "LBP", "SYP", "GIP", "FKP", "SHP"},
	"R": {"ZAR"}, "LEI": {"RON", "MDL"}, "DIN": {"RSD", "MKD", "DZD"}, "FR": {"CHF"},
	"L": {"HNL", "MDL", "ALL"}, "Q": {"GTQ"}, "B/": {"PAB"}, "S/": {"PEN"}, "BS": {"BOB", "VES"},
	"DH": {"AED", "MAD"}, "DHS": {"AED", "MAD"}, "TK": {"BDT"}, "RM": {"MYR"}, "RP": {"IDR"},
}
