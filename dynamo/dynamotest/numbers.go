package dynamotest

import (
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func numbers() []behaviour {
	nines := strings.Repeat("9", 38)
	kept := []struct{ given, kept string }{
		{"0", "0"}, {"-0", "0"}, {"000", "0"}, {"+7", "7"}, {"007.500", "7.5"}, {".5", "0.5"},
		{"1e2", "100"}, {"1.5E-3", "0.0015"}, {"-1e0", "-1"},
		{nines, nines}, {"-" + nines, "-" + nines},
		{"0." + nines, "0." + nines},
		{"12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678"},
		{"1e125", "1" + strings.Repeat("0", 125)},
		{"1e-130", "0." + strings.Repeat("0", 129) + "1"},
	}
	var all []behaviour
	for _, c := range kept {
		all = append(all, behaviour{"kept: " + short(c.given), func(k *kit) {
			k.put(k.item("a", vals{"x": num(c.given), "s": dynamo.NS(c.given)}))
			got := k.read(k.key("a"))
			if got["x"].N() != c.kept || len(got["s"].NS()) != 1 || got["s"].NS()[0] != c.kept {
				k.Errorf("got %v, want %s", got, c.kept)
			}
		}})
	}
	for _, text := range []string{
		"", " ", "one", "1 000", "1,5", "0x1", "1e", "NaN", "Infinity", "1" + nines, "1e126",
		"1e-131", "--1",
	} {
		all = append(all, behaviour{"refused: " + short(text), func(k *kit) {
			_, err := k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.item("a", vals{"x": num(text)}),
			})
			k.refused(err, dynamo.CodeValidation, "")
			k.same(k.read(k.key("a")), nil)
		}})
	}
	return append(all, sums()...)
}

// short returns a name for a number.
func short(number string) string {
	if number == "" {
		return "nothing"
	}
	if len(number) > 20 {
		return number[:17] + "..."
	}
	return strings.ReplaceAll(number, " ", "_")
}

func sums() []behaviour {
	nines := strings.Repeat("9", 38)
	var all []behaviour
	for _, c := range []struct{ name, a, b, sum string }{
		{"a tenth and two", "0.1", "0.2", "0.3"},
		{"of all digits", "12345678901234567890", "0.123456789012345678",
			"12345678901234567890.123456789012345678"},
		{"that is nothing", "5.00", "-5", "0"},
		{"that is too long", "1e50", "1", ""},
		{"that is too large", "9e125", "9e125", ""},
		{"that carries", nines, "1", "1" + strings.Repeat("0", 38)},
	} {
		all = append(all, behaviour{"sum " + c.name, func(k *kit) {
			k.put(k.item("a", vals{"x": num(c.a)}))
			in := &dynamo.UpdateInput{
				TableName: k.main, Key: k.key("a"), UpdateExpression: "SET x = x + :b",
			}
			in.ExpressionAttributeValues = vals{":b": num(c.b)}
			_, err := k.Update(k.ctx, in)
			if c.sum == "" {
				k.refused(err, dynamo.CodeValidation, "")
				return
			}
			k.must(err)
			if got := k.read(k.key("a"))["x"].N(); got != c.sum {
				k.Errorf("got %s, want %s", got, c.sum)
			}
		}})
	}
	return all
}
