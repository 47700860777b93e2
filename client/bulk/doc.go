// Package bulk imports files of payments: it posts them, or schedules them for later.
//
// # Words
//
// A [File] contains rows, each of which is a request for one transaction or, if it was opened by
// [OpenPayments], for one scheduled payment. An import sends them concurrently and returns an
// [Outcome] for each: posted, already there, or refused with a problem.
//
// # Forms
//
// A file is either CSV (RFC 4180) with a line of column names, or JSON with one object in each
// line. The first character decides. Both are UTF-8, with or without a byte order mark, and with
// the line ends of any system. Columns can have any order, and their names are not case sensitive:
//
//	key          the idempotency key; see below for rows without one
//	type         payment, transfer, deposit, withdrawal or another word; without one it is a
//	             payment if there is a merchant, and otherwise a transfer
//	from         the account that is debited; may be empty for a deposit
//	to           the account that is credited; may be empty for a withdrawal and with a merchant
//	amount       plain digits with a decimal point, parsed exactly; required
//	currency     an ISO 4217 code; required
//	merchant     the merchant's id
//	description  any text, newlines included
//
// The columns of a file of payments to schedule are:
//
//	key          the idempotency key, as above; it belongs to the account
//	account      the account that pays; required
//	payee        the account that is paid, or
//	merchant     the merchant that is paid
//	amount       as above; required
//	currency     as above; required
//	at           the due time: an instant such as 2026-01-31T09:00:00Z, or a day or a local time
//	             of the account that pays, such as 2026-01-31 or 2026-01-31T09:00; required
//	description  any text
//	data         data of the caller in base64
//
// Other columns are ignored, and [File.Unused] returns their names, unless the caller asks to keep
// them: then they become metadata of the transaction. A scheduled payment has none. They are not
// kept by default, because metadata is part of the request: the same row with another time of
// export would be a conflict and not a repeat. CSV may also be separated by semicolons or tabs; the
// header decides. In JSON amounts may be strings or numbers, there may be an object metadata, and
// instead of from, to and amount an array legs of objects with account, type (debit or credit),
// amount and currency.
//
// A row that cannot be parsed is refused alone. A file that is broken as a whole, for example by a
// quote that is never closed or by an invalid header, is refused before anything is posted.
//
// # Promises
//
// If a file is imported again, after any kind of end, no row is posted twice. A row is identified
// by its key, and a row without a key by its content and its occurrence among equal rows. It
// therefore stays the same row if the file is saved with other line ends, separators or quotes,
// with its columns or rows in another order, or with an amount that is written differently. A row
// with corrected content is a new row. A row that was refused is tried again.
//
// Exactly those rows are refused that would be refused if the rows were posted one by one in file
// order. Rows overtake each other only if the result is the same: rows that increase the balance of
// an account run concurrently, and a row that decreases it waits for all earlier rows of that
// account and blocks the later ones. System accounts have no limits, so no row waits for them.
//
// The memory does not depend on the number of rows.
package bulk
