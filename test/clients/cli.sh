#!/usr/bin/env bash
# The AWS CLI.
set -euo pipefail
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1 AWS_PAGER=
ddb() { aws dynamodb --endpoint-url "$DYNAMODB_ENDPOINT" --output text "$@"; }
same() { [[ $1 == "$2" ]] || { echo "got '$1', want '$2'"; exit 1; }; }

ddb create-table --table-name cli --billing-mode PAY_PER_REQUEST \
  --attribute-definitions AttributeName=pk,AttributeType=S AttributeName=sk,AttributeType=N \
  --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE >/dev/null
ddb wait table-exists --table-name cli
for i in 1 2 3 4 5; do
  ddb put-item --table-name cli --item "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"$i\"},\"v\":{\"S\":\"v$i\"}}"
done
same "$(ddb get-item --table-name cli --key '{"pk":{"S":"a"},"sk":{"N":"3.0"}}' --query Item.v.S)" v3
ddb update-item --table-name cli --key '{"pk":{"S":"a"},"sk":{"N":"3"}}' \
  --update-expression 'SET v = :v ADD n :n' \
  --expression-attribute-values '{":v":{"S":"w"},":n":{"N":"2"}}'
same "$(ddb query --table-name cli --key-condition-expression 'pk = :p AND sk > :s' \
  --expression-attribute-values '{":p":{"S":"a"},":s":{"N":"2"}}' --query 'Items[].v.S' \
  --page-size 1 | paste -sd' ')" 'w v4 v5'
same "$(ddb scan --table-name cli --select COUNT --query Count --no-paginate)" 5
ddb transact-write-items --transact-items '[
  {"Delete":{"TableName":"cli","Key":{"pk":{"S":"a"},"sk":{"N":"1"}}}},
  {"Put":{"TableName":"cli","Item":{"pk":{"S":"b"},"sk":{"N":"1"}}}}]'
if said=$(ddb put-item --table-name cli --item '{"pk":{"S":"b"},"sk":{"N":"1"}}' \
  --condition-expression 'attribute_not_exists(pk)' 2>&1); then
  echo "the condition held"
  exit 1
fi
[[ $said == *ConditionalCheckFailedException* ]] || { echo "$said"; exit 1; }
same "$(ddb scan --table-name cli --query 'length(Items)')" 5
ddb delete-table --table-name cli >/dev/null
ddb wait table-not-exists --table-name cli
