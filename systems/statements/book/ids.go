package book

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
	// IDPrefix begins each id.
	IDPrefix = "txn-"
	// IDHashBytes is the size of the hash in an id.
	IDHashBytes = 16
	// MonthNone is the month of entries whose id has none: those of other programs.
	MonthNone = "-"
)

// IDEncoding writes the hashes in ids and keys, without letters that are mistaken for others.
var IDEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").
	WithPadding(base32.NoPadding)

// RowID returns the id of a row that a file has, from what the row is known by. The same row of the
// same account always has the same id.
func RowID(account string, date Date, key string) string {
	sum := sha256.Sum256([]byte(account + "\x00" + key))
	return idOf(date, sum[:IDHashBytes])
}

// RandomID returns the id of a transaction that a person types in.
func RandomID(date Date) string {
	var random [IDHashBytes]byte
	_, _ = rand.Read(random[:]) // It never fails, by its documentation.
	return idOf(date, random[:])
}

func idOf(date Date, hash []byte) string {
	return IDPrefix + string(date[:4]) + string(date[5:7]) + "-" + IDEncoding.EncodeToString(hash)
}

// KeyHash shortens a key of bankfile to what entries remember.
func KeyHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return IDEncoding.EncodeToString(sum[:IDHashBytes])
}

// MonthOfID returns the month under which the entry of a transaction is.
func MonthOfID(id string) string {
	rest, ok := strings.CutPrefix(id, IDPrefix)
	if !ok || len(rest) < 7 || rest[6] != '-' {
		return MonthNone
	}
	month := rest[:4] + "-" + rest[4:6]
	if _, err := time.Parse("2006-01", month); err != nil {
		return MonthNone
	}
	return month
}

// MonthOf returns the month of a day, "2026-01".
func MonthOf(d Date) string { return string(d[:min(7, len(d))]) }

// ValidDate reports whether a text is a calendar day.
func ValidDate(d Date) bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil && len(d) == len(time.DateOnly)
}
