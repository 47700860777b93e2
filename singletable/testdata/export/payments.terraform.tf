resource "aws_dynamodb_table" "paymentscheduler" {
  name         = "PaymentScheduler"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "AccountID"
  range_key    = "ScheduledTime"

  attribute {
    name = "AccountID"
    type = "S"
  }

  attribute {
    name = "ScheduledTime"
    type = "S"
  }

  attribute {
    name = "Sharded-GSI-PK"
    type = "S"
  }

  attribute {
    name = "Status#Time"
    type = "S"
  }

  global_secondary_index {
    name            = "Query_All_Scheduled_Payments"
    hash_key        = "Sharded-GSI-PK"
    range_key       = "Status#Time"
    projection_type = "ALL"
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_dynamodb_table" "transactionhistory" {
  name         = "TransactionHistory"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "AccountID"
  range_key    = "Timestamp"

  attribute {
    name = "AccountID"
    type = "S"
  }

  attribute {
    name = "Timestamp"
    type = "S"
  }

  attribute {
    name = "Sharded-GSI-PK"
    type = "S"
  }

  attribute {
    name = "Status#Time"
    type = "S"
  }

  attribute {
    name = "TransactionID"
    type = "S"
  }

  global_secondary_index {
    name            = "Query_All_Scheduled_Payments"
    hash_key        = "Sharded-GSI-PK"
    range_key       = "Status#Time"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "QueryAll_byTime"
    hash_key        = "Sharded-GSI-PK"
    range_key       = "Timestamp"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "Query_TransactionID"
    hash_key        = "TransactionID"
    projection_type = "ALL"
  }

  lifecycle {
    prevent_destroy = true
  }
}
