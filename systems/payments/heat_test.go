package payments_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

func TestAPaymentIsStoredUnderTheIDAndInTheShardThatAreForetold(t *testing.T) {
	const shards = 20
	b := openBank(t, payments.Options{Shards: shards})
	b.account("alice", "1000.00")
	b.account("bob", "")
	seen := map[int]bool{}
	for i := range 100 {
		n := order(fmt.Sprintf("key-%d", i), "1.00")
		p := b.schedule(n)
		if want := payments.IDOf(n.AccountID, n.Key); p.ID != want {
			t.Fatalf("the id is %s, want %s", p.ID, want)
		}
		sort := p.At.Format("2006-01-02T15:04:05.000Z") + "#" + string(p.ID)
		out, err := b.db.Get(t.Context(), &dynamo.GetInput{
			TableName: payments.TableNameDefault, ConsistentRead: true,
			Key: dynamo.Key{"AccountID": dynamo.S("alice"), "ScheduledTime": dynamo.S(sort)},
		})
		if err != nil {
			t.Fatal(err)
		}
		shard := payments.ShardOf(p.ID, shards)
		if got := out.Item["Sharded-GSI-PK"]; !got.Equal(dynamo.S(strconv.Itoa(shard))) {
			t.Fatalf("payment %s is in shard %v, want %d", p.ID, got, shard)
		}
		seen[shard] = true
	}
	if len(seen) < shards/2 {
		t.Errorf("a hundred payments are in %d shards of %d", len(seen), shards)
	}
}
