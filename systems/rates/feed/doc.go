// Package feed reads what publishers of exchange rates send: the files of the European Central Bank
// (XML of a day, of ninety days and of all time; CSV of a day and of all time, zipped or not), and
// the JSON of Frankfurter and of Open Exchange Rates, whose form several others have copied.
//
// It is pure: bytes in, [rates.Day] out, oldest day first. The currencies are those that the data
// has; figures are taken digit by digit. What is no rates, such as an error page that came in
// their place, is [rates.ErrUnreadable] with the reason; an answer with nothing in it, with which
// some publishers report that there was no publication, is [rates.ErrNoData].
package feed
