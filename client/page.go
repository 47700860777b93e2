package client

import (
	"iter"
	"net/url"
	"strconv"
	"time"
)

// PageQuery says which page of a list to read.
type PageQuery struct {
	// Size is the greatest number of rows, up to 1000; 0 means 100.
	Size int
	// Cursor is the Next of the page before, or empty for the first.
	Cursor string
}

// Page is a page of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// Next is the cursor of the next page; empty on the last.
	Next string `json:"next,omitempty"`
}

// values adds the page to the parameters of a request.
func (q PageQuery) values(v url.Values) url.Values {
	if v == nil {
		v = url.Values{}
	}
	if q.Size != 0 {
		v.Set("size", strconv.Itoa(q.Size))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	return v
}

// all returns the items of all pages. It yields an error once, at the end, if there is one.
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
