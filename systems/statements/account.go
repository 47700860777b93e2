package statements

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// NewAccount asks for an account.
type NewAccount struct {
	// ID is the id to use, so that the request can be repeated; empty means a new one.
	ID       string
	Name     string
	Currency money.Currency
	Number   string
}

// AccountChange is what to change of an account; nil leaves as is.
type AccountChange struct {
	Name    *string
	Number  *string
	Closed  *bool
	Mapping *bankfile.Mapping
	// Version is the version that the caller has seen; 0 means any.
	Version uint64
}

// SaveProfile stores the profile of a user. Version is the version that the caller has
// seen; 0 means any. The error is ErrInvalid or ErrChanged.
func (p *Person) SaveProfile(
	ctx context.Context, email string, preferences Preferences, version uint64,
) (Profile, error) {
	var wrong problem.Fields
	checkText(&wrong, "email", email, 0, NameMax)
	if preferences.Currency != "" && !preferences.Currency.Known() {
		wrong.Addf("preferences.currency", "%q is no currency of ISO 4217", preferences.Currency)
	}
	if _, err := time.LoadLocation(preferences.TimeZone); err != nil {
		wrong.Addf("preferences.timezone", "%q is no time zone such as Pacific/Auckland",
			preferences.TimeZone)
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return Profile{}, err
	}
	for {
		start, err := p.profile(ctx)
		if err != nil {
			return Profile{}, err
		}
		if !isSeen(version, start.Version) {
			return Profile{}, ErrChanged.With("what", "The profile")
		}
		next := Profile{UserID: p.id, Email: email, Preferences: preferences,
			CreatedAt: start.CreatedAt, UpdatedAt: p.now(), Version: start.Version + 1}
		if next.CreatedAt.IsZero() {
			next.CreatedAt = next.UpdatedAt
		}
		err = modelOf(p).profiles.Put(ctx, p.store(), next,
			modelOf(p).versions.profile.Equals(start.Version))
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return next, wrapped("save profile", err)
		}
	}
}

// profile returns the profile, or an empty one.
func (p *Person) profile(ctx context.Context) (Profile, error) {
	v, _, err := modelOf(p).profiles.Get(ctx, p.store(), Profile{UserID: p.id},
		singletable.Consistent())
	return v, wrapped("read profile", err)
}

// Profile returns what the user has saved about themselves. The error is ErrNoProfile.
func (p *Person) Profile(ctx context.Context) (Profile, error) {
	v, err := p.profile(ctx)
	if err == nil && v.CreatedAt.IsZero() && v.Email == "" && v.Preferences == (Preferences{}) {
		return Profile{}, ErrNoProfile
	}
	return v, err
}

// CreateAccount makes an account. A repeat with the same id and contents returns the first one, and
// made is false; with other contents it is ErrKeyUsed. The error is also ErrInvalid or ErrTooMany.
func (p *Person) CreateAccount(ctx context.Context, n NewAccount) (_ Account, made bool, _ error) {
	now := p.now()
	a := Account{UserID: p.id, ID: n.ID, Name: strings.TrimSpace(n.Name), Currency: n.Currency,
		Number: strings.TrimSpace(n.Number), UpdatedAt: now, Version: 1,
		CreatedAt: now.Truncate(time.Second)} // As it is stored.
	if a.ID == "" {
		a.ID = p.newID("account")
	}
	if err := a.check(); err != nil {
		return Account{}, false, err
	}
	start, err := p.Start(ctx)
	if err != nil {
		return Account{}, false, err
	}
	for _, found := range start.Accounts {
		if found.ID == a.ID {
			return a.repeated(found)
		}
	}
	if len(start.Accounts) >= AccountsMax {
		return Account{}, false, ErrTooMany.With("what", "accounts").With("limit", AccountsMax)
	}
	err = modelOf(p).accounts.Create(ctx, p.store(), a)
	if !errors.Is(err, singletable.ErrExists) {
		return a, err == nil, wrapped("create account", err)
	}
	// Another request made it just now, perhaps a retry of this one.
	found, err := p.Account(ctx, a.ID)
	if err != nil {
		return Account{}, false, err
	}
	return a.repeated(found)
}

// repeated returns the account that is there under the id of one that is asked for, if it has the
// same.
func (a *Account) repeated(found Account) (_ Account, made bool, _ error) {
	field := ""
	switch {
	case found.Name != a.Name:
		field = "name"
	case found.Currency != a.Currency:
		field = "currency"
	case found.Number != a.Number:
		field = "number"
	default:
		return found, false, nil
	}
	return Account{}, false, keyUsed(a.ID, field)
}

// keyUsed returns the refusal of a request that differs in a member from the first one with its key
// or id; nil if the member is "".
func keyUsed(key, member string) error {
	if member == "" {
		return nil
	}
	return ErrKeyUsed.With("first", key).With("field", member).
		Field(member, "is not that of the first request")
}

func (a *Account) check() error {
	var wrong problem.Fields
	checkNewID(&wrong, a.ID)
	checkText(&wrong, "name", a.Name, 1, NameMax)
	checkText(&wrong, "number", a.Number, 0, NameMax)
	if !a.Currency.Known() {
		wrong.Addf("currency", "%q is no currency of ISO 4217", a.Currency)
	}
	return wrong.Err(ErrInvalid)
}

// checkNewID demands what can be a part of a path.
func checkNewID(wrong *problem.Fields, id string) {
	checkText(wrong, "id", id, 1, NameMax)
	if id == "." || id == ".." {
		wrong.Add("id", "must not be . or .., which are ways up in a path")
	}
}

// checkText demands a text of some bytes, on one line.
func checkText(wrong *problem.Fields, field, text string, least, most int) {
	switch {
	case len(text) < least:
		wrong.Add(field, "is missing")
	case len(text) > most:
		wrong.Addf(field, "has %d bytes, the limit is %d", len(text), most)
	case !utf8.ValidString(text):
		wrong.Add(field, "is not UTF-8")
	case strings.ContainsFunc(text, book.IsControl):
		wrong.Add(field, "has control characters")
	}
}

// Account returns an account. The error is ErrNoAccount.
func (p *Person) Account(ctx context.Context, id string) (Account, error) {
	if id == "" {
		return Account{}, ErrNoAccount.With("account", id)
	}
	a, found, err := modelOf(p).accounts.Get(ctx, p.store(), Account{UserID: p.id, ID: id},
		singletable.Consistent())
	if err != nil {
		return Account{}, failed("read account", err)
	}
	if !found {
		return Account{}, ErrNoAccount.With("account", id)
	}
	return a.mapped()
}

// mapped reads the mapping out of its stored form.
func (a Account) mapped() (Account, error) {
	if a.MappingText == "" {
		return a, nil
	}
	m, err := bankfile.ParseMapping([]byte(a.MappingText))
	if err != nil {
		return Account{}, fmt.Errorf("mapping of account %s: %w", a.ID, err)
	}
	a.Mapping = &m
	return a, nil
}

// ChangeAccount changes an account. The error is ErrInvalid, ErrNoAccount or ErrChanged.
func (p *Person) ChangeAccount(
	ctx context.Context, id string, c AccountChange,
) (Account, error) {
	for {
		a, err := p.Account(ctx, id)
		if err != nil {
			return Account{}, err
		}
		if !isSeen(c.Version, a.Version) {
			return Account{}, ErrChanged.With("what", "Account "+id)
		}
		before := a.Version
		if err := a.apply(c); err != nil {
			return Account{}, err
		}
		a.UpdatedAt, a.Version = p.now(), before+1
		err = modelOf(p).accounts.Put(ctx, p.store(), a, modelOf(p).accounts.Exists(),
			modelOf(p).versions.account.Equals(before))
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return a, wrapped("change account", err)
		}
	}
}

func (a *Account) apply(c AccountChange) error {
	if c.Name != nil {
		a.Name = strings.TrimSpace(*c.Name)
	}
	if c.Number != nil {
		a.Number = strings.TrimSpace(*c.Number)
	}
	if c.Closed != nil {
		a.Closed = *c.Closed
	}
	if c.Mapping != nil {
		text, err := json.Marshal(c.Mapping)
		if err != nil {
			return fmt.Errorf("mapping of account %s: %w", a.ID, err)
		}
		if _, err := bankfile.ParseMapping(text); err != nil {
			return ErrInvalid.Field("mapping", err.Error())
		}
		a.Mapping, a.MappingText = c.Mapping, string(text)
	}
	return a.check()
}

// wrapped is failed for an error that may be none.
func wrapped(deed string, err error) error {
	if err == nil {
		return nil
	}
	return failed(deed, err)
}
