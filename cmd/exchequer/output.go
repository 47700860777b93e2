package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/sheet"
)

// The forms of what is printed.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputCSV   = "csv"
)

var outputs = []string{outputTable, outputJSON, outputCSV}

// column is a column of a list: its head, and the text of an item in it.
type column[T any] struct {
	grid.Column
	text   func(T) string
	amount func(T) money.Amount // of a column of money, which has no text
}

// col returns a column of texts, num one of numbers, and cash one of money.
func col[T any](head string, text func(T) string) column[T] {
	return column[T]{Column: grid.Left(head), text: text}
}

func num[T any](head string, text func(T) string) column[T] {
	return column[T]{Column: grid.Right(head), text: text}
}

func cash[T any](head string, amount func(T) money.Amount) column[T] {
	return column[T]{Column: grid.Right(head), amount: amount}
}

// upTo bounds the width of a column in tables. CSV and JSON have the whole text.
func (c column[T]) upTo(characters int) column[T] {
	c.Column = c.Column.UpTo(characters)
	return c
}

// printer prints items of one kind, page by page, in the form that the user chose.
type printer[T any] struct {
	app     *app
	columns []column[T]
	table   *grid.Table
	csv     *sheet.Writer
}

func newPrinter[T any](a *app, columns []column[T]) *printer[T] {
	p := &printer[T]{app: a, columns: columns, csv: sheet.NewWriter(a.out)}
	heads := make([]grid.Column, len(columns))
	for i, c := range columns {
		heads[i] = c.Column
	}
	p.table = grid.New(heads...)
	return p
}

func (p *printer[T]) cells(item T) []string {
	cells := make([]string, len(p.columns))
	for i, c := range p.columns {
		if c.amount != nil {
			cells[i] = amountText(c.amount(item))
		} else {
			cells[i] = c.text(item)
		}
	}
	return cells
}

// record returns the cells of a CSV file, in which money is a number, and its currency a column
// behind the others.
func (p *printer[T]) record(item T) []string {
	cells := p.cells(item)
	var currency money.Currency
	for i, c := range p.columns {
		if c.amount == nil {
			continue
		}
		if a := c.amount(item); a.Currency() != "" {
			cells[i], currency = a.Text(), a.Currency()
		}
	}
	if p.money() {
		cells = append(cells, string(currency))
	}
	return cells
}

// money reports whether there is a column of money.
func (p *printer[T]) money() bool {
	return slices.ContainsFunc(p.columns, func(c column[T]) bool { return c.amount != nil })
}

// heads writes the line of names of a CSV file: those of the columns in lower case.
func (p *printer[T]) heads() error {
	names := make([]string, len(p.columns))
	for i, c := range p.columns {
		names[i] = strings.ReplaceAll(strings.ToLower(c.Head), " ", "_")
	}
	if p.money() {
		names = append(names, "currency")
	}
	return p.csv.Write(names)
}

// rows prints items as rows of a table or of CSV.
func (p *printer[T]) rows(items []T) error {
	if p.app.flags.output == outputCSV {
		for _, item := range items {
			if err := p.csv.Write(p.record(item)); err != nil {
				return err
			}
		}
		p.csv.Flush()
		return p.csv.Error()
	}
	for _, item := range items {
		p.table.Add(p.cells(item)...)
	}
	return p.table.Write(p.app.out, "")
}

// page prints one page of a list. Of JSON it is the API's own answer.
func page[T any](a *app, columns []column[T], list client.Page[T], empty string) error {
	p := newPrinter(a, columns)
	switch {
	case a.flags.output == outputJSON:
		if list.Items == nil {
			list.Items = []T{}
		}
		if err := a.json(list); err != nil {
			return err
		}
		return a.unreadable(list.Unreadable)
	case a.flags.output == outputCSV:
		if err := p.heads(); err != nil {
			return err
		}
	case len(list.Items) == 0 && len(list.Unreadable) == 0:
		a.remark("%s", empty)
		return nil
	}
	if err := p.rows(list.Items); err != nil {
		return err
	}
	a.more(list.Next, ", or --all")
	return a.unreadable(list.Unreadable)
}

// unreadable names the stored items of a list that cannot be read, on the stream of errors. The
// command then ends with the status of what is not as it should be.
func (a *app) unreadable(items []client.UnreadableItem) error {
	if len(items) == 0 {
		return nil
	}
	for i := range items {
		a.remark("%s", items[i].Error())
	}
	return unreadableFailure(len(items))
}

func unreadableFailure(n int) error {
	text := fmt.Sprintf("%d of the stored items cannot be read", n)
	if n == 1 {
		text = "one of the stored items cannot be read"
	}
	return &failure{exit: exitDiffers, text: text,
		try: "Correct the items with the program that wrote them"}
}

// whole is a list of one page.
func whole[T any](items []T) client.Page[T] { return client.Page[T]{Items: items} }

// readable makes a list of one page of rows and of the error that came with them: items that cannot
// be read do not hide the others.
func readable[T any](items []T, err error) (client.Page[T], error) {
	var bad client.UnreadableItems
	if errors.As(err, &bad) {
		return client.Page[T]{Items: items, Unreadable: bad}, nil
	}
	return whole(items), err
}

// more returns how to get the next page.
func (a *app) more(cursor, otherwise string) {
	if cursor != "" {
		a.remark("more: add --cursor %s%s", cursor, otherwise)
	}
}

// batch is how many rows of a long list are laid out at once.
const batch = 100

// all prints a whole list, however long. As JSON it is one item a line.
func all[T any](a *app, columns []column[T], items iter.Seq2[T, error], empty string) error {
	p := newPrinter(a, columns)
	if a.flags.output == outputCSV {
		if err := p.heads(); err != nil {
			return err
		}
	}
	var rows []T
	printed, unread := 0, 0
	for item, err := range items {
		var bad *client.UnreadableItem
		if errors.As(err, &bad) {
			unread++
			a.remark("%s", bad.Error())
			continue
		}
		if err != nil {
			return err
		}
		printed++
		if a.flags.output == outputJSON {
			if err := encode(a.out, item, ""); err != nil {
				return err
			}
			continue
		}
		if rows = append(rows, item); len(rows) == batch {
			if err := p.rows(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	switch {
	case a.flags.output == outputJSON:
	case printed == 0 && unread == 0 && a.flags.output == outputTable:
		a.remark("%s", empty)
	default:
		if err := p.rows(rows); err != nil {
			return err
		}
	}
	if unread > 0 {
		return unreadableFailure(unread)
	}
	return nil
}

// created shows what a command has created, and adds a remark if an earlier, equal request did it.
func created[T any](a *app, columns []column[T], item T, replayed bool, what string) error {
	if err := one(a, columns, item); err != nil {
		return err
	}
	if replayed {
		a.remark("it was created before by an equal request: this is the first %s as it is now", what)
	}
	return nil
}

// one prints a single item: as a table, a line for each column.
func one[T any](a *app, columns []column[T], item T) error {
	p := newPrinter(a, columns)
	switch a.flags.output {
	case outputJSON:
		return a.json(item)
	case outputCSV:
		if err := p.heads(); err != nil {
			return err
		}
		return p.rows([]T{item})
	}
	t := grid.New(grid.Column{}, grid.Column{})
	for i, cell := range p.cells(item) {
		if cell != "" {
			t.Add(strings.ToLower(columns[i].Head), cell)
		}
	}
	return t.Write(a.out, "")
}

func (a *app) json(v any) error {
	return encode(a.out, v, "  ")
}

// encode writes the JSON of a value. Its instants have the form of the API, of fixed width, so that
// their texts sort by time.
func encode(to io.Writer, v any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	out := text.Bytes()
	for _, t := range instantsOf(reflect.ValueOf(v), nil) {
		short, err := json.Marshal(t)
		if err != nil {
			return err
		}
		out = bytes.ReplaceAll(out, short, []byte(`"`+instant(t)+`"`))
	}
	_, err := to.Write(out)
	return err
}

// instantsOf returns all times of a value that its JSON could have, each once.
func instantsOf(v reflect.Value, found []time.Time) []time.Time {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			found = instantsOf(v.Elem(), found)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if !v.CanInterface() {
				return found // JSON does not have it.
			}
			if t := v.Interface().(time.Time); !t.IsZero() && !slices.Contains(found, t) {
				found = append(found, t)
			}
			return found
		}
		for i := range v.NumField() {
			found = instantsOf(v.Field(i), found)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			found = instantsOf(v.Index(i), found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			found = instantsOf(v.MapIndex(key), found)
		}
	}
	return found
}

// instantLayout is RFC 3339 with milliseconds, which is what the ledger keeps.
const instantLayout = "2006-01-02T15:04:05.000Z"

// instant writes a time, or nothing for the zero time.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(instantLayout)
}

// dayIn writes the day of a time in UTC, or nothing for the zero time.
func dayIn(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// amountText writes an amount with its currency, or nothing for the zero Amount.
func amountText(a money.Amount) string {
	if a == (money.Amount{}) {
		return ""
	}
	return a.String()
}

// readUnits and writeUnits write capacity units, which come in halves.
func readUnits(n float64) string  { return units(n, "read unit") }
func writeUnits(n float64) string { return units(n, "write unit") }

func units(n float64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " " + thing
}

// duration writes how long something took, in the unit that reads best.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// count writes a number of things with thousands set apart: "1,204 rows".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// pages are the flags of a list.
type pages struct {
	limit  int
	cursor string
	all    bool
}

func (p *pages) query() client.PageQuery {
	return client.PageQuery{Limit: p.limit, Cursor: p.cursor}
}
