package client

import (
	"encoding/json"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// The JSON of the API where it differs from the structs of this package: an amount is a string, and
// the currency is a member of the whole object.
type (
	accountJSON struct {
		ID             AccountID      `json:"id"`
		UserID         UserID         `json:"userId,omitempty"`
		AccountType    string         `json:"accountType"`
		Status         AccountStatus  `json:"status"`
		Currency       money.Currency `json:"currency"`
		Balance        string         `json:"balance"`
		OverdraftLimit string         `json:"overdraftLimit"`
		Unlimited      bool           `json:"unlimited"`
		Zone           string         `json:"zone,omitempty"`
		LocationID     LocationID     `json:"locationId,omitempty"`
		Version        uint64         `json:"version"`
		LastPostedAt   time.Time      `json:"lastPostedAt,omitzero"`
		CreatedAt      time.Time      `json:"createdAt,omitzero"`
	}

	newAccountJSON struct {
		ID             AccountID      `json:"id,omitempty"`
		UserID         UserID         `json:"userId"`
		AccountType    string         `json:"accountType"`
		Currency       money.Currency `json:"currency"`
		OverdraftLimit string         `json:"overdraftLimit,omitempty"`
		Unlimited      bool           `json:"unlimited,omitempty"`
		Zone           string         `json:"zone,omitempty"`
		LocationID     LocationID     `json:"locationId,omitempty"`
	}

	overdraftJSON struct {
		Limit     string         `json:"overdraftLimit,omitempty"`
		Currency  money.Currency `json:"currency,omitempty"`
		Unlimited bool           `json:"unlimited,omitempty"`
	}

	transactionJSON struct {
		ID             TransactionID     `json:"id"`
		IdempotencyKey string            `json:"idempotencyKey,omitempty"`
		Type           TransactionType   `json:"type"`
		Status         TransactionStatus `json:"status"`
		MerchantID     MerchantID        `json:"merchantId,omitempty"`
		Description    string            `json:"description,omitempty"`
		Amount         string            `json:"amount"`
		Currency       money.Currency    `json:"currency"`
		Metadata       map[string]string `json:"metadata,omitempty"`
		ReversalOf     TransactionID     `json:"reversalOf,omitempty"`
		ReversedBy     TransactionID     `json:"reversedBy,omitempty"`
		CreatedAt      time.Time         `json:"createdAt,omitzero"`
		Legs           []Leg             `json:"legs,omitempty"`
	}

	legJSON struct {
		ID             LegID          `json:"id"`
		TransactionID  TransactionID  `json:"transactionId"`
		AccountID      AccountID      `json:"accountId"`
		Type           LegType        `json:"type"`
		Amount         string         `json:"amount"`
		Currency       money.Currency `json:"currency"`
		BalanceAfter   string         `json:"balanceAfter,omitempty"`
		AccountVersion uint64         `json:"accountVersion,omitempty"`
		CreatedAt      time.Time      `json:"createdAt,omitzero"`
	}

	postingJSON struct {
		Type        TransactionType   `json:"type"`
		MerchantID  MerchantID        `json:"merchantId,omitempty"`
		Description string            `json:"description,omitempty"`
		Metadata    map[string]string `json:"metadata,omitempty"`
		Legs        []postingLegJSON  `json:"legs,omitempty"`
		From        AccountID         `json:"from,omitempty"`
		To          AccountID         `json:"to,omitempty"`
		Amount      string            `json:"amount,omitempty"`
		Currency    money.Currency    `json:"currency,omitempty"`
	}

	postingLegJSON struct {
		AccountID AccountID      `json:"accountId"`
		Type      LegType        `json:"type"`
		Amount    string         `json:"amount"`
		Currency  money.Currency `json:"currency"`
	}

	statementJSON struct {
		AccountID AccountID      `json:"accountId"`
		From      Date           `json:"from"`
		To        Date           `json:"to"`
		Currency  money.Currency `json:"currency"`
		Opening   string         `json:"opening"`
		Closing   string         `json:"closing"`
		Legs      []Leg          `json:"legs"`
		Next      string         `json:"next,omitempty"`
	}

	totalJSON struct {
		Currency money.Currency `json:"currency"`
		Debits   string         `json:"debits"`
		Credits  string         `json:"credits"`
		Balances string         `json:"balances"`
	}

	reconcileJSON struct {
		From   Date   `json:"from,omitempty"`
		To     Date   `json:"to,omitempty"`
		Skip   int    `json:"skip,omitempty"`
		Limit  int    `json:"limit,omitempty"`
		Cursor string `json:"cursor,omitempty"`
	}

	patternRunJSON struct {
		Inputs map[string]string `json:"inputs,omitempty"`
		Limit  int               `json:"limit,omitempty"`
		Cursor string            `json:"cursor,omitempty"`
	}
)

// optionalText returns the number of an amount, or "" for the zero Amount, which means that none is
// given.
func optionalText(a money.Amount) string {
	if a == (money.Amount{}) {
		return ""
	}
	return a.Text()
}

// amounts parses numbers of one currency and keeps the first error.
type amounts struct {
	currency money.Currency
	err      error
}

func (r *amounts) read(text string) money.Amount {
	a, err := money.Parse(text, r.currency)
	if err != nil && r.err == nil {
		r.err = err
	}
	return a
}

// optional is read for an optional number.
func (r *amounts) optional(text string) money.Amount {
	if text == "" {
		return money.Amount{}
	}
	return r.read(text)
}

// MarshalJSON returns the API's form of an account.
func (a Account) MarshalJSON() ([]byte, error) {
	return json.Marshal(accountJSON{
		ID: a.ID, UserID: a.UserID, AccountType: a.AccountType, Status: a.Status,
		Currency: a.Balance.Currency(), Balance: a.Balance.Text(),
		OverdraftLimit: a.OverdraftLimit.Text(), Unlimited: a.Unlimited, Zone: a.Zone,
		LocationID:   a.LocationID,
		Version:      a.Version,
		LastPostedAt: a.LastPostedAt, CreatedAt: a.CreatedAt,
	})
}

// UnmarshalJSON parses the API's form of an account.
func (a *Account) UnmarshalJSON(data []byte) error {
	var j accountJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*a = Account{
		ID: j.ID, UserID: j.UserID, AccountType: j.AccountType, Status: j.Status,
		Balance: r.read(j.Balance), OverdraftLimit: r.read(j.OverdraftLimit),
		Unlimited: j.Unlimited, Zone: j.Zone, LocationID: j.LocationID,
		Version: j.Version, LastPostedAt: j.LastPostedAt,
		CreatedAt: j.CreatedAt,
	}
	return r.err
}

// MarshalJSON returns the API's form of a leg.
func (l Leg) MarshalJSON() ([]byte, error) {
	return json.Marshal(legJSON{
		ID: l.ID, TransactionID: l.TransactionID, AccountID: l.AccountID, Type: l.Type,
		Amount: l.Amount.Text(), Currency: l.Amount.Currency(),
		BalanceAfter: optionalText(l.BalanceAfter), AccountVersion: l.AccountVersion,
		CreatedAt: l.CreatedAt,
	})
}

// UnmarshalJSON parses the API's form of a leg.
func (l *Leg) UnmarshalJSON(data []byte) error {
	var j legJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*l = Leg{
		ID: j.ID, TransactionID: j.TransactionID, AccountID: j.AccountID, Type: j.Type,
		Amount: r.read(j.Amount), BalanceAfter: r.optional(j.BalanceAfter),
		AccountVersion: j.AccountVersion, CreatedAt: j.CreatedAt,
	}
	return r.err
}

func (t Transaction) json() transactionJSON {
	return transactionJSON{
		ID: t.ID, IdempotencyKey: t.IdempotencyKey, Type: t.Type, Status: t.Status,
		MerchantID: t.MerchantID, Description: t.Description, Amount: t.Amount.Text(),
		Currency: t.Amount.Currency(), Metadata: t.Metadata, ReversalOf: t.ReversalOf,
		ReversedBy: t.ReversedBy, CreatedAt: t.CreatedAt,
	}
}

func (j transactionJSON) transaction() (Transaction, error) {
	r := amounts{currency: j.Currency}
	return Transaction{
		ID: j.ID, IdempotencyKey: j.IdempotencyKey, Type: j.Type, Status: j.Status,
		MerchantID: j.MerchantID, Description: j.Description, Amount: r.read(j.Amount),
		Metadata: j.Metadata, ReversalOf: j.ReversalOf, ReversedBy: j.ReversedBy,
		CreatedAt: j.CreatedAt,
	}, r.err
}

// MarshalJSON returns the API's form of a transaction without its legs.
func (t Transaction) MarshalJSON() ([]byte, error) { return json.Marshal(t.json()) }

// UnmarshalJSON parses the API's form of a transaction.
func (t *Transaction) UnmarshalJSON(data []byte) error {
	var j transactionJSON
	err := json.Unmarshal(data, &j)
	if err == nil {
		*t, err = j.transaction()
	}
	return err
}

// MarshalJSON returns the API's form of a transaction with its legs.
func (e Entry) MarshalJSON() ([]byte, error) {
	j := e.Transaction.json()
	j.Legs = e.Legs
	return json.Marshal(j)
}

// UnmarshalJSON parses the API's form of a transaction with its legs.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var j transactionJSON
	err := json.Unmarshal(data, &j)
	if err == nil {
		e.Transaction, err = j.transaction()
		e.Legs = j.Legs
	}
	return err
}

// json returns the API's form of a posting.
func (p Posting) json() postingJSON {
	j := postingJSON{
		Type: p.Type, MerchantID: p.MerchantID, Description: p.Description,
		Metadata: p.Metadata, From: p.From, To: p.To, Amount: optionalText(p.Amount),
		Currency: p.Currency,
	}
	if j.Currency == "" {
		j.Currency = p.Amount.Currency()
	}
	for _, l := range p.Legs {
		j.Legs = append(j.Legs, postingLegJSON{
			AccountID: l.AccountID, Type: l.Type, Amount: l.Amount.Text(),
			Currency: l.Amount.Currency(),
		})
	}
	return j
}

// MarshalJSON returns the API's form of a statement.
func (s Statement) MarshalJSON() ([]byte, error) {
	return json.Marshal(statementJSON{
		AccountID: s.AccountID, From: s.From, To: s.To, Currency: s.Closing.Currency(),
		Opening: s.Opening.Text(), Closing: s.Closing.Text(), Legs: s.Legs, Next: s.Next,
	})
}

// UnmarshalJSON parses the API's form of a statement.
func (s *Statement) UnmarshalJSON(data []byte) error {
	var j statementJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*s = Statement{
		AccountID: j.AccountID, From: j.From, To: j.To, Opening: r.read(j.Opening),
		Closing: r.read(j.Closing), Legs: j.Legs, Next: j.Next,
	}
	return r.err
}

// MarshalJSON returns the API's form of a currency's total.
func (t CurrencyTotal) MarshalJSON() ([]byte, error) {
	return json.Marshal(totalJSON{
		Currency: t.Currency, Debits: t.Debits.Text(), Credits: t.Credits.Text(),
		Balances: t.Balances.Text(),
	})
}

// UnmarshalJSON parses the API's form of a currency's total.
func (t *CurrencyTotal) UnmarshalJSON(data []byte) error {
	var j totalJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r := amounts{currency: j.Currency}
	*t = CurrencyTotal{
		Currency: j.Currency, Debits: r.read(j.Debits), Credits: r.read(j.Credits),
		Balances: r.read(j.Balances),
	}
	return r.err
}
