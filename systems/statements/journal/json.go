package journal

import (
	"bufio"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// jsonWriter writes objects, in an array or each on a line.
type jsonWriter struct {
	w     *bufio.Writer
	array bool
	some  bool
}

func (j *jsonWriter) Begin([]Opening) error {
	if j.array {
		j.w.WriteByte('[')
	}
	return nil
}

func (j *jsonWriter) Row(t *book.Transaction) error {
	text, err := book.Record(t, "userId")
	if err != nil {
		return err
	}
	if j.array && j.some {
		j.w.WriteByte(',')
	}
	if j.array {
		j.w.WriteByte('\n')
	}
	j.some = true
	_, err = j.w.Write(text)
	if !j.array && err == nil {
		err = j.w.WriteByte('\n')
	}
	return err
}

func (j *jsonWriter) End() error {
	if j.array {
		_, err := j.w.WriteString("\n]\n")
		return err
	}
	return nil
}
