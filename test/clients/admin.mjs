// dynamodb-admin, a web page that browses tables: its pages show ours.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { assert, connection, endpoint, table } from "./check.mjs";

const TableName = "admin-sees-this";
const client = new DynamoDBClient(connection);
await client.send(new CreateTableCommand(table(TableName, ["pk", "sk"], ["byName", "name", "sk"])));
for (let i = 0; i < 30; i++) {
  const Item = { pk: { S: "user#1" }, sk: { S: `row-${i}` }, name: { S: "Ada" }, n: { N: String(i) } };
  await client.send(new PutItemCommand({ TableName, Item }));
}
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const admin = spawn(process.execPath, ["node_modules/dynamodb-admin/dist/dynamodb-admin.js", "--port", String(port), "--host", "127.0.0.1"], {
  env: { ...process.env, DYNAMO_ENDPOINT: endpoint, AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
  stdio: ["ignore", "pipe", "pipe"],
});
let said = "";
admin.stdout.on("data", (d) => { said += d; });
admin.stderr.on("data", (d) => { said += d; });
async function page(path, tries = 100) {
  for (;;) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      assert.equal(answer.status, 200, `${path}: ${answer.status}`);
      return await answer.text();
    } catch (e) {
      if (e.code === "ERR_ASSERTION" || --tries === 0) throw new Error(`${e.message}\n${said}`);
      await new Promise((wait) => setTimeout(wait, 100));
    }
  }
}
try {
  assert.match(await page("/"), /admin-sees-this/);
  const items = await page(`/tables/${TableName}`);
  assert.match(items, /byName/);
  const rows = await page(`/tables/${TableName}/items/${encodeURIComponent("user#1")},row-7`);
  assert.match(rows, /row-7/);
  assert.match(await page(`/tables/${TableName}/meta`), /KeySchema/);
} finally {
  admin.kill();
}
await client.send(new DeleteTableCommand({ TableName }));
