package ledger

import (
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// AccountID identifies an account: 1 to 64 characters of [A-Za-z0-9._:-], a UUID unless the caller
// chose another. The ids of the ledger's own accounts begin with "@".
type AccountID string

// UserID identifies the owner of accounts: any text of 1 to 255 bytes.
type UserID string

// LocationID names a location of the directory of locations, which the ledger does not know.
type LocationID string

// AccountStatus is whether an account can be posted to.
type AccountStatus string

// The life of an account. Only an active account can be posted to; closed is final.
const (
	AccountActive AccountStatus = "active"
	AccountFrozen AccountStatus = "frozen"
	AccountClosed AccountStatus = "closed"
)

// accountTypeMax is the maximum length in bytes of an account's type, one word such as "checking".
const accountTypeMax = 64

// Account is a balance in one currency. A credit raises it and a debit lowers it, for every
// account.
type Account struct {
	ID     AccountID
	UserID UserID
	// AccountType is what kind of account it is, in the caller's own words: "checking".
	AccountType string
	Balance     money.Amount
	Status      AccountStatus
	// OverdraftLimit is how far the balance may go below zero: zero means not at all. It has no
	// meaning where Unlimited is set.
	OverdraftLimit money.Amount
	Unlimited      bool
	// Version is the number of legs that were ever posted to the account.
	Version uint64
	// Revision counts the opening and the changes to anything but the balance: status and
	// overdraft. It is zero for an account that another program made.
	Revision uint64
	// Zone is where the account's calendar days begin, a name of the IANA database such as
	// Pacific/Auckland. Empty means the ledger's own zone.
	Zone string
	// LocationID is where the account is kept, an id of the directory of locations. It may be
	// empty.
	LocationID LocationID
	// LastPostedAt is the CreatedAt of the newest leg; zero when there is none.
	LastPostedAt time.Time
	CreatedAt    time.Time
}

// Currency returns the currency that the account is kept in.
func (a Account) Currency() money.Currency { return a.Balance.Currency() }

// System reports whether the account is one of the ledger's own.
func (a Account) System() bool { return a.ID.System() }

// System reports whether the id is one of the ledger's own accounts.
func (id AccountID) System() bool { return strings.HasPrefix(string(id), "@") }

// The ledger's own accounts, one for each currency, which are opened when they are first used.
// What comes from outside the books, or leaves them, is posted against one of these, so that all
// balances of a currency sum to zero. They may go below zero without limit. Their ids are these
// names followed by "-" and the currency: "@deposits-NZD"; a leg may give the name alone.
const (
	Opening     AccountID = "@opening"     // balances taken over from earlier books
	Deposits    AccountID = "@deposits"    // money that came in
	Withdrawals AccountID = "@withdrawals" // money that went out
	Fees        AccountID = "@fees"        // what users were charged
	Interest    AccountID = "@interest"    // what users earned or owed for time
	Exchange    AccountID = "@exchange"    // the other side of both currencies of an exchange
	Clearing    AccountID = "@clearing"    // payments on their way between books
	Suspense    AccountID = "@suspense"    // money whose owner is not known yet
	Rounding    AccountID = "@rounding"    // odd cents
)

// SystemAccountType is the type of the ledger's own accounts.
const SystemAccountType = "system"

// SystemAccounts returns the names of the ledger's own accounts.
func SystemAccounts() []AccountID {
	return []AccountID{
		Opening, Deposits, Withdrawals, Fees, Interest, Exchange, Clearing, Suspense, Rounding,
	}
}

// SystemAccount returns the id of one of the ledger's own accounts in a currency.
func SystemAccount(name AccountID, currency money.Currency) AccountID {
	return name + AccountID("-"+currency)
}

// systemCurrency returns the currency in the id of one of the ledger's own accounts, and false for
// every other id.
func (id AccountID) systemCurrency() (money.Currency, bool) {
	name, code, ok := strings.Cut(string(id), "-")
	currency := money.Currency(code)
	return currency, ok && isSystemName(AccountID(name)) && currency.Known()
}

// systemAccount returns one of the ledger's own accounts as it is opened.
func systemAccount(id AccountID, currency money.Currency, now time.Time) Account {
	zero, _ := money.New(money.Decimal{}, currency)
	return Account{
		ID: id, AccountType: SystemAccountType, Balance: zero, OverdraftLimit: zero,
		Unlimited: true, Status: AccountActive, Revision: 1, CreatedAt: now,
	}
}

// AccountReceipt is the answer to a NewAccount.
type AccountReceipt struct {
	Account
	// Replayed reports whether an earlier, equal request opened the account, which is as it is now.
	Replayed bool
}

// NewAccount asks for an account.
type NewAccount struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or else a random UUID.
	ID AccountID
	// IdempotencyKey makes the request safe to repeat. One key opens one account: a request with
	// the same key and another ID is refused. It may be empty when ID is given, or when a repeat
	// shall open another account.
	IdempotencyKey string
	UserID         UserID
	AccountType    string
	Currency       money.Currency
	// OverdraftLimit is how far the balance may go below zero; its zero value means not at all.
	OverdraftLimit money.Amount
	// Unlimited lets the balance go below zero without limit.
	Unlimited bool
	// Zone is where the account's calendar days begin; empty means the ledger's own zone.
	Zone string
	// LocationID is where the account is kept; it may be empty.
	LocationID LocationID
}

func (n NewAccount) check() error {
	var wrong problem.Fields
	checkNewID(&wrong, "id", string(n.ID), optional)
	if n.ID.System() {
		wrong.Add("id", "must not begin with @, which the ledger's own accounts do")
	}
	checkText(&wrong, "userId", string(n.UserID), userIDMax, required)
	checkPathPart(&wrong, "userId", string(n.UserID))
	checkText(&wrong, "accountType", n.AccountType, accountTypeMax, required)
	checkID(&wrong, "locationId", string(n.LocationID), optional)
	if !n.Currency.Known() {
		wrong.Add("currency", "must be a code of ISO 4217")
	}
	if n.Zone != "" {
		// "Local" is a name that means another zone on every machine.
		if _, err := time.LoadLocation(n.Zone); err != nil || n.Zone == "Local" {
			wrong.Add("zone", "must be a name such as Pacific/Auckland")
		}
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return err
	}
	if err := checkKey(n.IdempotencyKey, optional); err != nil {
		return err
	}
	return checkOverdraft(n.OverdraftLimit, n.Currency)
}

// checkOverdraft checks a limit for an account in a currency.
func checkOverdraft(limit money.Amount, currency money.Currency) error {
	const field = "overdraftLimit"
	switch {
	case limit.Currency() != "" && limit.Currency() != currency:
		return ErrInvalidRequest.Field(field, "must be in the account's currency")
	case limit.Sign() < 0:
		return ErrInvalidRequest.Field(field, "must not be negative")
	case limit.FractionDigits() > currency.Digits():
		return ErrTooManyFractionDigits.With("amount", limit.Decimal()).
			With("currency", currency).With("digits", currency.Digits()).
			Field(field, "has too many fraction digits")
	}
	return nil
}

// account returns the account as it is opened.
func (n *NewAccount) account(id AccountID, now time.Time) Account {
	a := Account{
		ID: id, UserID: n.UserID, AccountType: n.AccountType, Status: AccountActive,
		Unlimited: n.Unlimited, Zone: n.Zone, LocationID: n.LocationID,
		Revision: revisionOpened, CreatedAt: now,
	}
	a.Balance, _ = money.New(money.Decimal{}, n.Currency)
	a.OverdraftLimit, _ = money.New(n.OverdraftLimit.Units(), n.Currency)
	return a
}

// difference names the first member in which a request is not the one that opened an account, or
// returns "". An account that an earlier release opened has no digest of its request: its overdraft
// is compared only if it was never changed, because only then it is the one of the request.
func (n *NewAccount) difference(o *openedItems) string {
	found := &o.account
	field, known := accountDigests.Difference(o.entry.RequestHash, n, accountMembers[:]...)
	switch {
	case known:
		return field
	case n.UserID != found.UserID:
		return "userId"
	case n.AccountType != found.AccountType:
		return "accountType"
	case n.Currency != found.Currency:
		return "currency"
	case n.Zone != found.Zone:
		return "zone"
	case n.LocationID != found.LocationID:
		return "locationId"
	case found.Revision != revisionOpened:
		return ""
	case n.Unlimited != found.Unlimited:
		return "unlimited"
	case n.OverdraftLimit.Units().Cmp(found.OverdraftLimit) != 0:
		return "overdraftLimit"
	}
	return ""
}

// revisionOpened is the revision of an account that was not changed since it was opened.
const revisionOpened = 1

// Available returns how much may be debited: the balance and the overdraft limit. It has no meaning
// where Unlimited is set. It is never negative.
func (a Account) Available() money.Amount {
	available, err := a.Balance.Add(a.OverdraftLimit)
	if err != nil || available.Sign() < 0 {
		return zeroOf(&a)
	}
	return available
}

// zeroOf returns nothing in an account's currency.
func zeroOf(a *Account) money.Amount {
	zero, _ := money.New(money.Decimal{}, a.Currency())
	return zero
}
