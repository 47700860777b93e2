package dynamotest

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// transactMax is the maximum number of actions in a transaction.
const transactMax = 100

func (k *kit) putAction(sort string, attributes vals) dynamo.TransactWriteItem {
	return dynamo.TransactWriteItem{Put: &dynamo.PutInput{
		TableName: k.main, Item: k.item(sort, attributes),
	}}
}

func (k *kit) checkAction(sort, condition string) dynamo.TransactWriteItem {
	return dynamo.TransactWriteItem{ConditionCheck: &dynamo.ConditionCheck{
		TableName: k.main, Key: k.key(sort), ConditionExpression: condition,
	}}
}

func (k *kit) updateAction(sort, expression string, values vals) dynamo.TransactWriteItem {
	in := &dynamo.UpdateInput{
		TableName: k.main, Key: k.key(sort), UpdateExpression: expression,
	}
	in.ExpressionAttributeValues = values
	return dynamo.TransactWriteItem{Update: in}
}

func (k *kit) transact(actions ...dynamo.TransactWriteItem) error {
	_, err := k.TransactWrite(k.ctx, &dynamo.TransactWriteInput{Items: actions})
	return err
}

func transactions() []behaviour {
	return []behaviour{
		{"every kind of action, all at once", func(k *kit) {
			k.put(k.item("counted", vals{"x": num("1")}), k.key("gone"), k.key("checked"))
			k.must(k.transact(
				k.putAction("new", vals{"x": num("1")}),
				k.updateAction("counted", "ADD x :x", vals{":x": num("2")}),
				dynamo.TransactWriteItem{Delete: &dynamo.DeleteInput{
					TableName: k.main, Key: k.key("gone"),
				}},
				k.checkAction("checked", "attribute_exists(pk)"),
			))
			k.same(k.read(k.key("new")), k.item("new", vals{"x": num("1")}))
			k.same(k.read(k.key("counted")), k.item("counted", vals{"x": num("3")}))
			k.same(k.read(k.key("gone")), nil)
		}},
		{"one condition that fails stops all, and each action has its reason", cancelled},
		{"reads are of one moment, in their order", func(k *kit) {
			k.put(k.item("a", vals{"x": num("1"), "y": num("2")}), k.key("c"))
			out, err := k.TransactGet(k.ctx, &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{
					{TableName: k.main, Key: k.key("c")},
					{TableName: k.main, Key: k.key("b")},
					{TableName: k.main, Key: k.key("a"), ProjectionExpression: "x"},
				},
			})
			k.must(err)
			if len(out.Items) != 3 {
				k.Fatalf("got %v", out.Items)
			}
			k.same(out.Items[0], k.key("c"))
			k.same(out.Items[1], nil)
			k.same(out.Items[2], dynamo.Item{"x": num("1")})
		}},
		{"as many actions as may be", func(k *kit) {
			var actions []dynamo.TransactWriteItem
			for i := range transactMax {
				actions = append(actions, k.putAction(fmt.Sprint(i), nil))
			}
			k.must(k.transact(actions...))
			k.refused(k.transact(append(actions, k.putAction("more", nil))...),
				dynamo.CodeValidation, "")
			if got := k.everyPage(k.inPartition("", nil)); len(got) != transactMax {
				k.Errorf("%d items were written", len(got))
			}
		}},
		{"one item twice is refused", func(k *kit) {
			k.refused(k.transact(k.putAction("a", nil), k.checkAction("a", "attribute_exists(pk)")),
				dynamo.CodeValidation,
				"Transaction request cannot include multiple operations on one item")
		}},
		{"an action with nothing or two things in it is refused", func(k *kit) {
			two := k.putAction("a", nil)
			two.Delete = &dynamo.DeleteInput{TableName: k.main, Key: k.key("b")}
			k.refused(k.transact(two), dynamo.CodeValidation, "")
			k.refused(k.transact(dynamo.TransactWriteItem{}), dynamo.CodeValidation, "")
			k.same(k.read(k.key("a")), nil)
		}},
		{"an update that cannot be done cancels", func(k *kit) {
			k.put(k.item("text", vals{"x": str("x")}))
			err := k.transact(
				k.putAction("new", nil), k.updateAction("text", "ADD x :x", vals{":x": num("1")}),
			)
			k.refused(err, dynamo.CodeTransactionCanceled, "")
			k.reasons(err, dynamo.ReasonNone, dynamo.ReasonValidation)
			k.same(k.read(k.key("new")), nil)
		}},
		{"a missing table refuses all", func(k *kit) {
			elsewhere := k.putAction("b", nil)
			elsewhere.Put.TableName = k.prefix + "-none"
			k.refused(k.transact(k.putAction("a", nil), elsewhere),
				dynamo.CodeResourceNotFound, "")
			k.same(k.read(k.key("a")), nil)
		}},
	}
}

func cancelled(k *kit) {
	found := k.item("there", vals{"x": num("1")})
	k.put(found)
	asked := k.checkAction("there", "attribute_not_exists(pk)")
	asked.ConditionCheck.ReturnValuesOnConditionCheckFailure = dynamo.ReturnAllOld
	failing := k.putAction("there2", nil)
	failing.Put.ConditionExpression = "attribute_exists(pk)"
	err := k.transact(k.putAction("new", nil), asked, k.updateAction("other", "REMOVE x", nil),
		failing)
	k.refused(err, dynamo.CodeTransactionCanceled,
		"Transaction cancelled, please refer cancellation reasons for specific reasons "+
			"[None, ConditionalCheckFailed, None, ConditionalCheckFailed]")
	reasons := k.reasons(err, dynamo.ReasonNone, dynamo.ReasonConditionalCheckFailed,
		dynamo.ReasonNone, dynamo.ReasonConditionalCheckFailed)
	if k.Failed() {
		return
	}
	k.same(reasons[0].Item, nil)
	k.same(reasons[1].Item, found)
	k.same(reasons[3].Item, nil)
	if k.exact && reasons[1].Message != conditionFailed {
		k.Errorf("the reason is %q", reasons[1].Message)
	}
	k.same(k.read(k.key("new")), nil)
}

// reasons checks the codes of a cancellation by position.
func (k *kit) reasons(err error, want ...dynamo.CancellationCode) []dynamo.CancellationReason {
	k.Helper()
	got := dynamo.Reasons(err)
	if len(got) != len(want) {
		k.Errorf("got the reasons %v, want %v", got, want)
		return got
	}
	for i, code := range want {
		if got[i].Code != code {
			k.Errorf("reason %d is %v, want %s", i, got[i], code)
		}
	}
	return got
}

func tokens() []behaviour {
	count := func(k *kit, token string, n int) (*dynamo.TransactWriteOutput, error) {
		return k.TransactWrite(k.ctx, &dynamo.TransactWriteInput{
			ClientRequestToken: token, ReturnConsumedCapacity: dynamo.CapacityTotal,
			Items: []dynamo.TransactWriteItem{
				k.updateAction("a", "ADD x :x", vals{":x": dynamo.Int(int64(n))}),
			},
		})
	}
	return []behaviour{
		{"a token does its transaction once", func(k *kit) {
			token := k.prefix[len(k.prefix)-8:] + "-once"
			for range 3 {
				_, err := count(k, token, 2)
				k.must(err)
			}
			k.same(k.read(k.key("a")), k.item("a", vals{"x": num("2")}))
		}},
		{"a token of another transaction is refused", func(k *kit) {
			token := k.prefix[len(k.prefix)-8:] + "-other"
			_, err := count(k, token, 2)
			k.must(err)
			_, err = count(k, token, 3)
			k.refused(err, dynamo.CodeIdempotentMismatch, "")
			k.same(k.read(k.key("a")), k.item("a", vals{"x": num("2")}))
		}},
		{"a token of a transaction that was cancelled may be used again", func(k *kit) {
			token := k.prefix[len(k.prefix)-8:] + "-again"
			in := &dynamo.TransactWriteInput{
				ClientRequestToken: token,
				Items: []dynamo.TransactWriteItem{
					k.putAction("b", nil), k.checkAction("a", "attribute_exists(pk)"),
				},
			}
			_, err := k.TransactWrite(k.ctx, in)
			k.refused(err, dynamo.CodeTransactionCanceled, "")
			k.put(k.key("a"))
			_, err = k.TransactWrite(k.ctx, in)
			k.must(err)
			k.same(k.read(k.key("b")), k.key("b"))
		}},
		{"no token is no promise", func(k *kit) {
			for range 2 {
				_, err := count(k, "", 2)
				k.must(err)
			}
			k.same(k.read(k.key("a")), k.item("a", vals{"x": num("4")}))
		}},
		{"a token has at most 36 characters", func(k *kit) {
			_, err := count(k, strings.Repeat("t", 37), 1)
			k.refused(err, dynamo.CodeValidation, "")
		}},
	}
}
