package statements

import (
	"strconv"
	"time"
)

// Quota bounds the uploaded files of one user. A field that is zero is the default; a negative one
// is no bound.
type Quota struct {
	Files int
	Bytes int64
}

// The default quota: a file a day of ten accounts for a decade, whose size is that of ten of the
// largest files.
const (
	QuotaFiles = 36_500
	QuotaBytes = 10 * FileSizeMax
)

func (q Quota) withDefaults() Quota {
	if q.Files == 0 {
		q.Files = QuotaFiles
	}
	if q.Bytes == 0 {
		q.Bytes = QuotaBytes
	}
	return q
}

// arrivalMax is how long a file may take to arrive. An upload whose file has not arrived by then
// was cut off, and takes no part of the quota.
const arrivalMax = 24 * time.Hour

// Used is the part of a quota that is in use.
type Used struct {
	Files int
	Bytes int64
}

func (a *Used) add(u *Upload, now time.Time) {
	if u.FileGone || u.FileKey == "" || u.Hash == "" && now.Sub(u.UpdatedAt) > arrivalMax {
		return
	}
	a.Files++
	a.Bytes += u.Size
}

// room is the part of a quota that a file may take.
type room struct {
	// left is how many bytes the file may have, at most FileSizeMax, and refusal the error of one
	// that has more.
	left    int64
	refusal error
}

// room returns how much fits in addition to what is used, or ErrQuota if a file of some bytes does
// not.
func (q Quota) room(used Used, size int64) (room, error) {
	r := room{FileSizeMax, ErrFileTooLarge.With("limit", FileSizeMax)}
	full := ErrQuota.With("files", used.Files).With("bytes", used.Bytes).
		With("filesMax", bound(q.Files)).With("bytesMax", bound(q.Bytes))
	if left := q.Bytes - used.Bytes; q.Bytes > 0 && left < r.left {
		r = room{max(left, 0), full}
	}
	if q.Files > 0 && used.Files >= q.Files || size > r.left {
		if size > FileSizeMax {
			return room{}, ErrFileTooLarge.With("limit", FileSizeMax)
		}
		return room{}, full
	}
	return r, nil
}

// bound shows a bound of a quota.
func bound[T int | int64](n T) string {
	if n < 0 {
		return "any number of"
	}
	return strconv.FormatInt(int64(n), 10)
}
