package statements

import "context"

// Erased is how many things were removed.
type Erased struct {
	Profiles, Accounts, Tags, Rules, Jobs, Uploads, Files, Transactions, Entries, Sheets int
}

// Erase removes everything that a user has, uploaded files included. Progress, if not nil, is told
// from time to time. When it was cut off, another call removes what is left.
func (p *Person) Erase(ctx context.Context, progress func(Erased)) (Erased, error) {
	return Erased{}, errUnbuilt
}

// EraseAccount removes an account and everything in it. The error is ErrNoAccount.
func (p *Person) EraseAccount(
	ctx context.Context, account string, progress func(Erased),
) (Erased, error) {
	return Erased{}, errUnbuilt
}
