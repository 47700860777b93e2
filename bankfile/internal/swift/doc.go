// Package swift reads the fields of MT940 and MT942 messages: tags, amounts, balances, the line of
// an entry (:61:), and the texts that follow it (:86:) in the forms of different banks.
//
// It reads one field at a time and keeps nothing. The order of the fields in a message, and of the
// messages in a file, is in package bankfile.
package swift
