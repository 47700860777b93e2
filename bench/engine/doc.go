// Command engine measures the embedded engine beside other implementations of DynamoDB: six calls,
// in process and over HTTP with the AWS SDK, with one caller and with many, on disk and in memory.
//
//	go run ./bench/engine
//	go run ./bench/engine -dynoxide ./dynoxide -dynalite ./node_modules/.bin/dynalite
//
// The peers are programs of others; a peer whose program is not given is left out, and the output
// says so. dynoxide and dynalite are on npm, as @dynoxide/linux-x64 and dynalite. The floor is
// Pebble alone, which writes rows of the same number and sizes with a sync for each call, and reads
// them back, but checks, encodes and decodes nothing. The ceiling is our own
// protocol over a store that answers at once: what the client and HTTP cost.
//
// Each case has a warm-up, and its figures are medians over the rounds. Client and server share the
// machine, so the CPU time of the server for a call, where the system tells it, is the steadier
// figure than calls a second.
package main
