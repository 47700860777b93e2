// Package journal writes bank transactions in the forms of other programs: CSV, JSON, and the
// journals of Beancount and hledger. It is pure: rows in, text out. Memory does not grow with the
// number of rows. [NewWriter] returns the writer of a [Format].
package journal
