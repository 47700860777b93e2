package bulk

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/when"
)

// A row without a key is identified by its content and by its occurrence: of two equal rows the
// first ends with ".1" and the second with ".2". The content is what the row asks for, with
// everything spelled out, and not the bytes of the file. So a file may be saved again by another
// program, in another format, with its rows sorted or with more rows, and each row stays the same.

// identityPrefix begins the key of a row that has none of its own. It names the version of the
// identity: a key is stored with what the row made, so a version is never changed.
const identityPrefix = "row1-"

// identityBytes is how many bytes of the hash a key has.
const identityBytes = 16

// occurrences counts equal rows. The zero value is ready for use.
type occurrences struct {
	seen map[[identityBytes]byte]int
}

// key returns the key of a row that has none of its own.
func (o *occurrences) key(r Row) string {
	sum := [identityBytes]byte(r.content())
	if o.seen == nil {
		o.seen = make(map[[identityBytes]byte]int)
	}
	o.seen[sum]++
	return identityPrefix + hex.EncodeToString(sum[:]) + "." + strconv.Itoa(o.seen[sum])
}

// content returns a hash of the request of a row. Columns that are kept as metadata are part of the
// import, not of the hash, so that a row with other metadata is a conflict and no money is moved
// twice.
func (r Row) content() []byte {
	var text []byte
	add := func(part string) {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	if r.Posting.Legs == nil {
		p := &r.Payment
		for _, part := range [...]string{
			"payment", string(p.AccountID), string(p.PayeeID), string(p.MerchantID),
			p.Amount.Decimal(), string(p.Amount.Currency()),
			dueText(p.Due), p.Description,
			string(p.Data),
		} {
			add(part)
		}
	} else {
		p := &r.Posting
		add("posting")
		add(string(p.Type))
		add(string(p.MerchantID))
		add(p.Description)
		for _, name := range slices.Sorted(maps.Keys(p.Metadata)) {
			if !slices.Contains(r.kept, name) {
				add("metadata")
				add(name)
				add(p.Metadata[name])
			}
		}
		for _, l := range p.Legs {
			add("leg")
			add(string(shortID(l)))
			add(string(l.Type))
			add(l.Amount.Decimal())
			add(string(l.Amount.Currency()))
		}
	}
	sum := sha256.Sum256(text)
	return sum[:identityBytes]
}

// shortID returns the account of a leg, one of the ledger's own without its currency: that is the
// one of the leg, whether the file names it or not.
func shortID(l client.PostingLeg) client.AccountID {
	if !strings.HasPrefix(string(l.AccountID), "@") {
		return l.AccountID
	}
	return client.AccountID(strings.TrimSuffix(string(l.AccountID),
		"-"+string(l.Amount.Currency())))
}

// dueText returns the time of a payment as the identity of its row has it: an instant is the same
// in any zone, and a local time of the payer is as the row has it.
func dueText(due string) string {
	t, err := when.Parse(due)
	if err != nil || t.Local() {
		return due
	}
	return t.In(time.UTC).UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
}
