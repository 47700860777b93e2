// dynamoose: models that make and wait for their own tables.
import dynamoose from "dynamoose";
import { assert, connection } from "./check.mjs";

dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB(connection));
const schema = new dynamoose.Schema({
  owner: { type: String, hashKey: true },
  id: { type: String, rangeKey: true },
  kind: { type: String, index: { name: "byKind", type: "global", rangeKey: "id" } },
  count: { type: Number, default: 0 },
  tags: { type: Set, schema: [String] },
  when: { type: Date },
}, { timestamps: true });
const Thing = dynamoose.model("Thing", schema);
new dynamoose.Table("dynamoose", [Thing], { throughput: "ON_DEMAND", waitForActive: { enabled: true, check: { frequency: 20, timeout: 10000 } } });

for (let i = 0; i < 10; i++) {
  await Thing.create({ owner: "ada", id: `t${i}`, kind: i % 2 ? "odd" : "even", tags: new Set(["x"]), when: new Date(1e12) });
}
await assert.rejects(Thing.create({ owner: "ada", id: "t0" }), { name: "ConditionalCheckFailedException" });
const one = await Thing.get({ owner: "ada", id: "t3" });
assert.equal(one.kind, "odd");
assert.equal(one.when.getTime(), 1e12);
const updated = await Thing.update({ owner: "ada", id: "t3" }, { $ADD: { count: 3 }, $SET: { kind: "even" } });
assert.deepEqual([updated.count, updated.kind], [3, "even"]);
let page = await Thing.query("kind").eq("even").using("byKind").limit(4).exec(), seen = [...page];
while (page.lastKey) {
  page = await Thing.query("kind").eq("even").using("byKind").limit(4).startAt(page.lastKey).exec();
  seen.push(...page);
}
assert.deepEqual(seen.map((t) => t.id), ["t0", "t2", "t3", "t4", "t6", "t8"]);
assert.equal((await Thing.scan("owner").eq("ada").filter("count").gt(2).exec()).length, 1);
await dynamoose.transaction([
  Thing.transaction.create({ owner: "bob", id: "t0", kind: "odd" }),
  Thing.transaction.update({ owner: "ada", id: "t1" }, { $ADD: { count: 1 } }),
  Thing.transaction.delete({ owner: "ada", id: "t9" }),
]);
assert.equal(await Thing.get({ owner: "ada", id: "t9" }), undefined);
assert.equal((await Thing.batchGet([{ owner: "bob", id: "t0" }, { owner: "ada", id: "t1" }])).length, 2);
