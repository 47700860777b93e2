package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
)

// dialogue asks the person at the terminal, if there is one.
type dialogue struct {
	app   *app
	there bool
	in    *bufio.Reader
}

// newDialogue begins to ask. Nobody is there to answer where standard input is no terminal.
func (a *app) newDialogue() *dialogue {
	file, ok := a.in.(*os.File)
	return &dialogue{app: a, there: ok && isTerminal(file) && !isNull(file),
		in: bufio.NewReader(a.in)}
}

// isNull reports whether a file is the null device, which is a device of characters like a terminal
// and has another name as standard input.
func isNull(f *os.File) bool {
	own, err := f.Stat()
	null, bad := os.Stat(os.DevNull)
	return err == nil && bad == nil && os.SameFile(own, null)
}

// say writes a line to whoever answers.
func (d *dialogue) say(format string, args ...any) {
	fmt.Fprintln(d.app.err, grid.Plain(fmt.Sprintf(format, args...)))
}

// answer reads a line. An interrupt ends the waiting for it.
func (d *dialogue) answer(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(d.app.err, grid.Plain(prompt)+" ")
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := d.in.ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(d.app.err)
		return "", context.Cause(ctx)
	case l := <-read:
		if l.err == io.EOF && l.text != "" {
			l.err = nil
		}
		if l.err == io.EOF {
			fmt.Fprintln(d.app.err)
			return "", &failure{exit: exitStopped, text: "Stopped: there was no answer"}
		}
		return strings.TrimSpace(l.text), l.err
	}
}

// choose asks for one of some values, by its number or itself. The first one is the likeliest.
func (d *dialogue) choose(ctx context.Context, values []string) (string, error) {
	for {
		text, err := d.answer(ctx, fmt.Sprintf("1 to %d, or enter for 1:", len(values)))
		if err != nil {
			return "", err
		}
		if text == "" {
			return values[0], nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(values) {
			return values[n-1], nil
		}
		for _, value := range values {
			if strings.EqualFold(value, text) {
				return value, nil
			}
		}
		d.say("%q is none of them", text)
	}
}

// agree asks a question whose answer is yes or no. Enter means no.
func (d *dialogue) agree(ctx context.Context, question string) (bool, error) {
	for {
		text, err := d.answer(ctx, question+" [y/N]")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
		d.say("y for yes, n for no")
	}
}
