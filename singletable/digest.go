package singletable

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Digest is one version of the digest by which a repeated request is recognised. The digest is
// stored with the result of the request, so a version must never be changed or removed: every later
// program must recognise stored digests. A request with an additional member needs a new version.
type Digest[R any] struct {
	// Version is the prefix of every digest of this version. The version of a stored digest is the
	// longest one that it begins with. The first version of a list may be empty.
	Version string
	// Of returns the digest of a request without the version. beyond names a member that the
	// request sets and this version does not cover, or is empty.
	Of func(request R) (digest, beyond string)
}

// Digests are the versions of a digest, the oldest first. The last one is used for new requests.
type Digests[R any] []Digest[R]

// Of returns the digest of a request in the newest version, as it is stored.
func (d Digests[R]) Of(request R) string {
	newest := d[len(d)-1]
	digest, _ := newest.Of(request) // the newest version covers every member
	return newest.Version + digest
}

// Like returns the digest of a request in the version of a stored digest, so that they can be
// compared. beyond names a member that the request sets and that version does not cover. The stored
// request cannot have set it, so the requests differ in it. ok reports whether the version is
// known.
func (d Digests[R]) Like(stored string, request R) (digest, beyond string, ok bool) {
	found := d.find(stored)
	if found == nil || stored == "" {
		return "", "", false
	}
	digest, beyond = found.Of(request)
	return found.Version + digest, beyond, true
}

// find returns the version of a stored digest, nil if it is not known.
func (d Digests[R]) find(stored string) *Digest[R] {
	var found *Digest[R]
	for i := range d {
		if strings.HasPrefix(stored, d[i].Version) &&
			(found == nil || len(d[i].Version) > len(found.Version)) {
			found = &d[i]
		}
	}
	return found
}

const (
	// wholeLen is how many bytes a digest of members keeps of the hash of all of them.
	wholeLen = sha256.Size / 2
	// memberLen is how many bytes it keeps of the hash of each member: enough to name the one that
	// differs, once the hash of all has shown that one does.
	memberLen = 3
)

// MemberDigest returns a digest of the members of a request, in a fixed order: a hash of all of
// them, and a short one of each, so that [Digests.Difference] can name the one that differs.
func MemberDigest(members ...[]byte) string {
	out := make([]byte, wholeLen, wholeLen+memberLen*len(members))
	whole := sha256.New()
	for _, m := range members {
		// A member may be large, and is read once: the whole is of the parts.
		part := sha256.Sum256(m)
		whole.Write(part[:])
		out = append(out, part[:memberLen]...)
	}
	copy(out[:wholeLen], whole.Sum(nil))
	return base64.RawURLEncoding.EncodeToString(out)
}

// Difference names the first member in which a request differs from the one whose digest is
// stored, or returns "" if there is none. The digests are those of [MemberDigest], and members are
// the names of what the newest version covers, in its order: a version adds its members at the end.
// Digests that cannot be read differ in "body". known is false if the version of the stored digest
// is not known, or nothing is stored.
func (d Digests[R]) Difference(
	stored string, request R, members ...string,
) (member string, known bool) {
	digest, beyond, known := d.Like(stored, request)
	switch {
	case !known:
		return "", false
	case beyond != "" || digest == stored:
		return beyond, true
	}
	version := d.find(stored).Version
	a, _ := base64.RawURLEncoding.DecodeString(stored[len(version):])
	b, _ := base64.RawURLEncoding.DecodeString(digest[len(version):])
	for i, name := range members {
		from := wholeLen + i*memberLen
		to := from + memberLen
		if to > len(a) || to > len(b) || string(a[from:to]) != string(b[from:to]) {
			return name, true
		}
	}
	return "body", true
}
