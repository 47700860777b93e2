package bankfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/charset"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// MappingVersion is the version of Mapping's JSON that this package writes.
const MappingVersion = 1

// Mapping is how the files of one bank are read: what was found in a file, and what a person
// answered or confirmed. It is plain JSON that can be kept with the account and shared. Empty
// fields are decided again for each file.
type Mapping struct {
	Version   int      `json:"version"`
	Name      string   `json:"name,omitempty"` // Of the bank, for people.
	Encoding  Encoding `json:"encoding,omitempty"`
	Delimiter string   `json:"delimiter,omitempty"` // One character: , ; | or tab.
	Columns   []Column `json:"columns,omitempty"`
	DateOrder Order    `json:"dateOrder,omitempty"`
	Decimal   string   `json:"decimal,omitempty"` // "." or ",".
	Invert    bool     `json:"invert,omitempty"`  // Money out is written as positive.
	// SignsGiven is whether a person set Invert; the words of rows then do not change it.
	SignsGiven bool      `json:"signsGiven,omitempty"`
	DebitSign  DebitSign `json:"debitSign,omitempty"` // The meaning of a negative debit.
	// CreditSign is the meaning of a negative credit.
	CreditSign CreditSign     `json:"creditSign,omitempty"`
	FlagSign   FlagSign       `json:"flagSign,omitempty"`  // Of a sign next to a direction.
	OutFlags   []string       `json:"outFlags,omitempty"`  // More words for money out,
	InFlags    []string       `json:"inFlags,omitempty"`   // and for money in.
	Rest       Rest           `json:"rest,omitempty"`      // For amounts without such a word.
	JoinLines  bool           `json:"joinLines,omitempty"` // Lines without a date continue.
	Currency   money.Currency `json:"currency,omitempty"`  // For files without one.
}

// Column is a column of a CSV file and its role. Name is compared first; Index, from 0, is for
// files without headers and for names that occur twice.
type Column struct {
	Index int    `json:"index"`
	Name  string `json:"name,omitempty"`
	Role  Role   `json:"role"`
}

// Role is what a column of a CSV file holds.
type Role string

// The roles of columns. Several columns may be RoleMemo or RoleIgnore; every other role has one.
const (
	RoleDate            Role = "date"
	RoleValueDate       Role = "valueDate"
	RoleAuthorisedDate  Role = "authorisedDate" // See Entry.AuthorisedDate.
	RoleAmount          Role = "amount"
	RoleDebit           Role = "debit"  // Money out.
	RoleCredit          Role = "credit" // Money in.
	RoleDirection       Role = "flag"   // A word or letter for the direction.
	RoleCurrency        Role = "currency"
	RoleBalance         Role = "balance"
	RoleName            Role = "name"
	RolePayer           Role = "payer" // The side that pays; RoleName is then paid.
	RoleMemo            Role = "memo"
	RoleCounterparty    Role = "counterparty"
	RoleReference       Role = "reference"
	RoleID              Role = "bankId"
	RoleCategory        Role = "category"
	RoleAccount         Role = "account"
	RoleForeign         Role = "foreignAmount"
	RoleForeignCurrency Role = "foreignCurrency"
	RoleStatus          Role = "status" // Pending or booked.
	RoleFee             Role = "fee"    // Charged in addition to the amount.
	RoleIgnore          Role = "ignore" // Not read, even if its name suggests a role.
)

var roles = []Role{
	RoleDate, RoleValueDate, RoleAuthorisedDate, RoleAmount, RoleDebit, RoleCredit,
	RoleDirection, RoleCurrency, RoleBalance, RoleName, RoleMemo, RoleCounterparty,
	RoleReference, RoleID, RoleCategory, RoleAccount, RoleForeign, RoleForeignCurrency,
	RoleStatus, RoleFee, RoleIgnore, RolePayer,
}

// Known reports whether r is one of the roles.
func (r Role) Known() bool { return slices.Contains(roles, r) }

// RoleNames returns all roles, the most common first.
func RoleNames() []string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return names
}

// Order is the order of day, month and year in the dates of one file.
type Order string

// The orders that a file can have. Year-first dates and dates with a month's name show their own.
const (
	DayFirst   = Order(cells.DayFirst)
	MonthFirst = Order(cells.MonthFirst)
	YearFirst  = Order(cells.YearFirst)
)

// DebitSign is the meaning of a negative number in a column of debits.
type DebitSign string

// The two habits that banks have.
const (
	DebitOut    DebitSign = "out"    // Debits are positive, so a negative one came back.
	DebitSigned DebitSign = "signed" // All debits are written with a minus.
)

// CreditSign is the meaning of a negative number in a column of credits.
type CreditSign string

// The two habits that banks have.
const (
	CreditIn     CreditSign = "in"     // Credits are positive, so a negative one was taken back.
	CreditSigned CreditSign = "signed" // All credits are written with a minus, as on some cards.
)

// FlagSign is the meaning of a minus next to a column with the direction.
type FlagSign string

// The two habits that banks have.
const (
	FlagDecides FlagSign = "decides" // The column gives the direction; a minus is a refund.
	FlagRepeats FlagSign = "repeats" // The column only repeats the sign of the amount.
	FlagWord    FlagSign = "word"    // The word alone gives the direction, as on some cards.
)

// Rest is the direction of amounts without a word, in files that write the word for the other
// direction only.
type Rest string

// The directions of amounts without a word.
const (
	RestOut Rest = "out"
	RestIn  Rest = "in"
)

// MappingSizeMax is the maximum size in bytes of a mapping's JSON, which may come from an unknown
// person.
const MappingSizeMax = 64 << 10

// ParseMapping reads a Mapping from JSON and checks it.
func ParseMapping(data []byte) (Mapping, error) {
	var m Mapping
	if len(data) > MappingSizeMax {
		return m, fmt.Errorf("a mapping has at most %d bytes", MappingSizeMax)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Mapping{}, fmt.Errorf("read mapping: %w", err)
	}
	if m.Version != MappingVersion {
		return Mapping{}, fmt.Errorf("mapping has version %d; this program reads version %d",
			m.Version, MappingVersion)
	}
	return m, m.check()
}

// check returns an error if a value is invalid, because mappings come from people.
func (m *Mapping) check() error {
	switch m.Decimal {
	case "", ".", ",":
	default:
		return fmt.Errorf("mapping: decimal mark %q must be . or ,", cells.Clip(m.Decimal))
	}
	switch m.DateOrder {
	case "", DayFirst, MonthFirst, YearFirst:
	default:
		return fmt.Errorf("mapping: unknown date order %q", cells.Clip(string(m.DateOrder)))
	}
	switch m.DebitSign {
	case "", DebitOut, DebitSigned:
	default:
		return fmt.Errorf("mapping: unknown debit sign %q", cells.Clip(string(m.DebitSign)))
	}
	switch m.CreditSign {
	case "", CreditIn, CreditSigned:
	default:
		return fmt.Errorf("mapping: unknown credit sign %q", cells.Clip(string(m.CreditSign)))
	}
	switch m.FlagSign {
	case "", FlagDecides, FlagRepeats, FlagWord:
	default:
		return fmt.Errorf("mapping: unknown flag sign %q", cells.Clip(string(m.FlagSign)))
	}
	switch m.Rest {
	case "", RestOut, RestIn:
	default:
		return fmt.Errorf("mapping: unknown rest %q", cells.Clip(string(m.Rest)))
	}
	if m.Encoding != "" && !charset.Known(charset.Encoding(m.Encoding)) {
		return fmt.Errorf("mapping: unknown encoding %q", cells.Clip(string(m.Encoding)))
	}
	if m.Delimiter != "" && len(m.Delimiter) != 1 {
		return errors.New("mapping: the delimiter must be one ASCII character")
	}
	if m.Delimiter == "\"" || m.Delimiter == "\n" || m.Delimiter == "\r" {
		return errors.New("mapping: the delimiter must not be a quotation mark or a line end")
	}
	for i, c := range m.Columns {
		switch {
		case !slices.Contains(roles, c.Role):
			return fmt.Errorf("mapping: unknown role %q", cells.Clip(string(c.Role)))
		case c.Index < 0 || c.Index >= scan.ColumnsMax:
			return fmt.Errorf("mapping: the column of %s has the index %d", c.Role, c.Index)
		case c.Role != RoleMemo && c.Role != RoleIgnore &&
			slices.ContainsFunc(m.Columns[:i], func(o Column) bool { return o.Role == c.Role }):
			return fmt.Errorf("mapping: two columns are %s", c.Role)
		}
	}
	if m.Currency != "" && !m.Currency.Known() && !m.Currency.Retired() {
		return fmt.Errorf("mapping: unknown currency %q", cells.Clip(string(m.Currency)))
	}
	return nil
}

// Answer sets the answer to a question of an UndecidedError. Value is the Value of one of its
// choices. In addition to the topics of questions there is one for each role, such as "debitColumn"
// and "memoColumn", whose value is the number of a column, counted from 1, or its name; see
// [ColumnTopic].
func (m *Mapping) Answer(topic Topic, value string) error {
	next := *m
	next.Columns = slices.Clone(m.Columns)
	var err error
	switch topic {
	case AskOrder:
		next.DateOrder = Order(value)
	case AskDecimal:
		next.Decimal = value
	case AskDebit:
		next.DebitSign = DebitSign(value)
	case AskCredit:
		next.CreditSign = CreditSign(value)
	case AskDirection:
		next.answerDirection(value)
	case AskEncoding:
		encoding, ok := ParseEncoding(value)
		if !ok {
			return fmt.Errorf("the encoding %q is not supported", cells.Clip(value))
		}
		next.Encoding, next.Columns = encoding, nil // Names may have been decoded wrongly.
	default:
		err = next.answerColumn(topic, value)
	}
	if err == nil && value == "" {
		err = fmt.Errorf("answer to %s: it is empty", topic)
	}
	if err == nil {
		err = next.check()
	}
	if err != nil {
		return err
	}
	*m = next
	return nil
}

// Says reports whether the mapping already has an answer, as after Answer.
func (m *Mapping) Says(topic Topic, value string) bool {
	name, ok := strings.CutSuffix(string(topic), "Column")
	if !ok {
		next := *m
		next.Columns = slices.Clone(m.Columns)
		return next.Answer(topic, value) == nil && reflect.DeepEqual(next, *m)
	}
	for part := range strings.SplitSeq(value, ",") {
		role, column, both := strings.Cut(part, "=")
		if !both {
			role, column = name, part
		}
		if !slices.ContainsFunc(m.Columns, func(c Column) bool {
			return string(c.Role) == role &&
				(strconv.Itoa(c.Index+1) == column || c.Name == column && column != "")
		}) {
			return false
		}
	}
	return true
}

// answerDirection sets the word that means money out; with AskNone, no word does.
func (m *Mapping) answerDirection(word string) {
	m.OutFlags, m.InFlags, m.FlagSign = []string{word}, nil, ""
	if word == AskNone {
		m.OutFlags = nil
		for i := range m.Columns {
			if m.Columns[i].Role == RoleDirection {
				m.Columns[i].Role = RoleCategory
			}
		}
	}
}

// ColumnTopic returns the topic that sets the column of a role.
func ColumnTopic(role Role) Topic { return Topic(string(role) + "Column") }

// answerColumn sets the column of a role, or of two roles: "debit=3,credit=4".
func (m *Mapping) answerColumn(topic Topic, value string) error {
	name, ok := strings.CutSuffix(string(topic), "Column")
	if !ok || !slices.Contains(roles, Role(name)) {
		return fmt.Errorf("unknown question %q", cells.Clip(string(topic)))
	}
	if topic == AskAmount && strings.Contains(value, "=") {
		for part := range strings.SplitSeq(value, ",") {
			role, column, _ := strings.Cut(part, "=")
			if Role(role) != RoleDebit && Role(role) != RoleCredit {
				return fmt.Errorf("answer to %s: %q is neither a column nor debit=3,credit=4",
					topic, cells.Clip(value))
			}
			if err := m.setColumn(Role(role), column); err != nil {
				return fmt.Errorf("answer to %s: %w", topic, err)
			}
		}
		return nil
	}
	if err := m.setColumn(Role(name), value); err != nil {
		return fmt.Errorf("answer to %s: %w", topic, err)
	}
	return nil
}

// setColumn sets the role of a column. The column loses its previous role, and another column loses
// this one.
func (m *Mapping) setColumn(role Role, value string) error {
	c := Column{Role: role}
	switch index, err := strconv.Atoi(value); {
	case err != nil:
		c.Name = value
	case index < 1 || index > scan.ColumnsMax:
		return fmt.Errorf("%q is not the number of a column; the first one is 1", cells.Clip(value))
	default:
		c.Index = index - 1
	}
	m.Columns = slices.DeleteFunc(m.Columns, func(o Column) bool {
		same := o.Index == c.Index
		if c.Name != "" {
			same = o.Name == c.Name
		}
		return same || replaces(role, o.Role)
	})
	if role == RoleAmount || role == RoleDebit || role == RoleCredit {
		m.DebitSign, m.CreditSign, m.FlagSign, m.Rest = "", "", "", ""
	}
	if role == RoleDirection {
		m.OutFlags, m.InFlags, m.FlagSign, m.Rest = nil, nil, "", ""
	}
	m.Columns = append(m.Columns, c)
	return nil
}

// replaces reports whether setting a role removes another role: the amount is either in one column,
// or in two of debits and credits.
func replaces(role, other Role) bool {
	switch role {
	case RoleMemo, RoleIgnore:
		return false
	case RoleAmount:
		return other == RoleAmount || other == RoleDebit || other == RoleCredit
	case RoleDebit, RoleCredit:
		return other == role || other == RoleAmount
	}
	return other == role
}
