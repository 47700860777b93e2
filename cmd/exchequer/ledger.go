package main

import "github.com/spf13/cobra"

func (a *app) ledgerCommand() *cobra.Command {
	ledger := group("ledger", "Accounts, merchants and transactions",
		`Accounts, merchants and transactions.

Every account has one currency; a credit raises its balance and a debit lowers it. What comes into the
books or leaves them is posted against the ledger's own accounts, such as @deposits and @withdrawals,
so that all balances of a currency sum to zero.

Give --key with whatever moves money: the same command with the same key, at any later time, shows
what was done the first time and does nothing.`,
		a.accountsCommand(), a.merchantsCommand(),
		a.postCommand(), a.payCommand(), a.exchangeCommand(), a.reverseCommand(), a.importCommand(),
		a.getCommand(), a.findCommand(), a.listCommand(), a.legsCommand(),
		a.statementCommand(), a.reconcileCommand(),
		a.ledgerRepairDates(), a.ledgerShards(), a.ledgerGrow())
	ledger.GroupID = groupMoney
	return ledger
}
