package statements

import (
	"context"
	"errors"
)

// UsedQuota returns what the uploaded files of the user take, those included that are arriving now.
func (p *Person) UsedQuota(
	ctx context.Context,
) (Used, error) {
	return p.files().usedBut(ctx, "", "")
}

// usedBut is UsedQuota without one upload.
func (p uploader) usedBut(ctx context.Context, account, id string) (Used, error) {
	var used Used
	start, err := p.Start(ctx)
	if err != nil {
		return used, err
	}
	now := p.now()
	for _, a := range start.Accounts {
		for u, err := range modelOf(p.Person).uploadsOf.All(ctx, p.store(), OfAccount{p.id, a.ID}) {
			if err != nil {
				return used, failed("list uploads", err)
			}
			if u.AccountID != account || u.ID != id {
				used.add(&u, now)
			}
		}
	}
	return used, nil
}

// room returns how many bytes the file of an upload may have, or ErrQuota.
func (p uploader) room(ctx context.Context, u *Upload) (room, error) {
	used, err := p.usedBut(ctx, u.AccountID, u.ID)
	if err != nil {
		return room{}, err
	}
	return p.books.opts.Quota.room(used, u.Size)
}

// keepRoom removes an upload again whose size was not known before and which, together with those
// that arrived at the same moment, does not fit.
func (p uploader) keepRoom(ctx context.Context, u Upload) error {
	_, err := p.room(ctx, &u)
	if !errors.Is(err, ErrQuota) {
		return err
	}
	if failed := p.books.opts.Files.Delete(ctx, u.FileKey); failed != nil {
		return errors.Join(err, failed)
	}
	p.abandon(ctx, u)
	return err
}
