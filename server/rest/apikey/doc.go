// Package apikey keeps API keys: who may call the server, and what for.
//
// A key is "exq_", its id, "_" and a secret of 256 random bits. The server stores the SHA-256 of
// the secret and never the secret. A slow hash, as passwords need, would add nothing: nobody can
// try out 2^256 secrets, and there is no dictionary of them. It would only make every request slow.
// Secrets are compared in constant time.
//
// A key may be bound to a person, whose data it then reaches; without, it reaches nobody's. This is
// set when the key is made: a key that could be bound later would open more to whoever holds it by
// then than they were given.
//
// A key has scopes. It allows what its scopes name and nothing else: ledger:write does not let its
// holder read. A key is never changed: it is revoked, which takes effect with the next request, or
// expires.
//
// Keys are items of a table of their own, so that no scan or export of a system's table carries
// them along:
//
//	question      partition             sort
//	key by id     @server#apikey#<id>   METADATA
//	all keys      a scan; the table holds nothing else
package apikey
