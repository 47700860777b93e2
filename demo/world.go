package demo

import (
	"bytes"
	_ "embed" // The files are inside the binary.
	"encoding/csv"
	"encoding/json"
	"fmt"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

//go:embed accounts.csv
var accountsCSV []byte

//go:embed merchants.csv
var merchantsCSV []byte

//go:embed payments.csv
var paymentsCSV []byte

//go:embed expected.json
var expectedJSON []byte

// world is the content of the files.
type world struct {
	accounts  []account
	merchants []client.NewMerchant
	payments  []byte
	expected  expected
	payday    expectedPayday
}

// account is a line of the accounts file.
type account struct {
	client.NewAccount
	status client.AccountStatus
}

// expected is what must come out of the import.
type expected struct {
	Rows        int                  `json:"rows"`
	Posted      int                  `json:"posted"`
	Repeats     int                  `json:"repeats"`
	Refused     map[problem.Code]int `json:"refused"`
	RefusedRows []struct {
		Line int          `json:"line"`
		Code problem.Code `json:"code"`
	} `json:"refused_rows"`
	Balances map[client.AccountID]string `json:"balances"`
}

func readWorld() (*world, error) {
	w := &world{payments: paymentsCSV}
	if err := json.Unmarshal(expectedJSON, &w.expected); err != nil {
		return nil, fmt.Errorf("expected.json: %w", err)
	}
	rows, err := readTable(accountsCSV, "id", "user", "type", "currency", "status", "overdraft")
	if err != nil {
		return nil, fmt.Errorf("accounts.csv: %w", err)
	}
	for _, row := range rows {
		a := account{status: client.AccountStatus(row[4])}
		a.ID, a.UserID, a.AccountType = client.AccountID(row[0]), client.UserID(row[1]), row[2]
		a.Currency = money.Currency(row[3])
		if a.OverdraftLimit, err = money.Parse(row[5], a.Currency); err != nil {
			return nil, fmt.Errorf("accounts.csv: account %s: %w", a.ID, err)
		}
		w.accounts = append(w.accounts, a)
	}
	rows, err = readTable(merchantsCSV, "id", "name", "category", "settlement")
	if err != nil {
		return nil, fmt.Errorf("merchants.csv: %w", err)
	}
	for _, row := range rows {
		w.merchants = append(w.merchants, client.NewMerchant{
			ID: client.MerchantID(row[0]), Name: row[1], Category: row[2],
			SettlementAccountID: client.AccountID(row[3]),
		})
	}
	return w, nil
}

// readTable reads a CSV that must have exactly these columns.
func readTable(content []byte, columns ...string) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord = len(columns)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || fmt.Sprint(rows[0]) != fmt.Sprint(columns) {
		return nil, fmt.Errorf("the columns are not %v", columns)
	}
	return rows[1:], nil
}

// merchant returns the name of a merchant.
func (w *world) merchant(id client.MerchantID) string {
	for _, m := range w.merchants {
		if m.ID == id {
			return m.Name
		}
	}
	return ""
}

// find returns the first active account of a kind and currency.
func (w *world) find(kind string, currency money.Currency) account {
	for _, a := range w.accounts {
		if a.AccountType == kind && a.Currency == currency && a.status == client.AccountActive {
			return a
		}
	}
	return account{}
}
