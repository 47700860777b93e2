package engine

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// eachRow calls f with an iterator at each row from lower to upper, until f returns false or an
// error. The iterator is valid during the call. A value that cannot be read is an error.
func (db *DB) eachRow(
	r pebble.Reader, lower, upper []byte, f func(it *pebble.Iterator) (more bool, err error),
) (err error) {
	defer db.reading(&err)
	it, err := r.NewIter(bounds(lower, upper))
	if err != nil {
		return err
	}
	more := true
	for ok := it.First(); ok && more && err == nil; ok = it.Next() {
		if more, err = f(it); !more {
			break
		}
	}
	return errors.Join(err, it.Close())
}
