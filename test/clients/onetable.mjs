// OneTable: value templates, unique attributes, transactions.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Dynamo } from "dynamodb-onetable/Dynamo";
import { Table } from "dynamodb-onetable";
import { assert, connection } from "./check.mjs";

const table = new Table({
  name: "onetable",
  client: new Dynamo({ client: new DynamoDBClient(connection) }),
  partial: false,
  schema: {
    format: "onetable:1.1.0", version: "0.0.1",
    indexes: { primary: { hash: "pk", sort: "sk" }, gs1: { hash: "gs1pk", sort: "gs1sk", project: "all" } },
    models: {
      User: {
        pk: { type: String, value: "account:${account}" }, sk: { type: String, value: "user:${email}" },
        account: { type: String, required: true }, email: { type: String, required: true, unique: true },
        name: { type: String }, logins: { type: Number, default: 0 }, born: { type: Date },
        gs1pk: { type: String, value: "user#" }, gs1sk: { type: String, value: "user#${name}" },
      },
    },
    params: { isoDates: true, timestamps: true },
  },
});
await table.createTable();
assert.equal(await table.exists(), true);
const users = table.getModel("User");
for (let i = 0; i < 12; i++) {
  await users.create({ account: "a", email: `u${String(i).padStart(2, "0")}@x.org`, name: `n${i}`, born: new Date(0) });
}
await assert.rejects(users.create({ account: "b", email: "u00@x.org", name: "twin" }), /unique|exists/i);
const one = await users.get({ account: "a", email: "u03@x.org" });
assert.equal(one.name, "n3");
assert.equal(one.born.getTime(), 0);
await users.update({ account: "a", email: "u03@x.org", name: "three" }, { add: { logins: 2 } });
const updated = await users.get({ account: "a", email: "u03@x.org" }, { consistent: true });
assert.deepEqual([updated.logins, updated.name], [2, "three"]);
let next, seen = 0;
do {
  const page = await users.find({ account: "a" }, { limit: 5, next });
  seen += page.length;
  next = page.next;
} while (next);
assert.equal(seen, 12);
const byName = await users.find({ gs1pk: "user#", gs1sk: { begins: "user#thr" } }, { index: "gs1" });
assert.equal(byName.length, 1);
const transaction = {};
await users.update({ account: "a", email: "u04@x.org", name: "four" }, { transaction });
await users.update({ account: "a", email: "u05@x.org", name: "five" }, { transaction });
await table.transact("write", transaction);
assert.equal((await users.get({ account: "a", email: "u05@x.org" })).name, "five");
await users.remove({ account: "a", email: "u05@x.org" });
assert.equal(await users.get({ account: "a", email: "u05@x.org" }), undefined);
await table.deleteTable("DeleteTableForever");
