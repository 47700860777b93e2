package scan

import "strings"

// SplitLines yields the lines of a text with any line end.
func SplitLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			line := text
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			if line != "" && !yield(line) {
				return
			}
		}
	}
}
