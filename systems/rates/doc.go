// Package rates keeps exchange rates: those of now, which stop being fresh, and those of each day,
// which stay. It converts amounts exactly and always shows the rates that its answers rest on.
//
// # Words
//
// A rate is how many units of a target currency one unit of a base costs. Its Timestamp, or as
// of, is when it was so. It is fresh until the time that Save was given has passed; then it is
// stale for the board's StaleFor and 48 hours more, and then gone. A quote is the answer to a
// question: a stored rate, or one derived from its legs, which are stored or fixed. A fixed rate is
// that of a currency which the euro has replaced.
//
// # Promises
//
// A rate that is no longer fresh is never served as a fresh one. The store removes an expired item
// up to two days late; the state of a rate is therefore worked out from the clock at each answer,
// and a stale one is served only where it is marked as stale, with its date and its age. What is
// 48 hours past the stale time is not served at all, though it may still be there.
//
// An older Timestamp never replaces a newer one, even when saved concurrently. A rate that is not
// more than zero is never saved; one of an unknown code, far ahead of the clock, or far away from
// the one before it only by force.
//
// Nothing is rounded on the way: inverse and cross rates are quotients of the stored ones, and an
// amount is rounded once, at the end, half up unless the caller wants otherwise. Going round a
// circle of rates comes out at exactly 1. The one exception is the law's: between two national
// units of the euro the euro amount is rounded to three decimals.
//
// A currency to itself is exactly 1, also when the tables are empty.
//
// The rate of a day is that of the day or, on weekends and holidays, of the last day before it that
// has one, at most 14 days back, and comes with its own date. A day in the future is an error.
//
// # Access patterns
//
//	question                     index              partition             sort
//	rate of a pair               table              RATE#<base>#<target>
//	rates of a base              BaseCurrencyIndex  <base>
//	all rates                    scan
//	rate on a day or before      history            RATE#<base>#<target>  DATE#<day>
//	rates of a pair day by day   history            RATE#<base>#<target>  DATE#<day>
//
// The table is ExchangeRates; the history, where days are part of the key, is a table of its own,
// ExchangeRateHistory.
//
// Attributes that the seed of this design does not have: freshUntil, when a rate stops being fresh,
// where StaleFor is more than zero, and source, where one is given. Timestamp, ttl and freshUntil
// are Numbers of seconds.
//
// # Life of a rate
//
//	          Save             ttl of Save passes        StaleFor passes, and 48 hours
//	(nothing) ────▶ fresh ──────────────────────▶ stale ──────────────────────────────▶ gone
//	                  ▲     MarkStale                │                                   │
//	                  └──────────── Save ◀───────────┴───────────────────────────────────┘
//
// The 48 hours are those that the store may take to remove the item. When it does so earlier, the
// rate is not found.
//
// # Where rates come from
//
// Package feed reads what the European Central Bank and others publish; [Board.Load] takes it in.
// Nothing in here speaks to the network: [Options].Refresh is how a server plugs in what does.
//
// # Limits
//
// A rate has at most 17 significant digits. A quote needs at most two stored rates, through one of
// the board's pivots. Rates that lie more than seven days apart are not combined.
package rates
