package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// StatementDays is how many days before To a statement begins if From is empty.
const StatementDays = 30

// StatementQuery asks for the legs of an account over calendar days of its zone, both included. An
// empty To is the day of now in that zone; an empty From is StatementDays before To. The answer has
// the days, which the questions for the next pages must give.
type StatementQuery struct {
	AccountID AccountID
	From, To  Date
	PageQuery
}

// Statement is a page of an account's legs, newest first, each with the balance after it.
type Statement struct {
	Account  Account
	From, To Date
	// Opening is the balance before the first leg of the days, Closing that after the last one,
	// as of the first page. Both are the same on every page.
	Opening, Closing money.Amount
	Legs             []Leg
	// Next is the cursor of the next page; empty on the last.
	Next string
}

// Statement returns a page of an account's statement. Legs that are posted while a reader turns
// the pages neither repeat nor hide a row: they are on none of the pages. Each page is read from an
// index, which may lag; a leg that is missing between others is waited for, and if it does not come
// the error is ErrStatementIncomplete. A new account has no rows, and balances of zero.
func (l *Ledger) Statement(ctx context.Context, q StatementQuery) (Statement, error) {
	// What is wrong with the request comes before what is wrong with the account.
	if err := q.checkDays(l.opts.Zone); err != nil {
		return Statement{}, err
	}
	size, err := q.size()
	if err != nil {
		return Statement{}, err
	}
	account, err := l.Account(ctx, q.AccountID)
	if err != nil {
		return Statement{}, err
	}
	q.setDays(account, instant(l.opts.Now()).In(l.Zone(account)))
	from, until, err := days(q.From, q.To, l.Zone(account))
	if err != nil {
		return Statement{}, err
	}
	s := Statement{Account: account, From: q.From, To: q.To}
	in := ByStatement{AccountID: q.AccountID, From: &from, To: &until}
	if q.Cursor == "" {
		return s, l.untilWhole(ctx, func() error { return l.firstPage(ctx, &s, in, size) })
	}
	balances, cursor, ok := cutCursor(q.Cursor)
	if !ok {
		return Statement{}, ErrInvalidCursor.New()
	}
	pins, err := s.setBalances(balances)
	if err != nil {
		return Statement{}, ErrInvalidCursor.Wrap(err)
	}
	in.Balances = balances
	err = l.untilWhole(ctx, func() error {
		_, err := l.statementPage(ctx, &s, in, pins, size, cursor)
		return err
	})
	if err != nil {
		return Statement{}, err
	}
	s.endAt(pins.newest)
	return s, nil
}

// pins are the versions of legs that a statement knows from one page to the next. A leg between
// them that is on no page is missing from the index.
type pins struct {
	newest uint64 // the statement's first row
	floor  uint64 // the newest leg before the statement's days, or unknown: 0 if there is none
	last   uint64 // the last row so far: 0 before the first page and after a leg without a version
}

// unknown is the version of a leg that another program posted, and of one that was not looked for.
const unknown = math.MaxUint64

// untilWhole reads again while legs are missing, because the index may lag.
func (l *Ledger) untilWhole(ctx context.Context, read func() error) error {
	for attempt := 1; ; attempt++ {
		err := read()
		if !errors.Is(err, ErrStatementIncomplete) || attempt == 2*lagAttempts {
			return err
		}
		if err := l.pause(ctx, lagWait, err); err != nil {
			return err
		}
	}
}

// missing returns the version of a leg that is on no page though others around it are, or 0. The
// rows are those of the page after the row last, newest first.
func (p *pins) missing(rows []legItem, end bool) uint64 {
	for i := range rows {
		version := rows[i].AccountVersion
		if p.last > 0 && version > 0 && version < p.last-1 {
			return p.last - 1
		}
		p.last = version
	}
	if end && p.last > 0 && p.floor != unknown && p.last-1 > p.floor {
		return p.last - 1
	}
	return 0
}

// pinAttempts bounds how often the first page is read again because a leg came in between.
const pinAttempts = 3

// firstPage fixes the two balances and the newest row for all pages, and reads the first of them.
// What is fixed is an input of the pattern, so that the signature of its cursors covers it;
// therefore it must be known before the page is read.
func (l *Ledger) firstPage(ctx context.Context, s *Statement, in ByStatement, size int) error {
	opening, floor, err := l.balanceBefore(ctx, &s.Account, *in.From)
	if err != nil {
		return err
	}
	newest, exists, err := modelOf(l).legsOfAccount.First(ctx, l.store,
		ByAccount{in.AccountID, in.From, in.To})
	if err != nil {
		return failed("read statement of", in.AccountID, err)
	}
	if exists && newest.AccountVersion == 0 {
		return l.foreignPage(ctx, s, in, size)
	}
	for attempt := 1; ; attempt++ {
		closing := opening
		if newest.AccountVersion > 0 {
			closing = legOf(newest).BalanceAfter
		}
		s.Opening, s.Closing = opening, closing
		known := pins{newest: newest.AccountVersion, floor: floor}
		in.Balances = s.balances(known)
		top, err := l.statementPage(ctx, s, in, known, size, "")
		if err != nil || top.AccountVersion == newest.AccountVersion {
			return err
		}
		if top.AccountVersion < newest.AccountVersion {
			return incomplete(in.AccountID, newest.AccountVersion)
		}
		if attempt == pinAttempts {
			// On an account as busy as this the pages are shorter instead.
			s.endAt(newest.AccountVersion)
			return nil
		}
		newest = top
	}
}

func incomplete(id AccountID, version uint64) error {
	return ErrStatementIncomplete.With("account", id).With("version", version)
}

// endAt leaves out the rows that came after the newest of the statement. There may be more of them
// than one page holds.
func (s *Statement) endAt(version uint64) {
	s.Legs = slices.DeleteFunc(s.Legs, func(leg Leg) bool { return leg.AccountVersion > version })
}

// statementPage reads a page of rows and returns the first of them.
func (l *Ledger) statementPage(ctx context.Context, s *Statement, in ByStatement, known pins,
	size int, cursor string,
) (top legItem, err error) {
	rows, err := modelOf(l).statement.Page(ctx, l.store, in, size, cursor)
	if err != nil {
		return top, pageFailed(err)
	}
	s.Legs = make([]Leg, len(rows.Items))
	for i, item := range rows.Items {
		if s.Legs[i], err = l.completeLeg(ctx, item); err != nil {
			return top, err
		}
	}
	if len(rows.Unreadable) > 0 {
		// Its balances would not follow from its rows.
		return top, failed("read statement of", in.AccountID, rows.Unreadable[0])
	}
	if version := known.missing(rows.Items, rows.Next == ""); version > 0 {
		return top, incomplete(in.AccountID, version)
	}
	if s.Next = ""; rows.Next != "" {
		after := in
		after.Balances = s.balances(known)
		next, err := modelOf(l).statement.Rebind(l.store, in, rows.Next, after)
		if err != nil {
			return top, failed("read statement of", in.AccountID, err)
		}
		s.Next = after.Balances + balanceSeparator + next
	}
	if len(rows.Items) > 0 {
		top = rows.Items[0]
	}
	return top, nil
}

// balanceBefore returns the balance of an account before an instant, and the version of the last
// leg before it.
func (l *Ledger) balanceBefore(
	ctx context.Context, a *Account, at time.Time,
) (balance money.Amount, version uint64, err error) {
	last, exists, err := modelOf(l).legsOfAccount.First(ctx, l.store,
		ByAccount{AccountID: a.ID, To: &at})
	if err != nil {
		return money.Amount{}, 0, failed("read statement of", a.ID, err)
	}
	if !exists {
		balance, err = money.New(money.Decimal{}, a.Currency())
		return balance, 0, err
	}
	if last.AccountVersion == 0 {
		balance, err = l.balanceBackTo(ctx, a, at)
		return balance, unknown, err
	}
	return legOf(last).BalanceAfter, last.AccountVersion, nil
}

// balanceBackTo works out the balance of an account before an instant from the one of now and all
// legs since, for accounts whose legs other programs posted: those have no balances of their own.
func (l *Ledger) balanceBackTo(
	ctx context.Context, a *Account, at time.Time,
) (money.Amount, error) {
	balance := a.Balance
	for item, err := range modelOf(l).legsOfAccount.All(ctx, l.store,
		ByAccount{AccountID: a.ID, From: &at}) {
		if err != nil {
			return money.Amount{}, failed("read statement of", a.ID, err)
		}
		leg, err := l.completeLeg(ctx, item)
		if err != nil {
			return money.Amount{}, err
		}
		if leg.Type == Credit {
			balance, err = balance.Sub(leg.Amount)
		} else {
			balance, err = balance.Add(leg.Amount)
		}
		if err != nil {
			return money.Amount{}, modelOf(l).legs.Unreadable(item, "Amount",
				fmt.Errorf("does not add up with the balance of its account: %w", err))
		}
	}
	return balance, nil
}

// foreignPage is the first page of a statement whose newest leg another program posted. Postings
// that come in while it is read can make its balances differ from its rows.
func (l *Ledger) foreignPage(
	ctx context.Context, s *Statement, in ByStatement, size int,
) (err error) {
	if in.From != nil {
		s.Opening, err = l.balanceBackTo(ctx, &s.Account, *in.From)
	} else {
		s.Opening, err = money.New(money.Decimal{}, s.Account.Currency())
	}
	if err != nil {
		return err
	}
	if s.Closing = s.Account.Balance; in.To != nil {
		if s.Closing, err = l.balanceBackTo(ctx, &s.Account, *in.To); err != nil {
			return err
		}
	}
	known := pins{newest: unknown, floor: unknown}
	in.Balances = s.balances(known)
	_, err = l.statementPage(ctx, s, in, known, size, "")
	return err
}

// balanceSeparator separates the parts of a cursor: the two balances, the three versions, and the
// cursor of the pattern. It needs no escape in a URL and is in none of them.
const balanceSeparator = "~"

// balances writes what is fixed for the next page.
func (s *Statement) balances(p pins) string {
	version := func(v uint64) string { return strconv.FormatUint(v, 10) }
	return strings.Join([]string{s.Opening.Decimal(), s.Closing.Decimal(), version(p.newest),
		version(p.floor), version(p.last)}, balanceSeparator)
}

// cutCursor separates the balances from the rest of a cursor.
func cutCursor(cursor string) (balances, rest string, ok bool) {
	at := strings.LastIndex(cursor, balanceSeparator)
	if at < 0 {
		return "", "", false
	}
	return cursor[:at], cursor[at+1:], true
}

// setBalances reads the balances of a cursor and returns its versions. The signature of the cursor
// covers them. Cursors had only the version of the newest row once.
func (s *Statement) setBalances(text string) (p pins, err error) {
	parts := strings.Split(text, balanceSeparator)
	if len(parts) != 3 && len(parts) != 5 {
		return p, fmt.Errorf("the cursor has %d parts", len(parts))
	}
	if s.Opening, err = money.Parse(parts[0], s.Account.Currency()); err != nil {
		return p, err
	}
	if s.Closing, err = money.Parse(parts[1], s.Account.Currency()); err != nil {
		return p, err
	}
	p.floor = unknown
	for i, to := range []*uint64{&p.newest, &p.floor, &p.last}[:len(parts)-2] {
		if *to, err = strconv.ParseUint(parts[2+i], 10, 64); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Zone returns where an account's days begin: in its own zone, or else in the ledger's. A zone that
// this machine does not know, which another one must have written, is as good as none.
func (l *Ledger) Zone(a Account) *time.Location {
	if a.Zone != "" {
		if zone, err := time.LoadLocation(a.Zone); err == nil {
			return zone
		}
	}
	return l.opts.Zone
}

// checkDays checks the days that were given.
func (q StatementQuery) checkDays(zone *time.Location) error {
	from, to := cmp.Or(q.From, q.To, "2000-01-01"), cmp.Or(q.To, q.From, "2000-01-01")
	_, _, err := days(from, to, zone)
	return err
}

// setDays fills in the days that were not given. now is in the account's zone. An account whose
// last leg is of a later day, because another server's clock is ahead, is shown until that day: the
// closing balance is then the account's.
func (q *StatementQuery) setDays(account Account, now time.Time) {
	if q.To == "" {
		if last := account.LastPostedAt.In(now.Location()); last.After(now) {
			now = last
		}
		q.To = Date(now.Format(dateLayout))
		if q.To < q.From {
			q.To = q.From // A day that is not there yet has no legs.
		}
	}
	if q.From == "" {
		last, _ := time.Parse(dateLayout, string(q.To)) // It was checked before.
		first := last.AddDate(0, 0, -StatementDays)
		if first.Year() < 1 {
			first = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		q.From = Date(first.Format(dateLayout))
	}
}

// days returns the instants [from, until) of calendar days in a zone, both included.
func days(first, last Date, zone *time.Location) (from, until time.Time, err error) {
	var wrong problem.Fields
	from, ok := first.start(zone)
	if !ok {
		wrong.Add("from", "must be a day such as 2026-01-31")
	}
	if until, ok = last.next(zone); !ok {
		wrong.Add("to", "must be a day such as 2026-01-31")
	}
	if len(wrong) == 0 && !from.Before(until) {
		wrong.Add("to", "must not be before from")
	}
	return storable(from), storable(until), wrong.Err(ErrInvalidRequest)
}
