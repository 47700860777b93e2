package wire

import (
	"github.com/exchequer-dev/exchequer/dynamo"
)

// expression reads an expression. An empty one becomes a blank, which a store refuses as an empty
// expression in the right order of its checks; an empty text would mean that there is no
// expression.
func (r *reader) expression() string {
	text := r.string()
	if text == "" && r.err == nil {
		return " "
	}
	return text
}

// names reads the placeholders of attribute names.
func (r *reader) names() map[string]string {
	m := make(map[string]string)
	for r.object(); r.member(); {
		name := textOf(r.name)
		m[name] = r.string()
	}
	return m
}

// placeholder reads a member that the expressions of a call share. It reports false for other
// members.
func (r *reader) placeholder(e *dynamo.Expressions) bool {
	switch string(r.name) {
	case "ExpressionAttributeNames":
		e.ExpressionAttributeNames = r.names()
	case "ExpressionAttributeValues":
		e.ExpressionAttributeValues = r.item()
	default:
		return false
	}
	return true
}

// capacityLevel reads which consumed capacity the response contains.
func (r *reader) capacityLevel() dynamo.ReturnConsumedCapacity {
	return dynamo.ReturnConsumedCapacity(r.string())
}

func (r *reader) returnValues() dynamo.ReturnValues { return dynamo.ReturnValues(r.string()) }

func (r *reader) metricsLevel() dynamo.ReturnItemCollectionMetrics {
	return dynamo.ReturnItemCollectionMetrics(r.string())
}

// attributes writes the member "Attributes" unless there are none.
func (w *writer) attributes(item dynamo.Item) {
	if item != nil {
		w.key("Attributes")
		w.item(item)
	}
}

// capacity writes the member "ConsumedCapacity" of a call on one table.
func (w *writer) capacity(c *dynamo.ConsumedCapacity) {
	if c != nil {
		w.key("ConsumedCapacity")
		w.consumed(c)
	}
}

// capacities writes the member "ConsumedCapacity" of a call on several tables.
func (w *writer) capacities(all []dynamo.ConsumedCapacity) {
	if all == nil {
		return
	}
	w.key("ConsumedCapacity")
	w.open('[')
	for i := range all {
		w.consumed(&all[i])
	}
	w.close(']')
}

// consumed writes the consumed capacity of a table. The entries of the table and its indexes are
// optional.
func (w *writer) consumed(c *dynamo.ConsumedCapacity) {
	w.open('{')
	w.key("TableName")
	w.string(c.TableName)
	w.units(&c.Capacity)
	if c.Table != nil {
		w.key("Table")
		w.open('{')
		w.units(c.Table)
		w.close('}')
	}
	w.indexUnits("GlobalSecondaryIndexes", c.GlobalSecondaryIndexes)
	w.indexUnits("LocalSecondaryIndexes", c.LocalSecondaryIndexes)
	w.close('}')
}

// units writes the capacity members. It omits the read and write units if they are zero.
func (w *writer) units(c *dynamo.Capacity) {
	w.key("CapacityUnits")
	w.float(c.CapacityUnits)
	if c.ReadCapacityUnits != 0 {
		w.key("ReadCapacityUnits")
		w.float(c.ReadCapacityUnits)
	}
	if c.WriteCapacityUnits != 0 {
		w.key("WriteCapacityUnits")
		w.float(c.WriteCapacityUnits)
	}
}

func (w *writer) indexUnits(key string, of map[string]dynamo.Capacity) {
	if len(of) == 0 {
		return
	}
	w.key(key)
	w.open('{')
	for name, c := range of {
		w.name(name)
		w.open('{')
		w.units(&c)
		w.close('}')
	}
	w.close('}')
}

// metrics writes the member "ItemCollectionMetrics" of a call on one item.
func (w *writer) metrics(m *dynamo.ItemCollectionMetrics) {
	if m != nil {
		w.key("ItemCollectionMetrics")
		w.collection(m)
	}
}

// tableMetrics writes the member "ItemCollectionMetrics" of a call on several tables.
func (w *writer) tableMetrics(of map[string][]dynamo.ItemCollectionMetrics) {
	if of == nil {
		return
	}
	w.key("ItemCollectionMetrics")
	w.open('{')
	for table, all := range of {
		w.name(table)
		w.open('[')
		for i := range all {
			w.collection(&all[i])
		}
		w.close(']')
	}
	w.close('}')
}

func (w *writer) collection(m *dynamo.ItemCollectionMetrics) {
	w.open('{')
	w.key("ItemCollectionKey")
	w.item(m.ItemCollectionKey)
	w.key("SizeEstimateRangeGB")
	w.open('[')
	w.float(m.SizeEstimateRangeGB[0])
	w.float(m.SizeEstimateRangeGB[1])
	w.close(']')
	w.close('}')
}
