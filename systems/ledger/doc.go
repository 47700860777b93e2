// Package ledger keeps double-entry books in one table.
package ledger
