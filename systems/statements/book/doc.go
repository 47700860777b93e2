// Package book holds the nouns of a person's statements and the rules that need no store: bank
// transactions and what is remembered of them, their texts, their ids, and their form as lines of
// JSON. Package statements has the verbs.
package book
