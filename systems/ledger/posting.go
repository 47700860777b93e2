package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// Bounds of a posting.
const (
	// actionsMax is DynamoDB's limit of writes in one transaction. A posting needs one for the
	// header, one for each leg and one for each account; its reversal, which has at most one leg
	// for each account and marks the original too, never needs more.
	actionsMax = 100
	// typeMax is the maximum length of a transaction's type.
	typeMax = 32
	// descriptionMax is in bytes; bank statements carry 140 characters at most.
	descriptionMax = 1024
	// metadataPairsMax and metadataBytesMax keep headers small, since readers by status read them
	// by the hundred. Bytes are those of all names and values.
	metadataPairsMax = 50
	metadataBytesMax = 4096
)

// normal returns the posting with everything spelled out that follows from the request alone: the
// currency, and the full ids of the ledger's own accounts. The result owns its slices and maps.
func (p Posting) normal() Posting {
	p.Metadata = maps.Clone(p.Metadata)
	if len(p.Metadata) == 0 {
		p.Metadata = nil
	}
	p.Legs = slices.Clone(p.Legs)
	for i := range p.Legs {
		l := &p.Legs[i]
		if l.AccountID.System() && isSystemName(l.AccountID) {
			l.AccountID = SystemAccount(l.AccountID, l.Amount.Currency())
		}
	}
	if p.Currency == "" && len(p.Legs) > 0 {
		p.Currency = p.Legs[0].Amount.Currency()
	}
	return p
}

// check returns what is wrong with a normal posting in itself: the first problem in the order of
// Problems. It asks in that order, so the first that is found is the one.
func (p *Posting) check() error {
	if err := p.checkForm(); err != nil {
		return err
	}
	if err := checkKey(p.IdempotencyKey, optional); err != nil {
		return err
	}
	if err := checkTexts(p.Description, p.Metadata); err != nil {
		return err
	}
	if len(p.Legs) < 2 {
		return ErrTooFewLegs.With("legs", len(p.Legs)).Field("legs", "must be at least 2")
	}
	if accounts := p.accounts(); 1+len(p.Legs)+accounts > actionsMax {
		return ErrTooManyLegs.With("legs", len(p.Legs)).With("accounts", accounts).
			With("actions", 1+len(p.Legs)+accounts).With("limit", actionsMax).
			Field("legs", "must be fewer")
	}
	for i := range p.Legs {
		if a := p.Legs[i].Amount; a.Sign() <= 0 {
			return ErrAmountNotPositive.With("amount", a).
				Field(legField(i, "amount"), "must be more than zero")
		}
	}
	for i := range p.Legs {
		if a := p.Legs[i].Amount; !a.Fits() {
			digits := a.Currency().Digits()
			return ErrTooManyFractionDigits.With("amount", a.Decimal()).
				With("currency", a.Currency()).With("digits", digits).
				Field(legField(i, "amount"), fmt.Sprintf("must have at most %d of them", digits))
		}
	}
	return p.checkBalance()
}

// checkForm finds what cannot be understood at all.
func (p *Posting) checkForm() error {
	var wrong problem.Fields
	if !plainWord(string(p.Type)) {
		wrong.Addf("type", "must be 1 to %d lower-case letters, digits and underscores", typeMax)
	}
	if p.Type == Reversal {
		wrong.Add("type", "is kept for the reversal of a transaction")
	}
	checkID(&wrong, "merchantId", string(p.MerchantID), optional)
	found := p.Currency == ""
	for i := range p.Legs {
		l := &p.Legs[i]
		if bad := wrongID(string(l.AccountID), required); bad != "" {
			wrong.Add(legField(i, "accountId"), bad)
		}
		if l.AccountID == MerchantSettlement && p.MerchantID == "" {
			wrong.Add("merchantId", "is missing")
		}
		if l.Type != Debit && l.Type != Credit {
			wrong.Add(legField(i, "type"), "must be debit or credit")
		}
		if l.Amount.Currency() == "" {
			wrong.Add(legField(i, "currency"), "is missing")
		}
		found = found || l.Amount.Currency() == p.Currency
	}
	if !found {
		wrong.Add("currency", "must be that of a leg")
	}
	return wrong.Err(ErrInvalidRequest)
}

// checkTexts checks the texts of a transaction.
func checkTexts(description string, metadata map[string]string) error {
	var wrong problem.Fields
	if !utf8.ValidString(description) {
		wrong.Add("description", "must be UTF-8")
	}
	size := 0
	for name, value := range metadata {
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			wrong.Add("metadata", "must have names that are not empty, and be UTF-8")
			break
		}
		size += len(name) + len(value)
	}
	switch {
	case len(wrong) > 0:
		return wrong.Err(ErrInvalidRequest)
	case len(description) > descriptionMax:
		return ErrDescriptionTooLong.With("size", len(description)).With("limit", descriptionMax).
			Field("description", "must be shorter")
	case len(metadata) > metadataPairsMax:
		return ErrMetadataTooLarge.With("size", len(metadata)).With("unit", "pairs").
			With("limit", metadataPairsMax).Field("metadata", "must have fewer pairs")
	case size > metadataBytesMax:
		return ErrMetadataTooLarge.With("size", size).With("unit", "bytes").
			With("limit", metadataBytesMax).Field("metadata", "must be smaller")
	}
	return nil
}

// accounts counts the distinct accounts.
func (p *Posting) accounts() int {
	n := 0
	for i := range p.Legs {
		if p.firstLegOf(p.Legs[i].AccountID) == i {
			n++
		}
	}
	return n
}

// firstLegOf returns the place of the first leg of an account. Postings have few legs.
func (p *Posting) firstLegOf(id AccountID) int {
	return slices.IndexFunc(p.Legs, func(l PostingLeg) bool { return l.AccountID == id })
}

// firstLegIn returns the place of the first leg in a currency.
func (p *Posting) firstLegIn(currency money.Currency) int {
	return slices.IndexFunc(p.Legs, func(l PostingLeg) bool {
		return l.Amount.Currency() == currency
	})
}

// checkBalance compares debits and credits in each currency.
func (p *Posting) checkBalance() error {
	for i := range p.Legs {
		currency := p.Legs[i].Amount.Currency()
		if p.firstLegIn(currency) != i {
			continue
		}
		debits, credits, err := p.sums(currency)
		if err != nil {
			return ErrAmountTooLarge.With("limit", money.DigitsMax).
				Field("legs", "must add up to a smaller sum")
		}
		if debits != credits {
			return ErrUnbalanced.With("debits", debits).With("credits", credits).
				Field("legs", "must balance in "+string(currency))
		}
	}
	return nil
}

// sums adds up the legs in one currency.
func (p *Posting) sums(currency money.Currency) (debits, credits money.Amount, err error) {
	for i := range p.Legs {
		l := &p.Legs[i]
		if l.Amount.Currency() != currency {
			continue
		}
		if l.Type == Debit {
			debits, err = debits.Add(l.Amount)
		} else {
			credits, err = credits.Add(l.Amount)
		}
		if err != nil {
			return debits, credits, err
		}
	}
	return debits, credits, nil
}

// difference names the first field in which an earlier request for a transaction differed, given
// that the hashes of the two requests do.
func (p *Posting) difference(t *Transaction) string {
	switch {
	case p.Type != t.Type:
		return "type"
	case p.Currency != t.Amount.Currency():
		return "currency"
	case p.MerchantID != t.MerchantID:
		return "merchantId"
	case p.Description != t.Description:
		return "description"
	case !maps.Equal(p.Metadata, t.Metadata):
		return "metadata"
	}
	if debits, _, err := p.sums(p.Currency); err != nil || debits != t.Amount {
		return "amount"
	}
	return "legs"
}

func isSystemName(id AccountID) bool {
	switch id {
	case Opening, Deposits, Withdrawals, Fees, Interest, Exchange, Clearing, Suspense, Rounding:
		return true
	}
	return false
}

func plainWord(word string) bool {
	for i := range len(word) {
		c := word[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return word != "" && len(word) <= typeMax
}

func legField(place int, name string) string {
	return "legs[" + strconv.Itoa(place) + "]." + name
}
