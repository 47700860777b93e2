package statements

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"
)

// Transaction ids are "txn-202601-" and 26 characters: the month in which the bank booked it leads
// to the entry, and with it to wherever the transaction is.
const (
	idPrefix    = "txn-"
	idHashBytes = 16
	// monthNone is the month of entries whose id has none: those of other programs.
	monthNone = "-"
)

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").
	WithPadding(base32.NoPadding)

// rowID returns the id of a row that a file has, from what the row is known by. The same row of the
// same account always has the same id.
func rowID(account string, date Date, key string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + key))
	return idOf(date, sum[:idHashBytes])
}

// randomID returns the id of a transaction that a person types in.
func randomID(date Date) string {
	var random [idHashBytes]byte
	_, _ = rand.Read(random[:]) // It never fails, by its documentation.
	return idOf(date, random[:])
}

func idOf(date Date, hash []byte) string {
	return idPrefix + string(date[:4]) + string(date[5:7]) + "-" + idEncoding.EncodeToString(hash)
}

// keyHash shortens a key of bankfile to what entries remember.
func keyHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return idEncoding.EncodeToString(sum[:idHashBytes])
}

// monthOfID returns the month under which the entry of a transaction is.
func monthOfID(id string) string {
	rest, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(rest) < 7 || rest[6] != '-' {
		return monthNone
	}
	month := rest[:4] + "-" + rest[4:6]
	if _, err := time.Parse("2006-01", month); err != nil {
		return monthNone
	}
	return month
}

// monthOf returns the month of a day, "2026-01".
func monthOf(d Date) string { return string(d[:min(7, len(d))]) }

// validDate reports whether a text is a calendar day.
func validDate(d Date) bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil && len(d) == len(time.DateOnly)
}

// newToken returns a token for one attempt to write. The store remembers tokens for all of its
// tables, so they are random with any maker of ids.
func newToken() string { return rand.Text() }
