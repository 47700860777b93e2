// Command engine compares the embedded engine with other implementations of DynamoDB: six calls, in
// process and over HTTP with the AWS SDK, with one caller and with many, on disk and in memory.
//
//	go run ./bench/engine
//	go run ./bench/engine -dynoxide ./dynoxide -dynalite ./node_modules/.bin/dynalite
//
// The peers are programs of others; a peer whose program is not given is skipped, and the output
// reports that. dynoxide and dynalite are on npm, as @dynoxide/linux-x64 and dynalite. The floor is
// Pebble alone, which writes rows of the same number and sizes with a sync for each call, and reads
// them back, but checks, encodes and decodes nothing. The ceiling is our protocol over a store that
// answers at once: the cost of the client and of HTTP.
//
// Each case has a warm-up, and its figures are medians over the rounds. Client and server share the
// machine, so the server's CPU time per call, if the system reports it, is more stable than the
// calls per second.
package main
