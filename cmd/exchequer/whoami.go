package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func meDetails() []column[client.Me] {
	type me = client.Me
	return []column[me]{
		col("USER", func(m me) string { return m.Subject }),
		col("BY", func(m me) string { return m.Authentication }),
		col("KEY", func(m me) string { return m.KeyID }),
		col("SCOPES", func(m me) string { return strings.Join(m.Scopes, " ") }),
	}
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Tell whose data personal commands work on",
		Long: `Tell whose data the commands about a person's own data work on, and how the server knows: by the
token of a user, by an API key that is bound to a person, or not at all, because it does not ask. Such a
server has one user, which "exchequer serve --user" names; so have commands without --server.`,
		Example: `  exchequer whoami
  exchequer whoami --server https://books.example.org --token "$TOKEN"`,
		GroupID: groupStore,
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			me, err := c.WhoAmI(ctx)
			if err != nil {
				return err
			}
			return one(a, meDetails(), me)
		}),
	}
}
