// The AWS SDK for JavaScript v3, both its clients.
import {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient, GetCommand, PutCommand,
  QueryCommand, TransactWriteCommand, UpdateCommand, paginateQuery, paginateScan,
} from "@aws-sdk/lib-dynamodb";
import { assert, connection, table } from "./check.mjs";

const TableName = "sdk-js";
const client = new DynamoDBClient(connection);
const db = DynamoDBDocumentClient.from(client);

await client.send(new CreateTableCommand(table(TableName, ["pk", "sk"], ["byName", "name", "sk"])));
await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.1 }, { TableName });

const item = {
  pk: "user#1", sk: "profile", name: "Ada", balance: 12.5, tags: new Set(["a", "b"]),
  address: { city: "Zürich", lines: ["1", "2"] }, photo: new Uint8Array([0, 255]), nothing: null,
  active: true,
};
await db.send(new PutCommand({ TableName, Item: item }));
const got = await db.send(new GetCommand({ TableName, Key: { pk: "user#1", sk: "profile" } }));
assert.deepEqual(got.Item, item);

const updated = await db.send(new UpdateCommand({
  TableName, Key: { pk: "user#1", sk: "profile" }, ReturnValues: "ALL_NEW",
  UpdateExpression: "SET balance = balance + :n, address.#c = :c REMOVE nothing ADD tags :t",
  ExpressionAttributeNames: { "#c": "city" },
  ExpressionAttributeValues: { ":n": 0.25, ":c": "Bern", ":t": new Set(["c"]) },
}));
assert.equal(updated.Attributes.balance, 12.75);
assert.deepEqual(updated.Attributes.tags, new Set(["a", "b", "c"]));

await assert.rejects(
  db.send(new PutCommand({ TableName, Item: item, ConditionExpression: "attribute_not_exists(pk)" })),
  { name: "ConditionalCheckFailedException" });

for (let i = 0; i < 100; i += 25) {
  const puts = Array.from({ length: 25 }, (_, n) => ({
    PutRequest: { Item: { pk: "page", sk: String(i + n).padStart(3, "0"), name: "row" } },
  }));
  const out = await db.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  assert.deepEqual(out.UnprocessedItems ?? {}, {});
}
const keys = ["001", "077"].map((sk) => ({ pk: "page", sk }));
const batch = await db.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys } } }));
assert.equal(batch.Responses[TableName].length, 2);

const seen = [];
for await (const page of paginateQuery({ client: db, pageSize: 7 }, {
  TableName, IndexName: "byName", KeyConditionExpression: "#n = :n AND sk >= :from",
  ExpressionAttributeNames: { "#n": "name" }, ExpressionAttributeValues: { ":n": "row", ":from": "050" },
})) seen.push(...page.Items.map((i) => i.sk));
assert.deepEqual(seen, Array.from({ length: 50 }, (_, n) => String(n + 50).padStart(3, "0")));

let scanned = 0;
for await (const page of paginateScan({ client: db, pageSize: 9 }, { TableName })) scanned += page.Count;
assert.equal(scanned, 101);

const Put = { TableName, Item: { pk: "user#2", sk: "profile" }, ConditionExpression: "attribute_not_exists(pk)" };
const Update = {
  TableName, Key: { pk: "user#1", sk: "profile" }, UpdateExpression: "SET balance = balance - :n",
  ConditionExpression: "balance >= :n", ExpressionAttributeValues: { ":n": 5 },
};
await db.send(new TransactWriteCommand({ TransactItems: [{ Put }, { Update }] }));
await assert.rejects(db.send(new TransactWriteCommand({ TransactItems: [{ Update }, { Put }] })),
  (e) => e.name === "TransactionCanceledException" &&
    e.CancellationReasons.map((r) => r.Code).join() === "None,ConditionalCheckFailed");
const newest = await db.send(new QueryCommand({
  TableName, KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "page" },
  ScanIndexForward: false, Limit: 1, ReturnConsumedCapacity: "TOTAL",
}));
assert.equal(newest.Items[0].sk, "099");
assert.equal(newest.ConsumedCapacity.CapacityUnits, 0.5);
await client.send(new DeleteTableCommand({ TableName }));
