// Package sim plays seeded random work over the whole product and compares what it left with a
// plain model.
package sim
