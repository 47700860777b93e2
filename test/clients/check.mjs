// What all the scripts share: where the server is, and how to compare.
import assert from "node:assert/strict";

export const endpoint = process.env.DYNAMODB_ENDPOINT;
if (!endpoint) throw new Error("set DYNAMODB_ENDPOINT, or use ./run");

export const connection = {
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
};

// table returns the input of CreateTable for a table with string keys and one index.
export function table(TableName, [hash, range], index) {
  const keys = [hash, range];
  const input = {
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: schema(hash, range),
  };
  if (index) {
    input.GlobalSecondaryIndexes = [
      {
        IndexName: index[0],
        KeySchema: schema(index[1], index[2]),
        Projection: { ProjectionType: "ALL" },
      },
    ];
    keys.push(index[1], index[2]);
  }
  input.AttributeDefinitions = [...new Set(keys)].map((AttributeName) => ({
    AttributeName,
    AttributeType: "S",
  }));
  return input;
}

function schema(hash, range) {
  return [
    { AttributeName: hash, KeyType: "HASH" },
    { AttributeName: range, KeyType: "RANGE" },
  ];
}

export { assert };
