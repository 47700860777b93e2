package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// diskWait is how long anything may take that must happen once the disk has failed.
const diskWait = 30 * time.Second

// diskDB opens a database on a disk that can fail.
func diskDB(t *testing.T, d *engine.Disk) *engine.DB {
	t.Helper()
	db, err := engine.Open("data", engine.Options{Disk: d, SweepInterval: -1,
		CacheSize: 1 << 20, MemTableSize: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// sent is a request of a load and its answer.
type sent struct {
	kind, key string
	err       error
}

// keepSending posts transfers, schedules payments and uploads files until one of each caller's is
// refused, and returns everything that was sent.
func keepSending(t *testing.T, c *client.Client) (all []sent) {
	t.Helper()
	var mu sync.Mutex
	var callers sync.WaitGroup
	for kind := range diskRequests {
		for caller := range 2 {
			callers.Go(func() {
				for i := 0; ; i++ {
					s := sent{kind: kind, key: fmt.Sprintf("%s-%d-%d", kind, caller, i)}
					_, s.err = diskRequests[kind](t.Context(), c, s.key)
					mu.Lock()
					all = append(all, s)
					mu.Unlock()
					if s.err != nil || t.Context().Err() != nil {
						return
					}
				}
			})
		}
	}
	callers.Wait()
	return all
}

// diskRequests are the requests of the load. Each returns whether it is a repeat.
var diskRequests = map[string]func(context.Context, *client.Client, string) (bool, error){
	"transfer": func(ctx context.Context, c *client.Client, key string) (bool, error) {
		r, err := c.Post(ctx, client.Posting{IdempotencyKey: key, Type: client.Transfer,
			From: "alice", To: "bob", Amount: usd("0.01")})
		return r.Replayed, err
	},
	"payment": func(ctx context.Context, c *client.Client, key string) (bool, error) {
		r, err := c.SchedulePayment(ctx, client.NewPayment{IdempotencyKey: key,
			AccountID: "alice", PayeeID: "bob", Amount: usd("0.01"),
			At: time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)})
		return r.Replayed, err
	},
	"upload": func(ctx context.Context, c *client.Client, key string) (bool, error) {
		id := client.UploadID(key)
		if _, err := c.UploadOf(ctx, "everyday", id); err == nil {
			return true, nil
		}
		body := "Date,Amount,Payee\n2026-01-05,-1.00," + key + "\n"
		_, err := c.Upload(ctx, "everyday", client.NewUpload{ID: id, FileName: key + ".csv",
			Body: strings.NewReader(body), Size: int64(len(body))})
		return false, err
	},
}

// TestAServerWhoseDiskFails lets the disk fail in each way, at several places, under load. Each
// request is answered, and so is each one after that; the server is not ready and ends by itself or
// when it is stopped. After a restart on a disk that works, everything acknowledged is there.
func TestAServerWhoseDiskFails(t *testing.T) {
	positions := []int{1, 40}
	if testing.Short() {
		positions = positions[:1]
	}
	positions = positions[:min(len(positions), storetest.Rounds(len(positions)))]
	for _, kind := range engine.DiskFaultKinds() {
		for _, n := range positions {
			t.Run(fmt.Sprintf("%v at %d", kind, n), func(t *testing.T) {
				failDisk(t, engine.DiskFault{Kind: kind, Class: engine.DiskLog, N: n}, n == 1)
			})
		}
	}
}

func failDisk(t *testing.T, fault engine.DiskFault, told bool) {
	if storetest.Strict() {
		t.Skip("the store is the test's own, whose faults are those of its disk")
	}
	disk, dir := engine.NewDisk(), t.TempDir()
	db := diskDB(t, disk)
	on := func(db *engine.DB) func(*server.Options) {
		return func(o *server.Options) {
			o.Memory, o.Store, o.DataDir = false, db, dir
		}
	}
	w := start(t, on(db))
	w.furnish()
	must[client.BankAccountReceipt](t)(w.CreateBankAccount(t.Context(), client.NewBankAccount{
		ID: "everyday", Name: "Everyday", Currency: "USD"}))
	_, end, ended := serving(t, w)
	disk.Fail(fault)
	all := keepSending(t, w.client(client.Options{Retry: client.Retry{Attempts: 1}}))
	if told {
		end() // as SIGTERM does
	}
	for _, s := range all {
		if s.err != nil && problem.From(s.err).Code != "store_failed" {
			t.Errorf("%s: %v", s.key, s.err)
		}
	}
	for _, path := range []string{"/readyz", "/v1/accounts/alice", "/v1/accounts/alice"} {
		r := w.send(http.MethodGet, path, "")
		if r.status != http.StatusServiceUnavailable ||
			path != "/readyz" && !strings.Contains(r.body, "store_failed") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	select {
	case err := <-ended:
		if _, failed := errors.AsType[*dynamo.StoreFailedError](err); !failed && !told {
			t.Errorf("Serve returned %v", err)
		}
	case <-time.After(diskWait):
		t.Fatal("Serve does not return")
	}
	if err := db.Close(); err == nil {
		t.Error("the database closed as if nothing had failed")
	}
	disk.Heal()
	after := start(t, on(diskDB(t, disk)))
	checkSent(t, after, all, fault.Kind)
}

// checkSent sends everything again: what was acknowledged is a repeat, and what was refused is not.
func checkSent(t *testing.T, w *world, all []sent, kind engine.DiskFaultKind) {
	t.Helper()
	// A disk that refuses every change refuses the cut of the log too.
	uncut := kind == engine.DiskIOError || kind == engine.DiskReadOnly
	acknowledged := 0
	for _, s := range all {
		again, err := diskRequests[s.kind](t.Context(), w.Client, s.key)
		switch {
		case err != nil:
			t.Errorf("%s, again: %v", s.key, err)
		case s.err == nil && !again:
			t.Errorf("%s was acknowledged and is not there", s.key)
		case s.err != nil && again && !uncut && s.kind == "transfer":
			// The others are several writes, of which a repeat completes the rest.
			t.Errorf("%s was refused and is there", s.key)
		}
		if s.err == nil {
			acknowledged++
		}
	}
	t.Logf("%d requests, %d acknowledged", len(all), acknowledged)
	r := must[client.Reconciliation](t)(w.Reconcile(t.Context(), client.ReconcileQuery{}))
	if r.Found != 0 {
		t.Errorf("%+v", r)
	}
}
