package money_test

import (
	"encoding/json"
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
)

func ExampleParse() {
	coffee, err := money.Parse("5.50", "USD")
	fmt.Println(coffee, coffee.Decimal(), err)

	_, err = money.Parse("5,50", "USD")
	fmt.Println(err)
	_, err = money.Parse("5.50", "usd")
	fmt.Println(err)
	// Output:
	// 5.50 USD 5.5 <nil>
	// "5,50" is not a plain decimal number, such as 5.50 or -12
	// unknown currency "usd"; write USD
}

func ExampleAmount_Add() {
	var total money.Amount // Nothing in no currency: where a sum begins.
	for _, text := range []string{"5.50", "0.10", "0.20"} {
		total, _ = total.Add(money.MustParse(text, "USD"))
	}
	fmt.Println(total)

	_, err := total.Add(money.MustParse("100", "JPY"))
	fmt.Println(err)
	// Output:
	// 5.80 USD
	// amounts in USD and JPY do not mix
}

func ExampleAmount_Cmp() {
	balance, needed := money.MustParse("3", "USD"), money.MustParse("5.50", "USD")
	order, err := balance.Cmp(needed)
	fmt.Println(order < 0, err)
	// Output: true <nil>
}

func ExampleAmount_Fits() {
	price := money.MustParse("0.0335", "EUR") // A litre of water.
	fmt.Println(price, price.Fits())
	fmt.Println(price.Round(money.HalfUp), price.Round(money.HalfUp).Fits())
	// Output:
	// 0.0335 EUR false
	// 0.03 EUR true
}

func ExampleAmount_Allocate() {
	bill := money.MustParse("100.00", "USD")
	shares, _ := bill.Allocate(1, 1, 1)
	fmt.Println(shares)
	shares, _ = bill.Allocate(50, 30, 19)
	fmt.Println(shares)
	// Output:
	// [33.34 USD 33.33 USD 33.33 USD]
	// [50.51 USD 30.30 USD 19.19 USD]
}

func ExampleAmount_Split() {
	parts, _ := money.MustParse("10", "BHD").Split(3)
	fmt.Println(parts)
	// Output: [3.334 BHD 3.333 BHD 3.333 BHD]
}

func ExampleAmount_Convert() {
	yenPerEuro, _ := money.ParseDecimal("186.75")
	dollarsPerEuro, _ := money.ParseDecimal("1.1684")
	dollars := money.MustParse("100", "USD")
	yen, err := dollars.Convert("JPY", yenPerEuro, dollarsPerEuro, money.HalfUp)
	fmt.Println(yen, err)
	// Output: 15983 JPY <nil>
}

func ExampleAmount_RoundToStep() {
	step, _ := money.ParseDecimal("0.05")
	cash, err := money.MustParse("7.43", "CHF").RoundToStep(step, money.HalfUp)
	fmt.Println(cash, err)
	// Output: 7.45 CHF <nil>
}

func ExampleAmount_MarshalJSON() {
	data, _ := json.Marshal(money.MustParse("5.5", "USD"))
	fmt.Println(string(data))

	var a money.Amount
	err := json.Unmarshal([]byte(`{"amount":"1200","currency":"JPY"}`), &a)
	fmt.Println(a, err)
	// Output:
	// {"amount":"5.50","currency":"USD"}
	// 1200 JPY <nil>
}
