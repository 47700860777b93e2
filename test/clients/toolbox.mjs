// dynamodb-toolbox v2: one command object for each action.
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import {
  $add, $append, BatchWriteCommand, BatchPutRequest, Entity, GetItemCommand, PutItemCommand, PutTransaction, QueryCommand,
  Table, UpdateItemCommand, UpdateTransaction, executeBatchWrite, executeTransactWrite, item, list, map, number, string,
} from "dynamodb-toolbox";
import { assert, connection, table } from "./check.mjs";

const client = new DynamoDBClient(connection);
const name = "toolbox";
await client.send(new CreateTableCommand(table(name, ["pk", "sk"], ["byKind", "kind", "sk"])));
const store = new Table({
  name, partitionKey: { name: "pk", type: "string" }, sortKey: { name: "sk", type: "string" },
  indexes: { byKind: { type: "global", partitionKey: { name: "kind", type: "string" }, sortKey: { name: "sk", type: "string" } } },
  documentClient: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
});
const Pet = new Entity({
  name: "Pet", table: store,
  schema: item({
    owner: string().key().savedAs("pk"), pet: string().key().savedAs("sk"), kind: string(),
    age: number().default(0), visits: list(map({ on: string() })).default([]),
  }),
});
for (let i = 0; i < 8; i++) {
  await Pet.build(PutItemCommand).item({ owner: "ada", pet: `p${i}`, kind: i % 2 ? "cat" : "dog", age: i }).send();
}
await assert.rejects(Pet.build(PutItemCommand).item({ owner: "ada", pet: "p1", kind: "cat" })
  .options({ condition: { attr: "owner", exists: false } }).send(), { name: "ConditionalCheckFailedException" });
const { Item } = await Pet.build(GetItemCommand).key({ owner: "ada", pet: "p3" }).options({ consistent: true }).send();
assert.deepEqual([Item.kind, Item.age, Item.visits], ["cat", 3, []]);
const { Attributes } = await Pet.build(UpdateItemCommand)
  .item({ owner: "ada", pet: "p3", age: $add(1), visits: $append([{ on: "2026-01-02" }]) })
  .options({ returnValues: "ALL_NEW" }).send();
assert.deepEqual([Attributes.age, Attributes.visits], [4, [{ on: "2026-01-02" }]]);
let exclusiveStartKey, seen = [];
do {
  const page = await store.build(QueryCommand).entities(Pet)
    .query({ index: "byKind", partition: "cat" })
    .options({ limit: 1, exclusiveStartKey }).send();
  seen.push(...page.Items.map((p) => p.pet));
  exclusiveStartKey = page.LastEvaluatedKey;
} while (exclusiveStartKey);
assert.deepEqual(seen, ["p1", "p3", "p5", "p7"]);
await executeTransactWrite(
  Pet.build(PutTransaction).item({ owner: "bob", pet: "q", kind: "cow" }),
  Pet.build(UpdateTransaction).item({ owner: "ada", pet: "p0", age: 9 }));
await assert.rejects(executeTransactWrite(
  Pet.build(UpdateTransaction).item({ owner: "ada", pet: "p0", age: 1 }),
  Pet.build(PutTransaction).item({ owner: "bob", pet: "q", kind: "cow" }).options({ condition: { attr: "owner", exists: false } })),
{ name: "TransactionCanceledException" });
await executeBatchWrite(store.build(BatchWriteCommand).requests(Pet.build(BatchPutRequest).item({ owner: "eve", pet: "r", kind: "eel" })));
assert.equal((await Pet.build(GetItemCommand).key({ owner: "eve", pet: "r" }).send()).Item.kind, "eel");
await client.send(new DeleteTableCommand({ TableName: name }));
