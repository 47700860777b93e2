package client

import (
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// PageQuery selects a page of a list.
type PageQuery struct {
	// Size is the maximum number of rows, up to 1000; 0 means 100.
	Size int
	// Cursor is the Next of the previous page, or empty for the first page.
	Cursor string
}

// Page is a page of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// Next is the cursor of the next page; empty on the last page.
	Next string `json:"next,omitempty"`
	// Unreadable are the stored items among the rows of this page that cannot be read.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
}

// UnreadableItem is a stored item that cannot be decoded. It is also the error that iterators yield
// for it between readable rows.
type UnreadableItem struct {
	Entity    string `json:"entity"`
	Table     string `json:"table"`
	Key       string `json:"key"`
	Attribute string `json:"attribute"`
	Reason    string `json:"reason"`
}

// Error names the item, the attribute and the reason.
func (u *UnreadableItem) Error() string {
	return fmt.Sprintf("%s %s in table %s cannot be read: attribute %s %s", u.Entity, u.Key,
		u.Table, u.Attribute, u.Reason)
}

// UnreadableItems are the unreadable items of a list, as the error that is returned together with
// the readable rows.
type UnreadableItems []UnreadableItem

// Error names the items.
func (u UnreadableItems) Error() string {
	lines := make([]string, len(u))
	for i := range u {
		lines[i] = u[i].Error()
	}
	return strings.Join(lines, "; ")
}

// rows returns the rows of a list with one page.
func (p Page[T]) rows(err error) ([]T, error) {
	if err == nil && len(p.Unreadable) > 0 {
		err = UnreadableItems(p.Unreadable)
	}
	return p.Items, err
}

// values adds the page to the parameters of a request.
func (q PageQuery) values(v url.Values) url.Values {
	if v == nil {
		v = url.Values{}
	}
	if q.Size != 0 {
		v.Set("limit", strconv.Itoa(q.Size))
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
