package apikey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// TableNameDefault is the name of the table of keys.
const TableNameDefault = "ExchequerKeys"

// Keyring creates, finds and revokes keys. It is safe for concurrent use.
type Keyring struct {
	store *singletable.Store
	now   func() time.Time
	table *singletable.Table
	keys  *singletable.Entity[Key]
	all   *singletable.Pattern[everything, Key]

	revokedAt singletable.Field[Key, time.Time]
}

// everything has no inputs.
type everything struct{}

// NewKeyring returns the keys of a store. It does no I/O: create the table of Table first. A nil
// clock is the computer's.
func NewKeyring(store *singletable.Store, now func() time.Time) *Keyring {
	if now == nil {
		now = time.Now
	}
	t := singletable.NewTable(TableNameDefault, singletable.Keys("PK", "SK"))
	keys := singletable.NewEntity[Key](t, "APIKey",
		singletable.Discriminator("Type", "APIKey"),
		singletable.Primary("@server#apikey#<ID>", "METADATA"))
	return &Keyring{
		store: store, now: now, table: t, keys: keys,
		all: singletable.NewScan[everything](keys, "api-keys",
			singletable.Describe("All API keys, without their secrets")),
		revokedAt: singletable.FieldOf(keys, func(k *Key) *time.Time { return &k.RevokedAt }),
	}
}

// Table returns the design of the table of keys.
func (r *Keyring) Table() *singletable.Table { return r.table }

// Create makes a key. The token is what its holder sends; it cannot be had again.
func (r *Keyring) Create(ctx context.Context, n New) (key Key, token string, err error) {
	now := r.now().UTC().Truncate(time.Millisecond)
	if err := n.check(now); err != nil {
		return Key{}, "", err
	}
	id, secret := random(idBytes), random(secretBytes)
	key = Key{
		ID: id, Name: n.Name, Scopes: slices.Clone(n.Scopes), Subject: n.Subject,
		Hash: hash(secret), CreatedAt: now, ExpiresAt: n.ExpiresAt.UTC().Truncate(time.Millisecond),
	}
	if err := r.keys.Create(ctx, r.store, key); err != nil {
		return Key{}, "", fmt.Errorf("create API key %s: %w", id, err)
	}
	return key, tokenOf(id, secret), nil
}

// All returns all keys, revoked and expired ones included, the oldest first.
func (r *Keyring) All(ctx context.Context) ([]Key, error) {
	var keys []Key
	for key, err := range r.all.All(ctx, r.store, everything{}) {
		if err != nil {
			return nil, fmt.Errorf("list API keys: %w", err)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return keys, nil
}

// Revoke makes a key useless, from the next request on. Revoking a revoked key changes nothing.
func (r *Keyring) Revoke(ctx context.Context, id string) (Key, error) {
	now := r.now().UTC().Truncate(time.Millisecond)
	key, err := r.keys.Update(ctx, r.store, Key{ID: id}, r.revokedAt.SetIfAbsent(now))
	switch {
	case errors.Is(err, singletable.ErrMissing):
		return Key{}, ErrKeyNotFound.With("key", id)
	case err != nil:
		return Key{}, fmt.Errorf("revoke API key %s: %w", id, err)
	}
	return key, nil
}

// Authenticate returns the key of a token, or ErrKeyRefused.
func (r *Keyring) Authenticate(ctx context.Context, token string) (Key, error) {
	id, secret, ok := parse(token)
	if !ok {
		return Key{}, ErrKeyRefused
	}
	key, found, err := r.keys.Get(ctx, r.store, Key{ID: id}, singletable.Consistent())
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("read API key %s: %w", id, err)
	case !found || !key.fits(secret) || !key.valid(r.now()):
		return Key{}, ErrKeyRefused
	}
	return key, nil
}
