package statements

import (
	"context"
	"io"
)

// ArchiveCounts are how many things an archive holds.
type ArchiveCounts struct {
	Accounts     int `json:"accounts"`
	Tags         int `json:"tags"`
	Rules        int `json:"rules"`
	Jobs         int `json:"jobs"`
	Uploads      int `json:"uploads"`
	Files        int `json:"files"`
	Transactions int `json:"transactions"`
	Entries      int `json:"entries"`
}

// Archive writes everything that a user has as one zip file. Progress, if not nil, is told from
// time to time.
func (p *Person) Archive(
	ctx context.Context, w io.Writer, progress func(ArchiveCounts),
) (ArchiveCounts, error) {
	return ArchiveCounts{}, errUnbuilt
}

// Restore brings an archive back, into the part of a user who has nothing yet. The whole archive
// is checked before anything is written. A restore that was cut off is finished by another one of
// the same archive. The error is ErrArchiveInvalid or ErrNotEmpty.
func (p *Person) Restore(
	ctx context.Context, r io.ReaderAt, size int64, progress func(ArchiveCounts),
) (ArchiveCounts, error) {
	return ArchiveCounts{}, errUnbuilt
}
