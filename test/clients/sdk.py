"""boto3, the AWS SDK for Python: client, resource and paginator."""
import os
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

NAME = "boto3"
options = dict(endpoint_url=os.environ["DYNAMODB_ENDPOINT"], region_name="us-east-1",
               aws_access_key_id="test", aws_secret_access_key="test")
client = boto3.client("dynamodb", **options)
db = boto3.resource("dynamodb", **options)

table = db.create_table(
    TableName=NAME, BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk", "name")],
    KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    GlobalSecondaryIndexes=[{
        "IndexName": "byName", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    }])
table.wait_until_exists()

item = {"pk": "u", "sk": "1", "name": "Ada", "n": Decimal("1.10"), "b": b"\x00\xff", "s": {"a", "b"},
        "ns": {Decimal(1), Decimal("2.5")}, "l": [1, "x", None, True], "m": {"deep": {"er": Decimal("-0.5")}}}
table.put_item(Item=item)
got = table.get_item(Key={"pk": "u", "sk": "1"}, ConsistentRead=True)["Item"]
assert got["n"] == Decimal("1.1") and got["m"] == item["m"] and got["s"] == item["s"], got
assert got["b"].value == b"\x00\xff", got

new = table.update_item(
    Key={"pk": "u", "sk": "1"}, UpdateExpression="SET n = n + :d, m.deep.er = :e REMOVE l[0]",
    ConditionExpression=Attr("n").lt(2), ExpressionAttributeValues={":d": Decimal("0.9"), ":e": 7},
    ReturnValues="ALL_NEW")["Attributes"]
assert new["n"] == 2 and new["l"] == ["x", None, True], new
try:
    table.put_item(Item={"pk": "u", "sk": "1"}, ConditionExpression=Attr("pk").not_exists(),
                   ReturnValuesOnConditionCheckFailure="ALL_OLD") \
        if "ReturnValuesOnConditionCheckFailure" in client.meta.service_model.operation_model(
            "PutItem").input_shape.members else \
        table.put_item(Item={"pk": "u", "sk": "1"}, ConditionExpression=Attr("pk").not_exists())
    raise AssertionError("the condition held")
except ClientError as e:
    assert e.response["Error"]["Code"] == "ConditionalCheckFailedException", e

with table.batch_writer() as batch:
    for i in range(60):
        batch.put_item(Item={"pk": "page", "sk": f"{i:03}", "name": "row"})
seen, start = [], {}
while True:
    page = table.query(IndexName="byName", KeyConditionExpression=Key("name").eq("row") & Key("sk").gte("010"),
                       Limit=7, **start)
    seen += [i["sk"] for i in page["Items"]]
    if "LastEvaluatedKey" not in page:
        break
    start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
assert seen == [f"{i:03}" for i in range(10, 60)], seen
count = sum(p["Count"] for p in client.get_paginator("scan").paginate(TableName=NAME, PaginationConfig={"PageSize": 8}))
assert count == 61, count

put = {"Put": {"TableName": NAME, "Item": {"pk": {"S": "t"}, "sk": {"S": "1"}},
               "ConditionExpression": "attribute_not_exists(pk)"}}
change = {"Update": {"TableName": NAME, "Key": {"pk": {"S": "u"}, "sk": {"S": "1"}},
                     "UpdateExpression": "SET n = n - :d", "ExpressionAttributeValues": {":d": {"N": "1"}}}}
client.transact_write_items(TransactItems=[put, change])
try:
    client.transact_write_items(TransactItems=[change, put])
    raise AssertionError("the transaction was carried out")
except client.exceptions.TransactionCanceledException as e:
    assert [r["Code"] for r in e.response["CancellationReasons"]] == ["None", "ConditionalCheckFailed"], e.response
assert table.get_item(Key={"pk": "u", "sk": "1"})["Item"]["n"] == 1
table.delete()
table.wait_until_not_exists()
