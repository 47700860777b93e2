package server

import (
	"gocloud.dev/blob"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// LedgerOf lets benchmarks compare the ledger with the ways to it.
func LedgerOf(s *Server) *ledger.Ledger { return s.ledger }

// StoreOf lets tests set faults in the embedded database.
func StoreOf(s *Server) *engine.DB { return s.db.(*engine.DB) }

// WaitInside waits for requests of this process that their caller left.
func WaitInside(s *Server) { s.inside.running.Wait() }

// BucketOf lets tests damage uploaded files.
func BucketOf(s *Server) *blob.Bucket { return s.files.bucket }
