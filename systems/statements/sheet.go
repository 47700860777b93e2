package statements

import (
	"maps"

	"github.com/exchequer-dev/exchequer/money"
)

// Flow is what came in and went out. Both are sums of amounts as they are: In is zero or more, Out
// is zero or less.
type Flow struct {
	In    money.Decimal `dynamodbav:"in"`
	Out   money.Decimal `dynamodbav:"out"`
	Count int           `dynamodbav:"count"`
}

// Sheet holds the totals of an account in a month, of the rows of one currency. It is written with
// each row, so that it is what they add up to at every instant.
type Sheet struct {
	UserID    string         `dynamodbav:"userId,keyonly"`
	AccountID string         `dynamodbav:"accountId,keyonly"`
	Month     Date           `dynamodbav:"month,required"` // Its first day.
	Currency  money.Currency `dynamodbav:"currency,keyonly"`
	// All is of every row, Transfers of those between the person's own accounts. What follows is of
	// the rows that are no transfers.
	All       Flow `dynamodbav:"all,required"`
	Transfers Flow `dynamodbav:"transfers,required"`
	// Tags is by tag id: a row with two tags counts for both, a divided row by its parts. Untagged
	// is of those without any.
	Tags     map[string]Flow `dynamodbav:"tags,omitempty"`
	Untagged Flow            `dynamodbav:"untagged,required"`
	// Merchants is by name. Unnamed is of rows without one; Rest of merchants beyond MerchantsMax.
	Merchants map[string]Flow `dynamodbav:"merchants,omitempty"`
	Unnamed   Flow            `dynamodbav:"unnamed,required"`
	Rest      Flow            `dynamodbav:"rest,required"`
	Version   uint64          `dynamodbav:"version,omitempty"`
}

// add counts an amount in, or, with sign -1, out again.
func (f *Flow) add(amount money.Decimal, sign int) error {
	if sign < 0 {
		amount = amount.Neg()
	}
	side := &f.In
	if amount.Sign()*sign < 0 {
		side = &f.Out
	}
	sum, err := side.Add(amount)
	if err != nil {
		return err
	}
	*side = sum
	f.Count += sign
	return nil
}

// count adds a row to the sheet or, with sign -1, takes it away.
func (s *Sheet) count(t *Transaction, sign int) error {
	if err := s.All.add(t.Amount, sign); err != nil {
		return err
	}
	if t.Transfer {
		return s.Transfers.add(t.Amount, sign)
	}
	if err := s.countMerchant(t, sign); err != nil {
		return err
	}
	if len(t.Splits) == 0 {
		return s.countTags(t.Amount, t.TagIDs, sign)
	}
	for i := range t.Splits {
		if err := s.countTags(t.Splits[i].Amount, t.Splits[i].TagIDs, sign); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sheet) countTags(amount money.Decimal, ids []string, sign int) error {
	if len(ids) == 0 {
		return s.Untagged.add(amount, sign)
	}
	for _, id := range ids {
		if s.Tags == nil {
			s.Tags = map[string]Flow{}
		}
		if err := addTo(s.Tags, id, amount, sign); err != nil {
			return err
		}
	}
	return nil
}

// countMerchant sums up by name. Once there are rows of merchants beyond the limit no name is
// added, so that a row is always taken away from where it was counted.
func (s *Sheet) countMerchant(t *Transaction, sign int) error {
	if t.Merchant == "" {
		return s.Unnamed.add(t.Amount, sign)
	}
	_, known := s.Merchants[t.Merchant]
	if !known && (s.Rest.Count > 0 || len(s.Merchants) >= MerchantsMax) {
		return s.Rest.add(t.Amount, sign)
	}
	if s.Merchants == nil {
		s.Merchants = map[string]Flow{}
	}
	return addTo(s.Merchants, t.Merchant, t.Amount, sign)
}

// addTo counts an amount under a name, which goes when nothing is counted there any more.
func addTo(flows map[string]Flow, name string, amount money.Decimal, sign int) error {
	f := flows[name]
	if err := f.add(amount, sign); err != nil {
		return err
	}
	if f.Count == 0 {
		delete(flows, name)
		return nil
	}
	flows[name] = f
	return nil
}

// clone returns a copy that shares nothing with the sheet.
func (s *Sheet) clone() *Sheet {
	c := *s
	c.Tags, c.Merchants = maps.Clone(s.Tags), maps.Clone(s.Merchants)
	return &c
}
