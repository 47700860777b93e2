package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Requests on tables in sessions. Keys are written as name:type, several of a part joined by "+".
//
//	table T pk:S sk:N            gsi NAME HASH [SORT] PROJECTION, lsi NAME SORT PROJECTION,
//	                             define x:S, without x, schema pk HASH x RANGE, billing,
//	                             provisioned 5 6, protected
//	index T NAME HASH [SORT] PROJECTION    define, without, provisioned
//	dropindex T NAME
//	change T                     billing, provisioned, protected true
//	describe T, size T, drop T, tables [start] (limit)
//	ttl T attribute on|off, showttl T, expire, clock +SECONDS
//
// PROJECTION is ALL, KEYS_ONLY or INCLUDE a,b.

func (s *session) manage(r *request) (string, error) {
	args := strings.Fields(r.args)
	switch r.verb {
	case "table":
		_, err := s.db.CreateTable(s.ctx, s.createTable(r, args))
		return "ok", err
	case "index":
		return s.addIndex(r, args)
	case "dropindex":
		_, err := s.db.UpdateTable(s.ctx, &dynamo.UpdateTableInput{
			TableName:                   args[0],
			GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{Delete: args[1]}},
		})
		return "ok", err
	case "change":
		return s.changeTable(r, args)
	case "describe":
		d, err := s.db.DescribeTable(s.ctx, r.args)
		return answer(err, func() string { return renderTable(d) })
	case "size":
		d, err := s.db.DescribeTable(s.ctx, r.args)
		return answer(err, func() string {
			return fmt.Sprintf("%d items, %d bytes", d.ItemCount, d.TableSizeBytes)
		})
	case "drop":
		d, err := s.db.DeleteTable(s.ctx, r.args)
		return answer(err, func() string {
			return fmt.Sprintf("%s %s, %d keys, %d attributes, %d indexes", d.TableName,
				d.TableStatus, len(d.KeySchema), len(d.AttributeDefinitions),
				len(d.GlobalSecondaryIndexes)+len(d.LocalSecondaryIndexes))
		})
	case "tables":
		out, err := s.db.ListTables(s.ctx, &dynamo.ListTablesInput{
			ExclusiveStartTableName: r.args, Limit: s.number(r, "limit"),
		})
		return answer(err, func() string {
			return fmt.Sprintf("%s, last %q", out.TableNames, out.LastEvaluatedTableName)
		})
	case "ttl":
		err := s.db.UpdateTimeToLive(s.ctx, &dynamo.UpdateTimeToLiveInput{
			TableName: args[0], AttributeName: expand(strings.Trim(args[1], `"`)),
			Enabled: args[2] == "on",
		})
		s.settle(args[0])
		return "ok", err
	case "showttl":
		d, err := s.db.DescribeTimeToLive(s.ctx, r.args)
		return answer(err, func() string {
			return fmt.Sprint(d.TimeToLiveStatus, " ", d.AttributeName)
		})
	case "expire":
		n, err := s.db.ExpireNow(s.ctx)
		return fmt.Sprint(n, " expired"), err
	case "clock":
		seconds, err := strconv.Atoi(strings.TrimPrefix(r.args, "+"))
		s.now = s.now.Add(time.Duration(seconds) * time.Second)
		return "ok", err
	}
	s.t.Fatalf("no request %s", r.verb)
	return "", nil
}

func (s *session) createTable(r *request, args []string) *dynamo.CreateTableInput {
	in := &dynamo.CreateTableInput{
		TableName:   expand(strings.Trim(args[0], `"`)),
		BillingMode: dynamo.BillingPayPerRequest, DeletionProtectionEnabled: r.has("protected"),
	}
	define := func(text string) []string {
		var out []string
		for _, part := range strings.Split(text, "+") {
			name, kind, _ := strings.Cut(part, ":")
			name = expand(name)
			out = append(out, name)
			in.AttributeDefinitions = define(in.AttributeDefinitions, name, kind)
		}
		return out
	}
	schema := func(parts []string) (keys []dynamo.KeySchemaElement) {
		for i, part := range parts {
			kind := dynamo.KeyTypeHash
			if i > 0 {
				kind = dynamo.KeyTypeRange
			}
			for _, name := range define(part) {
				keys = append(keys, dynamo.KeySchemaElement{AttributeName: name, KeyType: kind})
			}
		}
		return keys
	}
	in.KeySchema = schema(args[1:])
	for _, o := range r.options {
		words := strings.Fields(o.value)
		switch o.name {
		case "gsi":
			keys, projection := keysAndProjection(words[1:])
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
				dynamo.GlobalSecondaryIndex{
					IndexName: words[0], KeySchema: schema(keys), Projection: projection,
				})
		case "lsi":
			keys, projection := keysAndProjection(words[1:])
			if !r.has("otherhash") {
				keys = append([]string{args[1]}, keys...)
			}
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes,
				dynamo.LocalSecondaryIndex{
					IndexName: words[0], KeySchema: schema(keys), Projection: projection,
				})
		case "define":
			define(o.value)
		case "twice":
			name, kind, _ := strings.Cut(o.value, ":")
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				dynamo.AttributeDefinition{AttributeName: name, AttributeType: kindOf(kind)})
		case "schema":
			in.KeySchema = rawSchema(words)
		case "gsischema":
			in.GlobalSecondaryIndexes[len(in.GlobalSecondaryIndexes)-1].KeySchema =
				rawSchema(words)
		}
	}
	for _, o := range r.options {
		switch o.name {
		case "without":
			in.AttributeDefinitions = slices.DeleteFunc(in.AttributeDefinitions,
				func(a dynamo.AttributeDefinition) bool { return a.AttributeName == o.value })
		case "billing":
			in.BillingMode = dynamo.BillingMode(strings.Trim(o.value, `"`))
		case "provisioned":
			in.ProvisionedThroughput = throughput(o.value)
		}
	}
	return in
}

func rawSchema(words []string) (keys []dynamo.KeySchemaElement) {
	for i := 0; i+1 < len(words); i += 2 {
		keys = append(keys, dynamo.KeySchemaElement{
			AttributeName: expand(words[i]), KeyType: dynamo.KeyType(words[i+1]),
		})
	}
	return keys
}

// expand turns x*256 into a name of 256 letters x.
func expand(name string) string {
	unit, times, ok := strings.Cut(name, "*")
	n, err := strconv.Atoi(times)
	if !ok || err != nil {
		return name
	}
	return strings.Repeat(unit, n)
}

func define(have []dynamo.AttributeDefinition, name, kind string) []dynamo.AttributeDefinition {
	for _, a := range have {
		if a.AttributeName == name {
			return have
		}
	}
	return append(have, dynamo.AttributeDefinition{
		AttributeName: name, AttributeType: kindOf(kind),
	})
}

func kindOf(text string) dynamo.Kind { return dynamo.KindOf(text) }

func throughput(text string) *dynamo.ProvisionedThroughput {
	var t dynamo.ProvisionedThroughput
	_, _ = fmt.Sscan(text, &t.ReadCapacityUnits, &t.WriteCapacityUnits)
	return &t
}

func keysAndProjection(words []string) (keys []string, p dynamo.Projection) {
	i := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, ":") })
	if i < 0 {
		return words, p
	}
	keys, p.ProjectionType = words[:i], dynamo.ProjectionType(words[i])
	if len(words) > i+1 {
		for _, name := range strings.Split(words[i+1], ",") {
			p.NonKeyAttributes = append(p.NonKeyAttributes, expand(name))
		}
	}
	return keys, p
}

// addIndex adds an index and waits until it is filled.
func (s *session) addIndex(r *request, args []string) (string, error) {
	asTable := request{options: r.options}
	asTable.options = append([]option{{"gsi", strings.Join(args[1:], " ")}}, r.options...)
	made := s.createTable(&asTable, []string{args[0]})
	gsi := made.GlobalSecondaryIndexes[0]
	if r.has("provisioned") {
		gsi.ProvisionedThroughput = made.ProvisionedThroughput
	}
	d, err := s.db.UpdateTable(s.ctx, &dynamo.UpdateTableInput{
		TableName: args[0], AttributeDefinitions: made.AttributeDefinitions,
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{Create: &gsi}},
	})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(d.GlobalSecondaryIndexes,
		func(g dynamo.GlobalSecondaryIndexDescription) bool { return g.IndexName == args[1] })
	text := fmt.Sprintf("%s, table %s", d.GlobalSecondaryIndexes[i].IndexStatus, d.TableStatus)
	s.settle(args[0])
	return text, nil
}

// settle waits until nothing is left to fill in a table. Work in the background takes the
// database's own locks, so asking again and again does not starve it.
func (s *session) settle(table string) {
	waitUntil(s.t, func() bool {
		d, err := s.db.DescribeTable(s.ctx, table)
		return errors.Is(err, dynamo.ErrResourceNotFound) ||
			err == nil && d.TableStatus == dynamo.StatusActive && s.db.Settled(table)
	})
}

func (s *session) changeTable(r *request, args []string) (string, error) {
	in := &dynamo.UpdateTableInput{TableName: args[0]}
	if r.has("billing") {
		in.BillingMode = dynamo.BillingMode(r.option("billing"))
	}
	if r.has("provisioned") {
		in.ProvisionedThroughput = throughput(r.option("provisioned"))
	}
	if r.has("protected") {
		protected := r.option("protected") == "true"
		in.DeletionProtectionEnabled = &protected
	}
	if r.has("dropindex") {
		for _, name := range strings.Fields(r.option("dropindex")) {
			in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates,
				dynamo.GlobalSecondaryIndexUpdate{Delete: name})
		}
	}
	if r.has("nothing") {
		in.GlobalSecondaryIndexUpdates = []dynamo.GlobalSecondaryIndexUpdate{{}}
	}
	_, err := s.db.UpdateTable(s.ctx, in)
	return "ok", err
}

func renderTable(d *dynamo.TableDescription) string {
	var b strings.Builder
	keys := func(schema []dynamo.KeySchemaElement) string {
		return renderEach(schema, func(e dynamo.KeySchemaElement) string {
			return e.AttributeName + " " + string(e.KeyType)
		}, ", ")
	}
	fmt.Fprintf(&b, "%s %s, %d items, %d bytes\n", d.TableName, d.TableStatus, d.ItemCount,
		d.TableSizeBytes)
	fmt.Fprintf(&b, "arn %s\ncreated %d\n", d.TableArn, d.CreationDateTime.Unix())
	fmt.Fprintf(&b, "billing %s %d %d", d.BillingMode, d.ProvisionedThroughput.ReadCapacityUnits,
		d.ProvisionedThroughput.WriteCapacityUnits)
	if d.DeletionProtectionEnabled {
		b.WriteString(", protected")
	}
	fmt.Fprintf(&b, "\nkey %s\nattributes %s\n", keys(d.KeySchema), renderEach(
		d.AttributeDefinitions, func(a dynamo.AttributeDefinition) string {
			return a.AttributeName + ":" + a.AttributeType.String()
		}, " "))
	for _, g := range d.GlobalSecondaryIndexes {
		fmt.Fprintf(&b, "gsi %s %s (%s) %s %v\n", g.IndexName, g.IndexStatus, keys(g.KeySchema),
			g.Projection.ProjectionType, g.Projection.NonKeyAttributes)
	}
	for _, l := range d.LocalSecondaryIndexes {
		fmt.Fprintf(&b, "lsi %s (%s) %s %v\n", l.IndexName, keys(l.KeySchema),
			l.Projection.ProjectionType, l.Projection.NonKeyAttributes)
	}
	return b.String()
}

func renderError(err error) string {
	text := shorten(err.Error())
	var e *dynamo.Error
	if !errors.As(err, &e) {
		return "error: " + text
	}
	if e.Item != nil {
		text += "\nitem " + renderItem(e.Item)
	}
	if len(e.Reasons) > manyReasons {
		return text
	}
	for _, reason := range e.Reasons {
		text += "\n- " + string(reason.Code)
		if reason.Message != "" {
			text += ": " + reason.Message
		}
		if reason.Item != nil {
			text += "\n  item " + renderItem(reason.Item)
		}
	}
	return text
}

const manyReasons = 10

// shorten shows a run of one letter by its length.
func shorten(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		for i+n < len(text) && text[i+n] == text[i] {
			n++
		}
		if n > 8 {
			fmt.Fprintf(&b, "%c*%d", text[i], n)
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

func renderConsumption(all []dynamo.ConsumedCapacity) string {
	return renderEach(all, func(c dynamo.ConsumedCapacity) string {
		return renderConsumed(&c)
	}, "")
}

func renderConsumed(c *dynamo.ConsumedCapacity) string {
	if c == nil {
		return ""
	}
	text := "units " + c.TableName + " " + renderUnits(c.Capacity)
	if c.Table != nil {
		text += ": table " + renderUnits(*c.Table)
	}
	for _, part := range []struct {
		word  string
		lines map[string]dynamo.Capacity
	}{{"gsi", c.GlobalSecondaryIndexes}, {"lsi", c.LocalSecondaryIndexes}} {
		for _, name := range slices.Sorted(maps.Keys(part.lines)) {
			text += ", " + part.word + " " + name + " " + renderUnits(part.lines[name])
		}
	}
	return text + "\n"
}

// renderMetrics writes the sizes of item collections.
func renderMetrics(all ...dynamo.ItemCollectionMetrics) string {
	return renderEach(all, func(m dynamo.ItemCollectionMetrics) string {
		return fmt.Sprintf("collection %s %v GB\n", renderItem(m.ItemCollectionKey),
			m.SizeEstimateRangeGB)
	}, "")
}

func renderUnits(c dynamo.Capacity) string {
	text := fmt.Sprint(c.CapacityUnits)
	if c.ReadCapacityUnits != 0 {
		text += fmt.Sprintf(" (read %v)", c.ReadCapacityUnits)
	}
	if c.WriteCapacityUnits != 0 {
		text += fmt.Sprintf(" (write %v)", c.WriteCapacityUnits)
	}
	return text
}
