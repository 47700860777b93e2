package reading

// Role is what a column holds.
type Role string

// The roles of columns. Several columns may be Memo or Ignore; each other role has one.
const (
	Date            Role = "date"
	ValueDate       Role = "valueDate"
	AuthorisedDate  Role = "authorisedDate"
	Amount          Role = "amount"
	Debit           Role = "debit"
	Credit          Role = "credit"
	Flag            Role = "flag" // A word or letter for the direction.
	Currency        Role = "currency"
	Balance         Role = "balance"
	Name            Role = "name"
	Payer           Role = "payer" // The side that pays; with it, Name is the side that is paid.
	Memo            Role = "memo"
	Counterparty    Role = "counterparty"
	Reference       Role = "reference"
	ID              Role = "bankId"
	Category        Role = "category"
	Account         Role = "account"
	Foreign         Role = "foreignAmount"
	ForeignCurrency Role = "foreignCurrency"
	Status          Role = "status"
	Fee             Role = "fee"
	Ignore          Role = "ignore"
)
