// Package bulk posts files of payments, and schedules files of payments for later.
//
// # Words
//
// A [File] holds rows, each of which asks for one transaction, or, if it was opened by
// [OpenPayments], for one payment at a time. An import sends them, many at once, and gives each an
// [Outcome]: posted, there already, or refused with a problem.
//
// # Forms
//
// A file is either CSV (RFC 4180) with a line of column names, or JSON with one object a line; the
// first character tells which. Both are UTF-8, with or without a byte order mark, and lines may end
// as on any system. Columns come in any order, and their names in capitals or not:
//
//	key          the idempotency key; see below for rows without one
//	type         payment, transfer, deposit, withdrawal or another word; without one it is a
//	             payment when there is a merchant, and a transfer when not
//	from         the account that is debited; may be empty for a deposit
//	to           the account that is credited; may be empty for a withdrawal and with a merchant
//	amount       plain digits with a decimal point, read exactly; required
//	currency     a code of ISO 4217; required
//	merchant     the merchant's id
//	description  any text, newlines included
//
// Those of a file of payments to schedule are:
//
//	key          the idempotency key, as above; it is the account's own
//	account      the account that pays; required
//	payee        the account that is paid, or
//	merchant     the merchant that is
//	amount       as above; required
//	currency     as above; required
//	at           when it is due: an instant such as 2026-01-31T09:00:00Z, or a day or a local time
//	             of the account that pays, such as 2026-01-31 or 2026-01-31T09:00; required
//	description  any text
//	data         the caller's own, in base64
//
// Other columns are not used, and [File.Unused] names them, unless the caller asks to keep them:
// then they become metadata of the transaction; a payment to schedule has none. They are not kept
// unasked because metadata is a part of the request: the same row with another time of export would
// be a conflict, not a repeat. CSV may be separated by semicolons or tabs too: the header tells.
// JSON may have amounts as strings or as numbers, an object metadata, and in the place of from, to
// and amount an array legs of objects with account, type (debit or credit), amount and currency.
//
// A row that cannot be read is refused by itself. A file that breaks as a whole, by a quote that is
// never closed or a header that makes no sense, is refused before anything is posted.
//
// # Promises
//
// Importing a file again, after any kind of end, posts no row twice: a row is known by its key, and
// a row without a key by its content and its occurrence among equal rows. So a row is the same row
// however the file is saved: with other line ends, separators or quotes, with its columns or rows
// in another order, or with an amount that is spelled in another way. A row whose content is
// corrected is another row. A row that was refused before is tried again.
//
// What is refused is what would be refused if the rows were posted one by one in file order. Rows
// overtake each other only where that cannot be told from the outcome: rows that raise the balance
// of an account run side by side, and a row that lowers it waits for all rows on that account
// before it and holds up all after it. The ledger's own accounts have no limits, so nothing waits
// for them.
//
// Memory does not grow with the number of rows.
package bulk
