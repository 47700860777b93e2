// Package server is the composition root: it opens a store, creates the tables that are missing,
// builds the ledger and serves the API over it. The command line and the tests of the whole start
// exactly this.
//
//	s, err := server.Open(ctx, server.Options{DataDir: "data"})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	return s.ListenAndServe(ctx, server.AddressDefault)
//
// # Safe by default
//
// Without authentication the server listens on the loopback interface only, and answers only
// requests that name a loopback host: a page in the user's browser cannot reach it through a name
// that it points at 127.0.0.1 itself. Any other address needs [AuthKeys] or
// [AuthOIDC].
//
// # Stores
//
// The store is the embedded database, or DynamoDB: Amazon's, or an endpoint that speaks its
// protocol. Tables are created paid by request, waited for, and never changed but for an expiry
// that is off.
//
//	server.Options{DynamoDB: &awssdk.Options{Region: "eu-central-1"}}
//
// # In one process
//
// [Server.Transport] carries requests to the handler without a socket, with every right,
// because a process that can open the data directory can read all of it anyway.
package server
