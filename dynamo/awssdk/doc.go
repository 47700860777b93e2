// Package awssdk is a store that uses the AWS SDK for Go, for Amazon DynamoDB or any other
// implementation of its protocol.
//
//	db, err := awssdk.Open(ctx, awssdk.Options{Region: "eu-central-1"})
//	out, err := db.Get(ctx, &dynamo.GetInput{TableName: "Books", Key: key})
//
// A [DB] is a [dynamo.DB], [dynamo.Admin], [dynamo.Streams], [dynamo.Tagger] and [dynamo.PartiQL].
//
// # Conversion
//
// All values are passed unchanged. Numbers are passed as text, so that no digit is lost. Empty
// optional fields (an expression, a limit of 0, a token) are not sent. The SDK's own validation is
// turned off, so that the service reports invalid requests with its own messages.
//
// # Errors
//
// An error of the service is a [*dynamo.Error] with its code and message, the item of a failed
// condition, one reason for each action of a cancelled transaction, and the limits that a throttled
// call exceeded. A call that could not connect, or lost the connection before the response was
// read, has the code ServiceUnavailable. It is [dynamo.Retryable], and a write may have been
// executed. If the context ended, its error is returned. Other errors (missing credentials, for
// example) are those of the SDK.
//
// # Retries
//
// The SDK's retries are turned off. The caller knows whether a call can be repeated and with which
// token, and retries in two layers would multiply the attempts. For the same reason a transaction
// without a ClientRequestToken is sent without one: the SDK would generate a new token for every
// call, which protects only its own retries and which the service would store for ten minutes.
package awssdk
