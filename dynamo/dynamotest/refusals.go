package dynamotest

import (
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// refusals are invalid requests with the code and message of the service.
func refusals() []behaviour {
	get := func(key dynamo.Key, text string) func(*kit) {
		return func(k *kit) {
			_, err := k.Store.Get(k.ctx, &dynamo.GetInput{TableName: k.main, Key: key})
			k.refused(err, dynamo.CodeValidation, text)
		}
	}
	put := func(it func(k *kit) dynamo.Item, text string) func(*kit) {
		return func(k *kit) {
			_, err := k.Put(k.ctx, &dynamo.PutInput{TableName: k.main, Item: it(k)})
			k.refused(err, dynamo.CodeValidation, text)
		}
	}
	conditioned := func(condition string, names map[string]string, values vals,
		text string,
	) func(*kit) {
		return func(k *kit) {
			in := &dynamo.PutInput{
				TableName: k.main, Item: k.key("a"), ConditionExpression: condition,
			}
			in.ExpressionAttributeNames, in.ExpressionAttributeValues = names, values
			_, err := k.Put(k.ctx, in)
			k.refused(err, dynamo.CodeValidation, text)
		}
	}
	query := func(condition string, values vals, text string) func(*kit) {
		return func(k *kit) {
			in := &dynamo.QueryInput{TableName: k.main, KeyConditionExpression: condition}
			in.ExpressionAttributeValues = values
			_, err := k.Query(k.ctx, in)
			k.refused(err, dynamo.CodeValidation, text)
		}
	}
	const badKey = "The provided key element does not match the schema"
	return []behaviour{
		{"half a key", get(dynamo.Key{"pk": str("x")}, badKey)},
		{"more than a key", get(dynamo.Key{"pk": str("x"), "sk": str("y"), "z": str("z")}, badKey)},
		{"a key of another type", get(dynamo.Key{"pk": str("x"), "sk": num("1")}, badKey)},
		{"an empty key", put(func(k *kit) dynamo.Item {
			return dynamo.Item{"pk": str(""), "sk": str("x")}
		}, "One or more parameter values are not valid. The AttributeValue for a key attribute "+
			"cannot contain an empty string value. Key: pk")},
		{"an item without its key", put(func(k *kit) dynamo.Item {
			return dynamo.Item{"pk": str("x")}
		}, "One or more parameter values were invalid: Missing the key sk in the item")},
		{"a key that is too long", put(func(k *kit) dynamo.Item {
			return dynamo.Item{"pk": str(strings.Repeat("x", 2049)), "sk": str("x")}
		}, "")},
		{"an empty set", put(func(k *kit) dynamo.Item {
			return k.item("a", vals{"s": dynamo.SS()})
		}, "")},
		{"a set with an element twice", put(func(k *kit) dynamo.Item {
			return k.item("a", vals{"s": dynamo.NS("1", "1.0")})
		}, "")},
		{"an unknown name", conditioned("attribute_exists(#x)", nil, nil, "Invalid "+
			"ConditionExpression: An expression attribute name used in the document path is not "+
			"defined; attribute name: #x")},
		{"an unknown value", conditioned("x = :x", nil, nil, "Invalid ConditionExpression: An "+
			"expression attribute value used in expression is not defined; attribute value: :x")},
		{"a name that is not used", conditioned("attribute_exists(x)",
			map[string]string{"#y": "y"}, nil, "Value provided in ExpressionAttributeNames unused "+
				"in expressions: keys: {#y}")},
		{"a value that is not used", conditioned("attribute_exists(x)", nil,
			vals{":y": num("1")}, "Value provided in ExpressionAttributeValues unused in "+
				"expressions: keys: {:y}")},
		{"a reserved word", conditioned("attribute_exists(size)", nil, nil, "Invalid "+
			"ConditionExpression: Attribute name is a reserved keyword; reserved keyword: size")},
		{"no expression at all", conditioned("x =", nil, nil, "")},
		{"a partition that is no equality", query("pk > :p", vals{":p": str("x")},
			"Query key condition not supported")},
		{"a query without its partition", query("sk = :s", vals{":s": str("x")},
			"Query condition missed key schema element: pk")},
		{"a query of what is no key", query("pk = :p AND x = :x",
			vals{":p": str("x"), ":x": str("x")}, "Query condition missed key schema element: sk")},
		{"a missing index", func(k *kit) {
			in := k.inGroup("nothing")
			_, err := k.Query(k.ctx, &in)
			k.refused(err, dynamo.CodeValidation,
				"The table does not have the specified index: nothing")
		}},
	}
}
