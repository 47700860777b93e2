resource "aws_dynamodb_table" "exchangerates" {
  name         = "ExchangeRates"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "Base"
    type = "S"
  }

  global_secondary_index {
    name            = "BaseCurrencyIndex"
    hash_key        = "Base"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  lifecycle {
    prevent_destroy = true
  }
}
