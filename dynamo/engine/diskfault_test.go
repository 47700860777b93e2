package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

func TestADatabaseWhoseDiskFailsStops(t *testing.T) {
	ctx := context.Background()
	for _, kind := range engine.DiskFaultKinds() {
		t.Run(string(kind), func(t *testing.T) {
			disk := engine.NewDisk()
			opts := smallMemory
			opts.Disk = disk
			db, err := engine.Open("data", opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
			put := func(pk string) error {
				_, err := db.Put(ctx, &dynamo.PutInput{TableName: loadTable, Item: key(pk, "1")})
				return err
			}
			get := func(db *engine.DB, pk string) (bool, error) {
				out, err := db.Get(ctx, &dynamo.GetInput{
					TableName: loadTable, Key: key(pk, "1"), ConsistentRead: true,
				})
				return err == nil && out.Item != nil, err
			}
			if err := put("before"); err != nil {
				t.Fatal(err)
			}
			disk.Fail(engine.DiskFault{Kind: kind, Class: engine.DiskLog})
			var failed *dynamo.StoreFailedError
			if err := put("refused"); !errors.As(err, &failed) {
				t.Fatalf("the write returned %v", err)
			}
			<-db.Failed()
			if _, err := get(db, "before"); !errors.As(err, &failed) {
				t.Fatalf("a read returned %v", err)
			}
			if err := put("later"); !errors.As(err, &failed) {
				t.Fatalf("a later write returned %v", err)
			}
			if err := db.Close(); !errors.As(err, &failed) {
				t.Fatalf("Close returned %v", err)
			}
			disk.Heal()
			if db, err = engine.Open("data", opts); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if ok, err := get(db, "before"); err != nil || !ok {
				t.Fatal("the acknowledged item is gone", err)
			}
			if ok, err := get(db, "refused"); err != nil || ok {
				t.Fatal("the refused item is there", err)
			}
		})
	}
}
