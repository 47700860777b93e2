package singletable

import "strings"

// Digest is one version of the digest by which a repeated request is recognised. A digest is stored
// with what the request made, so a version is never changed and never removed: what is stored must
// be recognised by every later program. A request that grows a member gets a new version.
type Digest[R any] struct {
	// Version is the beginning of every digest of this version. The version of a stored digest is
	// the longest that it begins with. The first version of a list may be empty.
	Version string
	// Of returns the digest of a request without the version. beyond names a member that the
	// request sets and this version does not cover; it is empty if there is none.
	Of func(request R) (digest, beyond string)
}

// Digests are the versions of a digest, the oldest first. The last one is used for new requests.
type Digests[R any] []Digest[R]

// Of returns the digest of a request in the newest version, as it is stored.
func (d Digests[R]) Of(request R) string {
	newest := d[len(d)-1]
	digest, _ := newest.Of(request) // The newest version covers every member.
	return newest.Version + digest
}

// Like returns the digest of a request in the version of a stored digest, so that the two can be
// compared. beyond names a member that the request sets and that version does not cover: the stored
// request cannot have set it, so the two differ in it. ok reports whether the version is known.
func (d Digests[R]) Like(stored string, request R) (digest, beyond string, ok bool) {
	var found *Digest[R]
	for i := range d {
		if strings.HasPrefix(stored, d[i].Version) &&
			(found == nil || len(d[i].Version) > len(found.Version)) {
			found = &d[i]
		}
	}
	if found == nil || stored == "" {
		return "", "", false
	}
	digest, beyond = found.Of(request)
	return found.Version + digest, beyond, true
}
