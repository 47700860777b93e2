package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func keyColumns() []column[client.Key] {
	type key = client.Key
	return []column[key]{
		col("ID", func(k key) string { return k.ID }),
		col("NAME", func(k key) string { return k.Name }),
		col("SCOPES", func(k key) string { return strings.Join(k.Scopes, " ") }),
		col("USER", func(k key) string { return k.Subject }),
		col("CREATED", func(k key) string { return instant(k.CreatedAt) }),
		col("EXPIRES", func(k key) string { return instant(k.ExpiresAt) }),
		col("REVOKED", func(k key) string { return instant(k.RevokedAt) }),
	}
}

func (a *app) keysCommand() *cobra.Command {
	keys := group("keys", "Create, list and revoke API keys", `Create, list and revoke API keys, which "exchequer serve --auth keys" asks for. Without --server no key
is needed: whoever can open the data directory owns what is in it.`,
		a.keysCreate(), a.keysList(), a.keysRevoke())
	keys.GroupID = groupStore
	return keys
}

func (a *app) keysCreate() *cobra.Command {
	var (
		n       client.NewAPIKey
		expires time.Duration
	)
	command := &cobra.Command{
		Use:   "create",
		Short: "Create an API key and print its secret, this once",
		Example: `  exchequer keys create --name shop --scope ledger:read --scope ledger:write
  exchequer keys create --name auditor --scope ledger:read --expires 720h
  exchequer keys create --name "alice's script" --scope statements:read --user SUBJECT`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			if expires > 0 {
				n.ExpiresAt = time.Now().Add(expires).UTC()
			}
			key, err := c.CreateKey(ctx, n)
			if err != nil {
				return err
			}
			switch a.flags.output {
			case outputJSON:
				return a.json(key)
			case outputCSV:
				columns := []column[client.CreatedKey]{
					col("ID", func(k client.CreatedKey) string { return k.ID }),
					col("SECRET", func(k client.CreatedKey) string { return k.Secret }),
				}
				return one(a, columns, key)
			}
			if err := one(a, keyColumns(), key.Key); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "secret   %s\n", key.Secret)
			a.remark("keep the secret: it is not stored and cannot be shown again")
			return err
		}),
	}
	f := command.Flags()
	f.StringVar(&n.Name, "name", "", "what the key is for, in a `word` (required)")
	f.StringSliceVar(&n.Scopes, "scope", nil, "`scope` that it has, such as ledger:read; may be repeated (required)")
	f.StringVar(&n.Subject, "user", "",
		"`subject` of the person whose data it reaches, for statements:read and statements:write")
	f.DurationVar(&expires, "expires", 0, "how long it works, such as `720h`; without it for ever")
	require(command, "name", "scope")
	return command
}

func (a *app) keysList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the API keys, revoked ones included",
		Example: "  exchequer keys list",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			keys, err := c.Keys(ctx)
			if err != nil {
				return err
			}
			return page(a, keyColumns(), whole(keys), "no keys")
		}),
	}
}

func (a *app) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY",
		Short:   "Make an API key useless, at once and for ever",
		Example: "  exchequer keys revoke 7f3a90c2",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			key, err := c.RevokeKey(ctx, args[0])
			if err != nil {
				return err
			}
			return one(a, keyColumns(), key)
		}),
	}
}
