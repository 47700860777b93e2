package client

import (
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/api"
)

// The forms of lists.
type (
	// PageQuery selects a page of a list.
	PageQuery = api.Page
	// Page is a page of a list.
	Page[T any] = api.List[T]
	// UnreadableItem is a stored item that cannot be decoded.
	UnreadableItem = api.UnreadableItem
	// UnreadableItems are the unreadable items of a list.
	UnreadableItems = api.UnreadableItems
)

// pageValues adds the page to the parameters of a request.
func pageValues(q PageQuery, v url.Values) url.Values {
	if v == nil {
		v = url.Values{}
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	return v
}

// all returns the items of all pages. An unreadable item is yielded as an *UnreadableItem after the
// rows of its page, and the next page follows. Any other error is yielded once, at the end.
func all[T any](page func(PageQuery) (Page[T], error)) iter.Seq2[T, error] {
	return allFrom(PageQuery{}, page)
}

func allFrom[T any](
	first PageQuery, page func(PageQuery) (Page[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for q := first; ; {
			p, err := page(q)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			for i := range p.Unreadable {
				var none T
				if !yield(none, &p.Unreadable[i]) {
					return
				}
			}
			if p.Next == "" {
				return
			}
			q.Cursor = p.Next
		}
	}
}

// setTime adds an instant to the parameters of a request unless it is zero.
func setTime(v url.Values, name string, t time.Time) {
	if !t.IsZero() {
		v.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}
