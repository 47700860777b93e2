package keyspace_test

import (
	"encoding/hex"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// Keys are on the disks of users, and their order decides what a query finds.
func TestTheFormatOfKeysIsFrozen(t *testing.T) {
	h := keyspace.NewHasher(20260102)
	item := keyspace.AppendPartition(keyspace.Items(7), h, []byte("USER#ann"))
	item = append(item, "ORDER#1"...)
	global := keyspace.AppendPartition(keyspace.Index(7, 3, false), h, []byte("STATUS#open"))
	global = keyspace.AppendEnded(global, []byte("2026\x00-01"))
	global = keyspace.AppendSized(global, []byte("USER#ann"))
	local := keyspace.AppendPartition(keyspace.Index(7, 4, true), h, []byte("USER#ann"))
	frozen.Check(t, "keys",
		hexed("v1 item", item),
		hexed("v1 global index", append(global, "ORDER#1"...)),
		hexed("v1 local index", keyspace.AppendEnded(local, nil)),
		hexed("v1 expiry", keyspace.AppendExpiry(nil, 7, 1767350000, item)),
		hexed("v1 stream record", keyspace.AppendRecord(nil, 5, 2, 99)),
		hexed("v1 token", keyspace.Token("token-1")),
		hexed("v1 meta", keyspace.Meta("format")),
		frozen.Sample{Name: "v1 comparer", Value: keyspace.Comparer().Name},
	)
}

func hexed(name string, key []byte) frozen.Sample {
	return frozen.Sample{Name: name, Value: hex.EncodeToString(key)}
}
