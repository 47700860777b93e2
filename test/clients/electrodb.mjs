// ElectroDB: entities over generic indexes, collections, transactions.
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Entity, Service } from "electrodb";
import { assert, connection, table } from "./check.mjs";

const client = new DynamoDBClient(connection);
const TableName = "electrodb";
await client.send(new CreateTableCommand(table(TableName, ["pk", "sk"], ["gsi1", "gsi1pk", "gsi1sk"])));

function entity(name, attributes, sort) {
  return new Entity({
    model: { entity: name, version: "1", service: "shop" },
    attributes: { customer: { type: "string", required: true }, ...attributes },
    indexes: {
      own: { pk: { field: "pk", composite: ["customer"] }, sk: { field: "sk", composite: [sort] } },
      all: {
        index: "gsi1", collection: "everything",
        pk: { field: "gsi1pk", composite: ["customer"] }, sk: { field: "gsi1sk", composite: [sort] },
      },
    },
  }, { client, table: TableName });
}

const orders = entity("order", {
  orderId: { type: "string", required: true }, total: { type: "number" }, lines: { type: "list", items: { type: "string" } },
  state: { type: ["open", "paid"], default: "open" },
}, "orderId");
const notes = entity("note", { noteId: { type: "string", required: true }, text: { type: "string" } }, "noteId");
const shop = new Service({ orders, notes }, { client, table: TableName });

for (let i = 0; i < 30; i++) {
  await orders.create({ customer: "ada", orderId: String(i).padStart(2, "0"), total: i + 0.5, lines: [] }).go();
}
await assert.rejects(orders.create({ customer: "ada", orderId: "00" }).go(), /conditional request failed/i);
await notes.put([{ customer: "ada", noteId: "n1", text: "hello" }, { customer: "bob", noteId: "n2" }]).go();

const one = await orders.get({ customer: "ada", orderId: "07" }).go();
assert.equal(one.data.total, 7.5);
const patched = await orders.patch({ customer: "ada", orderId: "07" })
  .set({ state: "paid" }).add({ total: 1 }).append({ lines: ["x"] }).where(({ state }, { eq }) => eq(state, "open"))
  .go({ response: "all_new" });
assert.deepEqual([patched.data.state, patched.data.total, patched.data.lines], ["paid", 8.5, ["x"]]);

let cursor = null, seen = [];
do {
  const page = await orders.query.own({ customer: "ada" }).gte({ orderId: "10" }).go({ cursor, limit: 6 });
  seen.push(...page.data.map((o) => o.orderId));
  cursor = page.cursor;
} while (cursor);
assert.equal(seen.length, 20);
assert.deepEqual(seen, [...seen].sort());

const filtered = await orders.query.own({ customer: "ada" }).where(({ total }, { between }) => between(total, 3, 6)).go();
assert.equal(filtered.data.length, 3);
const all = await shop.collections.everything({ customer: "ada" }).go({ pages: "all" });
assert.deepEqual([all.data.orders.length, all.data.notes.length], [30, 1]);

const moved = await shop.transaction.write(({ orders, notes }) => [
  orders.remove({ customer: "ada", orderId: "00" }).commit(),
  notes.patch({ customer: "bob", noteId: "n2" }).set({ text: "moved" }).commit(),
]).go();
assert.equal(moved.canceled, false);
const refused = await shop.transaction.write(({ orders, notes }) => [
  orders.create({ customer: "ada", orderId: "01" }).commit(),
  notes.remove({ customer: "bob", noteId: "n2" }).commit(),
]).go();
assert.equal(refused.canceled, true);
assert.equal((await notes.get({ customer: "bob", noteId: "n2" }).go()).data.text, "moved");
await client.send(new DeleteTableCommand({ TableName }));
