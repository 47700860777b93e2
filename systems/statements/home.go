package statements

import "github.com/exchequer-dev/exchequer/money"

// Conversion tells how amounts came to be in the home currency.
type Conversion struct {
	// To is the home currency.
	To money.Currency
	// Rates are those that were used, by currency and day.
	Rates []UsedRate
	// Unrated are rows for whose day there is no rate. They are in no sum.
	Unrated []Unrated
}

// UsedRate is a rate that was used for the rows of a day.
type UsedRate struct {
	From money.Currency
	On   Date // The day of the rows.
	Quote
	Rows int // How many rows were converted with it.
}

// Unrated are the rows of a currency and month that could not be converted.
type Unrated struct {
	Currency money.Currency
	Month    string
	Flow     Flow // In their own currency.
	First    Date // The first day without a rate.
}
