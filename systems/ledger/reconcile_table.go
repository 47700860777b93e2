package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// This file checks the items of the table, one page after the other: each item in itself, and each
// with the items that it names.

// stored is an item of the table with what was found out about it alone.
type stored struct {
	singletable.AuditItem
	differences []singletable.AuditDifference
	err         error
}

// tableCheck checks the items of a page.
type tableCheck struct {
	*reconciler
	ctx  context.Context
	t    *tally
	look lookups
}

// tablePage checks a page of the table.
func (r *reconciler) tablePage(
	ctx context.Context, t *tally, page []singletable.AuditItem,
) error {
	c := &tableCheck{reconciler: r, ctx: ctx, t: t, look: newLookups(r)}
	items := readAll(page)
	if err := c.look.prefetch(ctx, items); err != nil {
		return err
	}
	for len(items) > 0 {
		n := 1
		if isTransactionKey(items[0].Partition()) {
			for n < len(items) && items[n].Partition() == items[0].Partition() {
				n++
			}
		}
		if err := c.group(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

func readAll(page []singletable.AuditItem) []stored {
	items := make([]stored, len(page))
	for i := range page {
		items[i].AuditItem = page[i]
		items[i].differences, items[i].err = page[i].Compare()
	}
	return items
}

// group checks the items of a transaction, or one other item. What is found is looked at again
// before it counts, because other callers may have written between two pages.
func (c *tableCheck) group(items []stored) error {
	found, err := c.check(items)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		c.look = newLookups(c.reconciler)
		if items, err = c.again(items); err != nil || len(items) == 0 {
			return err
		}
		if found, err = c.check(items); err != nil {
			return err
		}
	}
	c.count(items)
	for _, d := range found {
		c.report(d)
	}
	for i := range items {
		if items[i].Entity() == accountEntity && items[i].err == nil {
			if err := c.follow(c.ctx, c.t, &items[i].AuditItem, c.report); err != nil {
				return err
			}
		}
	}
	return nil
}

// again reads the items of a group again.
func (c *tableCheck) again(items []stored) ([]stored, error) {
	if isTransactionKey(items[0].Partition()) {
		page, err := c.partition(c.ctx, items[0].Partition())
		return readAll(page), err
	}
	found, exists, err := c.store.AuditAgain(c.ctx, &items[0].AuditItem)
	if err != nil || !exists {
		return nil, err
	}
	return readAll([]singletable.AuditItem{found}), nil
}

// dated is a divergence with the instant that it belongs to.
type dated struct {
	Divergence
	at    time.Time
	known bool // false for what belongs to all days
}

// report adds a divergence to those of the days, or to those of other days.
func (c *tableCheck) report(d dated) {
	if !d.known || c.within(d.at) {
		c.t.finds = append(c.t.finds, d.Divergence)
		return
	}
	if len(c.t.away) < FindingsDefault {
		c.t.away = append(c.t.away, d.Divergence)
	}
}

// within reports whether an instant is one of the days.
func (r *reconciler) within(at time.Time) bool {
	return !at.Before(r.from) && (r.end == nil || at.Before(*r.end))
}

// pinned reports whether an item belongs to what the sums of the run hold.
func (r *reconciler) pinned(a *singletable.AuditItem) bool {
	at, ok := a.Instant(createdAt)
	return !ok || !at.Before(r.from) && at.Before(r.state.Until)
}

// count adds a group to the sums.
func (c *tableCheck) count(items []stored) {
	g := c.groupOf(items)
	at, known := g.instant()
	counts := !known || !at.Before(c.from) && at.Before(c.state.Until)
	for i := range items {
		a := &items[i].AuditItem
		c.t.Items++
		switch {
		case a.Entity() == "" && !isOurs(a.Partition()):
			c.t.Others++
		case a.Entity() == accountEntity:
			c.t.Accounts++
		}
		if !c.pinned(a) {
			continue
		}
		digest := a.Digest(digested()...)
		if a.Has(indexGSI1+"PK") && a.Has(indexGSI1+"SK") {
			c.t.ByIndex1.add(digest)
		}
		if a.Has(indexGSI2+"PK") && a.Has(indexGSI2+"SK") {
			c.t.ByIndex2.add(digest)
		}
		if a.Entity() == legEntity {
			c.t.ByChain.add(digest)
		}
	}
	if !counts || !g.moves() {
		return
	}
	if g.header != nil {
		c.t.Transactions++
	}
	for i := range g.legs {
		c.t.Legs++
		s := c.t.sums(g.legs[i].Currency)
		if amount := legOf(g.legs[i]).Amount; g.legs[i].Type == Debit {
			s.Debits.add(amount)
		} else {
			s.Credits.add(amount)
		}
	}
}

// check returns what is wrong with a group.
func (c *tableCheck) check(items []stored) ([]dated, error) {
	g := c.groupOf(items)
	at, known := g.instant()
	var out []dated
	add := func(d Divergence) { out = append(out, dated{d, at, known}) }
	for i := range items {
		made, err := c.madeHere(&items[i], g)
		if err != nil {
			return nil, err
		}
		c.checkItem(&items[i], made, add)
		if items[i].err != nil {
			continue
		}
		switch items[i].Entity() {
		case accountEntity:
			err = c.checkAccount(&items[i], add)
		case directoryEntity:
			err = c.checkListed(&items[i], add)
		case requestEntity:
			err = c.checkRequest(&items[i], add)
		}
		if err == nil {
			err = c.checkRecorded(&items[i], add)
		}
		if err != nil {
			return nil, err
		}
	}
	if isTransactionKey(items[0].Partition()) {
		if err := c.checkTransaction(g, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// madeHere reports whether the ledger itself wrote an item, and not another program, whose items
// lack what only the ledger knows.
func (c *tableCheck) madeHere(a *stored, g *group) (bool, error) {
	switch a.Entity() {
	case headerEntity:
		return a.Has("RequestHash") || g.versioned(), nil
	case legEntity:
		return a.Has("AccountVersion") || a.Has("BalanceAfter"), nil
	case accountEntity:
		// An account of another program gets a version when it is posted to here.
		entry, err := c.look.listed(c.ctx, AccountID(strings.TrimPrefix(a.Partition(), accountKey)))
		return entry != nil, err
	}
	return true, nil
}

// check returns what is wrong with an item in itself.
func (c *tableCheck) checkItem(a *stored, made bool, add func(Divergence)) {
	d := named(&a.AuditItem)
	switch {
	case a.Entity() == "" && !isOurs(a.Partition()):
		return
	case a.Entity() == "":
		d.Kind, d.Want = ItemUnreadable, "an item of the ledger"
		d.Got = "Type " + orNothing(a.Text("Type"))
		add(d)
		return
	case a.err != nil:
		d.Kind, d.Want, d.Got = ItemUnreadable, "an item that can be read", a.err.Error()
		add(d)
		return
	}
	for _, diff := range a.differences {
		if !made && diff.Missing && diff.Index == "" {
			continue
		}
		if diff.Index != "" && c.foundAnyway(a, diff) {
			continue
		}
		d.Kind = ItemWrong
		if diff.Index != "" {
			d.Kind = IndexWrong
		}
		d.Want = diff.Attribute + " " + orNothing(diff.Want)
		d.Got = diff.Attribute + " " + orNothing(diff.Got)
		add(d)
	}
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// foundAnyway reports whether an index key that is not the one that this ledger would write is that
// of another tenant in the same table, or of another number of shards.
func (c *tableCheck) foundAnyway(a *stored, d singletable.AuditDifference) bool {
	if d.Missing || d.Extra {
		return false
	}
	h, ok, err := c.design.transactions.FromAudit(&a.AuditItem)
	if !ok || err != nil {
		return false
	}
	switch d.Attribute {
	case indexGSI2 + "PK":
		return c.otherTenant(d.Got, d.Want, &h)
	case indexGSI1 + "PK":
		return c.design.isShard(d.Got, h.Status)
	}
	return false
}

// group is the items of a transaction as they can be read.
type group struct {
	items      []stored
	header     *transactionItem
	headerItem *stored // the header as it is stored; nil without one
	legs       []legItem
	legItems   []*stored
	broken     bool // not all of them can be read
}

func (r *reconciler) groupOf(items []stored) *group {
	g, m := &group{items: items}, r.design
	for i := range items {
		a := &items[i]
		if a.err != nil || a.Entity() == "" {
			g.broken = true
			continue
		}
		if header, ok, err := m.transactions.FromAudit(&a.AuditItem); ok && err == nil {
			g.header, g.headerItem = &header, a
		}
		if leg, ok, err := m.legs.FromAudit(&a.AuditItem); ok && err == nil {
			g.legs, g.legItems = append(g.legs, leg), append(g.legItems, a)
		}
	}
	return g
}

// instant returns when a transaction was posted: the time of its header, or else of its first leg.
func (g *group) instant() (time.Time, bool) {
	if g.header != nil {
		if at, ok := g.headerItem.Instant(createdAt); ok {
			return at, true
		}
	}
	for _, a := range g.legItems {
		if at, ok := a.Instant(createdAt); ok {
			return at, true
		}
	}
	return time.Time{}, false
}

// versioned reports whether the ledger has posted a leg of the transaction.
func (g *group) versioned() bool {
	return slices.ContainsFunc(g.legs, func(l legItem) bool { return l.AccountVersion > 0 })
}

// moves reports whether the transaction has moved money.
func (g *group) moves() bool {
	if g.header == nil {
		return len(g.legs) > 0
	}
	return g.header.Status == Completed || g.header.Status == Reversed || g.versioned()
}

// checkTransaction compares a header with its legs, and with what both name.
func (c *tableCheck) checkTransaction(g *group, add func(Divergence)) error {
	d := named(&g.items[0].AuditItem)
	d.LegID, d.AccountID = "", ""
	if g.header == nil && !g.broken {
		d.Kind, d.Want, d.Got = HeaderMissing, "a header", fmt.Sprintf("%d legs", len(g.legs))
		add(d)
	}
	if g.header != nil && len(g.legs) == 0 && !g.broken && g.moves() {
		d.Kind, d.Want, d.Got = LegsMissing, "legs", "none"
		add(d)
	}
	if !g.broken && g.moves() {
		g.checkSums(d, add)
	}
	for i := range g.legs {
		if err := c.checkLeg(g, i, add); err != nil {
			return err
		}
	}
	if g.header == nil {
		return nil
	}
	d.Entry = g.headerItem.Key()
	g.checkStatus(d, add)
	if err := c.checkLinks(g, d, add); err != nil {
		return err
	}
	if id := g.header.MerchantID; id != "" && g.versioned() {
		if exists, err := c.look.merchant(c.ctx, id); err != nil || exists {
			return err
		}
		d.Kind, d.Want, d.Got = MerchantMissing, "merchant "+string(id), "nothing"
		add(d)
	}
	return nil
}

// checkSums compares debits, credits and the header's amount.
func (g *group) checkSums(d Divergence, add func(Divergence)) {
	var p Posting
	for i := range g.legs {
		leg := legOf(g.legs[i])
		p.Legs = append(p.Legs, PostingLeg{leg.AccountID, leg.Type, leg.Amount})
	}
	amountFound := false
	for i := range p.Legs {
		currency := p.Legs[i].Amount.Currency()
		if p.firstLegIn(currency) != i {
			continue
		}
		debits, credits, err := p.sums(currency)
		if err != nil || !sameUnits(debits, credits) {
			d := d
			d.Kind, d.Currency = TransactionUnbalanced, currency
			d.Want, d.Got = debits.Text(), credits.Text()
			add(d)
		}
		// A header of another program names no currency: it is that of its legs.
		if g.header != nil && g.header.Currency == "" {
			amountFound = amountFound || debits.Units().Equal(g.header.Amount)
		}
	}
	if g.header == nil || len(g.legs) == 0 || amountFound {
		return
	}
	debits, _, err := p.sums(g.header.Currency)
	if err != nil || !debits.Units().Equal(g.header.Amount) {
		want := amountOf(debits.Units(), g.header.Currency)
		d.Kind, d.Want = AmountWrong, want.Text()
		d.Got = amountOf(g.header.Amount, g.header.Currency).Text()
		add(d)
	}
}

// sameUnits compares amounts of one currency, of which one may be the sum of nothing.
func sameUnits(a, b money.Amount) bool { return a.Units() == b.Units() }

// checkLeg compares a leg with its header and its account.
func (c *tableCheck) checkLeg(g *group, i int, add func(Divergence)) error {
	leg, d := &g.legs[i], named(&g.legItems[i].AuditItem)
	if g.header != nil && leg.AccountVersion > 0 && !leg.CreatedAt.Equal(g.header.CreatedAt) {
		d := d
		d.Kind = TimeWrong
		d.Want, d.Got = instantText(g.header.CreatedAt), instantText(leg.CreatedAt)
		add(d)
	}
	if leg.Type != Debit && leg.Type != Credit {
		d := d
		d.Kind, d.Want, d.Got = ItemWrong, "LegType debit or credit", "LegType "+string(leg.Type)
		add(d)
	}
	state, err := c.look.account(c.ctx, leg.AccountID)
	switch {
	case err != nil:
		return err
	case !state.exists:
		d.Kind, d.Want, d.Got = AccountMissing, "an account", "nothing"
		add(d)
	case state.currency != "" && state.currency != leg.Currency:
		d.Kind, d.Currency = CurrencyWrong, leg.Currency
		d.Want, d.Got = string(state.currency), string(leg.Currency)
		add(d)
	}
	return nil
}

func instantText(t time.Time) string { return t.UTC().Format(instantLayout) }

// instantLayout is the form of instants in keys.
const instantLayout = "2006-01-02T15:04:05.000Z"

// checkStatus looks whether a header's status is one that its legs allow.
func (g *group) checkStatus(d Divergence, add func(Divergence)) {
	h := g.header
	if !h.Status.Known() || g.versioned() && h.Status != Completed && h.Status != Reversed {
		d.Kind, d.Want, d.Got = StatusWrong, "completed or reversed", orNothing(string(h.Status))
		add(d)
	}
	if (h.Type == Reversal) != (h.ReversalOf != "") && g.versioned() {
		d.Kind, d.Want, d.Got = NotLinked, "a reversal that names its original",
			"type "+string(h.Type)+", reversal of "+orNothing(string(h.ReversalOf))
		add(d)
	}
}

// checkLinks compares a reversal with its original, from both sides.
func (c *tableCheck) checkLinks(g *group, d Divergence, add func(Divergence)) error {
	h := g.header
	d.Kind = NotLinked
	// Other programs may know reversed transactions without a link.
	if h.ReversedBy != "" || h.Status == Reversed && g.versioned() {
		other, err := c.look.header(c.ctx, h.ReversedBy)
		if err != nil {
			return err
		}
		if h.Status != Reversed || other == nil || other.ReversalOf != h.ID {
			d.Want = "status reversed, and a reversal of it"
			d.Got = "status " + string(h.Status) + ", reversed by " +
				orNothing(string(h.ReversedBy)) + foundText(h.ReversedBy, other)
			add(d)
		}
	}
	if h.ReversalOf != "" {
		other, err := c.look.header(c.ctx, h.ReversalOf)
		if err != nil {
			return err
		}
		if other == nil || other.Status != Reversed || other.ReversedBy != h.ID {
			d.Want = "an original that is reversed by it"
			d.Got = "reversal of " + string(h.ReversalOf) + foundText(h.ReversalOf, other)
			add(d)
		}
	}
	return nil
}

func foundText(id TransactionID, other *transactionItem) string {
	switch {
	case id == "":
		return ""
	case other == nil:
		return ", which is not there"
	}
	return fmt.Sprintf(", which is %s, reversal of %s, reversed by %s", other.Status,
		orNothing(string(other.ReversalOf)), orNothing(string(other.ReversedBy)))
}

// checkListed compares an entry of the directory with its account.
func (c *tableCheck) checkListed(a *stored, add func(Divergence)) error {
	d := named(&a.AuditItem)
	state, err := c.look.account(c.ctx, d.AccountID)
	if err != nil || state.exists {
		return err
	}
	d.Kind, d.Want, d.Got = AccountMissing, "an account", "nothing"
	add(d)
	return nil
}

// checkAccount compares an account with its entry in the directory, and looks whether its state is
// one that an account can have.
func (c *tableCheck) checkAccount(a *stored, add func(Divergence)) error {
	item, _, err := c.design.accounts.FromAudit(&a.AuditItem)
	if err != nil {
		return err
	}
	d := named(&a.AuditItem)
	entry, err := c.look.listed(c.ctx, d.AccountID)
	if err != nil {
		return err
	}
	switch {
	case entry == nil && a.Has("CreatedAt"):
		// Other programs open accounts without an entry, and without the time.
		d := d
		d.Kind, d.Want, d.Got = AccountUnlisted, "an entry in the directory", "nothing"
		add(d)
	case entry != nil && !entry.CreatedAt.Equal(item.CreatedAt):
		d := d
		d.Kind, d.Want = TimeWrong, "CreatedAt "+instantText(entry.CreatedAt)
		d.Got = "CreatedAt " + instantText(item.CreatedAt)
		add(d)
	}
	account := accountOf(item)
	if want, got := account.wrongState(); want != "" {
		d.Kind, d.Want, d.Got = AccountWrong, want, got
		add(d)
	}
	return nil
}

// wrongState returns what is wrong with an account in itself: what it should be and what it is.
func (a *Account) wrongState() (want, got string) {
	switch a.Status {
	case AccountActive, AccountFrozen:
	case AccountClosed:
		if !a.Balance.IsZero() {
			return "a balance of zero, because it is closed", a.Balance.String()
		}
	default:
		return "Status active, frozen or closed", "Status " + orNothing(string(a.Status))
	}
	if a.OverdraftLimit.Sign() < 0 {
		return "an OverdraftLimit that is not negative", a.OverdraftLimit.String()
	}
	if _, err := time.LoadLocation(a.Zone); err != nil {
		return "a known Zone", "Zone " + a.Zone
	}
	if !a.System() {
		return "", ""
	}
	currency, _ := a.ID.systemCurrency()
	switch {
	case !a.Unlimited:
		return "OverdraftUnlimited, because it is the ledger's own", "a limit"
	case a.AccountType != SystemAccountType:
		return "AccountType " + SystemAccountType, "AccountType " + orNothing(a.AccountType)
	case a.Status != AccountActive:
		return "Status active, because it is the ledger's own", "Status " + string(a.Status)
	case a.UserID != "":
		return "no UserID, because it is the ledger's own", "UserID " + string(a.UserID)
	case currency != a.Currency():
		return "Currency " + string(currency), "Currency " + orNothing(string(a.Currency()))
	}
	return "", ""
}

// knownAccounts remembers the accounts that exist, and their currencies. Neither ever changes.
type knownAccounts struct {
	mu   sync.Mutex
	seen map[AccountID]money.Currency
}

// knownMax bounds the accounts that are remembered, about 5 MB.
const knownMax = 50_000

func (k *knownAccounts) get(id AccountID) (money.Currency, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	currency, ok := k.seen[id]
	return currency, ok
}

func (k *knownAccounts) put(id AccountID, currency money.Currency) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil || len(k.seen) >= knownMax {
		k.seen = map[AccountID]money.Currency{}
	}
	k.seen[id] = currency
}
