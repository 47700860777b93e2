// Package awssdk is a store behind the AWS SDK for Go: Amazon DynamoDB itself, or anything that
// speaks its protocol.
//
//	db, err := awssdk.Open(ctx, awssdk.Options{Region: "eu-central-1"})
//	out, err := db.Get(ctx, &dynamo.GetInput{TableName: "Books", Key: key})
//
// A [DB] is a [dynamo.DB], [dynamo.Admin], [dynamo.Streams], [dynamo.Tagger] and [dynamo.PartiQL].
//
// # What is passed on
//
// Every value goes and comes as it is; a number stays the text that it was, so no digit is lost.
// What is empty and may be left out (an expression, a limit of 0, a token) is not sent at all. What
// is wrong or missing is for the service to refuse, in its words, so the SDK's own checks are off.
//
// # Errors
//
// A refusal is a [*dynamo.Error] with the code and message of the service, the item of a failed
// condition, one reason for each action of a cancelled transaction, and the limits that a throttled
// call met. A call that found no server, or lost it before the answer was read, is a
// ServiceUnavailable: [dynamo.Retryable], and if it was a write it may have happened. A context
// that ended is the context's error. Everything else (no credentials, say) is the SDK's own error.
//
// # Retries
//
// The SDK repeats nothing here. Whoever calls knows whether a call may be repeated, and with
// which token; two layers that both repeat multiply each other's attempts. For the same reason a
// transaction without a ClientRequestToken is sent without one: the SDK would make up another at
// every call, which protects nothing but its own retries, and the service would keep it for ten
// minutes.
package awssdk
