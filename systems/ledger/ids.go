package ledger

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Name spaces of the ids that are derived by name (UUID version 5), so that equal names of
// different things are different ids.
var (
	transactionSpace = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a11")
	reversalSpace    = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a12")
	accountSpace     = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a13")
	merchantSpace    = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a14")
	ownerSpace       = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a15")
	requestSpace     = uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a16")
)

// Owner names a part of the product that posts under keys which it derives itself. The ids of its
// transactions are derived in a space of its own, so that the key of a caller never reaches them,
// not even if both keys are the same text.
type Owner string

const (
	// OwnerCaller is the space of the keys that callers choose.
	OwnerCaller Owner = ""
	// OwnerPayments is the space of scheduled payments, whose keys are the ids of the payments.
	OwnerPayments Owner = "payments"
	// ownerRandom is the space of postings without a key, which get a random one.
	ownerRandom Owner = "random"
)

// owners are those that have a space of their own.
var owners = [...]Owner{OwnerPayments, ownerRandom}

// transactionID returns the id of the transaction that a key of an owner makes. No owner has the
// zero byte that ends its name.
func (o Owner) transactionID(tenant, key string) TransactionID {
	if o == OwnerCaller {
		return TransactionID(derive(transactionSpace, tenant, key))
	}
	return TransactionID(derive(ownerSpace, tenant, string(o)+"\x00"+key))
}

// owned reports whether a transaction is the one that an owner other than the callers made with a
// key.
func owned(id TransactionID, tenant, key string) bool {
	return slices.ContainsFunc(owners[:], func(o Owner) bool {
		return id == o.transactionID(tenant, key)
	})
}

// derive returns the id of a name within a tenant. The tenant cannot hold the zero byte that ends
// it.
func derive(space uuid.UUID, tenant, name string) string {
	var buf [256]byte // Enough for most names; longer ones move to the heap.
	text := append(buf[:0], space[:]...)
	text = append(text, tenant...)
	text = append(text, 0)
	text = append(text, name...)
	sum := sha1.Sum(text)
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 5<<4
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// legID returns the id of the leg that raises its account to a version: a UUID of version 8 (RFC
// 9562) that begins with the account version in 48 bits, so that ids of one account sort in posting
// order, then has the place among the transaction's legs in 12 bits, and 62 bits of the mark of the
// attempt that wrote it.
func legID(version uint64, place int, mark uint64) LegID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], version<<16)
	binary.BigEndian.PutUint16(id[6:8], 8<<12|uint16(place)&0xfff)
	binary.BigEndian.PutUint64(id[8:], mark)
	id[8] = id[8]&0x3f | 0x80
	return LegID(id.String())
}

// requestDigests are the versions of the digest by which a repeated request is recognised. Version
// b covers what a covers. A transaction in the space of callers that has version a may be one that
// an earlier release posted for a payment; see [With].
var requestDigests = singletable.Digests[*Posting]{
	{Version: digestShared, Of: digestA},
	{Version: "b", Of: digestA},
}

// digestShared is the version of the digest from when payments shared the space of callers.
const digestShared = "a"

// accountDigests are the versions of the digest by which a repeated request for an account is
// recognised, regardless of later changes of the account.
var accountDigests = singletable.Digests[*NewAccount]{{Version: "a", Of: accountDigestA}}

// accountMembers are the members of version a, in its order.
var accountMembers = [...]string{
	"userId", "accountType", "currency", "zone", "locationId", "unlimited", "overdraftLimit",
}

// accountDigestA covers the members of a request. Limits are compared by value: 7 and
// 7.00 are the same request.
func accountDigestA(n *NewAccount) (digest, beyond string) {
	return singletable.MemberDigest([]byte(n.UserID), []byte(n.AccountType), []byte(n.Currency),
		[]byte(n.Zone), []byte(n.LocationID), strconv.AppendBool(nil, n.Unlimited),
		[]byte(n.OverdraftLimit.Units().String())), ""
}

// requestID returns the id of the record of a request that creates an item of an entity with a key.
// No entity has the zero byte that ends its name.
func requestID(tenant, entity, key string) string {
	return derive(requestSpace, tenant, entity+"\x00"+key)
}

// digestA is a hash of what the client sent, and nothing else, so that an honest repeat is always
// equal. Amounts are compared by value: 5.5 and 5.50 are the same request.
func digestA(p *Posting) (digest, beyond string) {
	var space [512]byte // Enough for most requests; longer ones move to the heap.
	text := appendText(space[:0], string(p.Type))
	text = appendText(text, string(p.Currency))
	text = appendText(text, string(p.MerchantID))
	text = appendText(text, p.Description)
	text = appendMetadata(text, p.Metadata)
	for i := range p.Legs {
		l := &p.Legs[i]
		text = appendText(text, string(l.AccountID))
		text = appendText(text, string(l.Type))
		text = appendText(text, string(l.Amount.Currency()))
		text = appendText(text, l.Amount.Decimal())
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:]), ""
}

// appendText writes the length before the text, so that no two lists of texts are the same.
func appendText(dst []byte, text string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(text)))
	return append(dst, text...)
}

func appendMetadata(dst []byte, metadata map[string]string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(metadata)))
	var few [8]string
	names := slices.AppendSeq(few[:0], maps.Keys(metadata))
	slices.Sort(names)
	for _, name := range names {
		dst = appendText(dst, name)
		dst = appendText(dst, metadata[name])
	}
	return dst
}
