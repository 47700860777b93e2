package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// waitDelay is how long a cancelled command may keep its output open, through a child process,
// before it is abandoned.
const waitDelay = 5 * time.Second

// Runner is where sessions run. Each block has its own folder and data directory, which its
// commands share, and each command runs in a new shell.
type Runner struct {
	// Bin is the folder of the programs under test. It comes first in the commands' PATH.
	Bin string

	// Links are names that the commands find in their folder, each with the absolute path of its
	// target: files of the project that the session reads.
	Links map[string]string

	// MkdirTemp makes an empty folder that outlives the run: testing.T's TempDir.
	MkdirTemp func() string
}

// Difference is one command whose output differs from the page.
type Difference struct {
	Step Step
	Got  string
}

// String shows both sides, as they are and not as they were compared.
func (d Difference) String() string {
	return fmt.Sprintf("line %d: $ %s\nthe page says:\n%sthe command printed:\n%s",
		d.Step.Line, d.Step.Command, indent(d.Step.Want), indent(d.Got))
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// Verify runs every session of a page. It returns the commands whose output differs, and the page
// with their new output. An error means that a session could not be run, or that a command ended
// with an unexpected status.
func Verify(ctx context.Context, page string, r Runner) ([]Difference, string, error) {
	blocks, err := Parse(page)
	if err != nil {
		return nil, "", err
	}
	var different []Difference
	for _, block := range blocks {
		found, err := r.run(ctx, block)
		if err != nil {
			return nil, "", err
		}
		different = append(different, found...)
	}
	fresh, err := rewrite(page, different)
	return different, fresh, err
}

func (r Runner) run(ctx context.Context, block Block) ([]Difference, error) {
	dir := r.MkdirTemp()
	for name, target := range r.Links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	var different []Difference
	for i, step := range block.Steps {
		wantExit := 0
		if i == len(block.Steps)-1 {
			wantExit = block.Exit
		}
		got, exit, err := r.command(ctx, dir, step.Command)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: $ %s: %w", step.Line, step.Command, err)
		case exit != wantExit:
			return nil, fmt.Errorf("line %d: $ %s: exit status %d, want %d; it printed:\n%s",
				step.Line, step.Command, exit, wantExit, got)
		case !Agrees(step.Want, got):
			different = append(different, Difference{step, got})
		}
	}
	return different, nil
}

// command runs one command line and gives what it printed and its exit status.
func (r Runner) command(ctx context.Context, dir, line string) (string, int, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, r.environment(dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = waitDelay
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", 0, fmt.Errorf("%w; it printed:\n%s", ctx.Err(), out.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", 0, err
	}
	return out.String(), cmd.ProcessState.ExitCode(), nil
}

// environment is the caller's, without what would make the session come out differently here. The
// data directory is relative, so that a message which names it reads the same everywhere.
func (r Runner) environment(dir string) []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "EXCHEQUER_") {
			env = append(env, pair)
		}
	}
	return append(env,
		"PATH="+r.Bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"EXCHEQUER_DATA=data", "PWD="+dir, "HOME="+dir, "TZ=UTC",
		"TERM=dumb", "NO_COLOR=1", "COLUMNS=100")
}

// rewrite puts fresh output into a page, from the last difference to the first, so that the line
// numbers of those before stay right.
func rewrite(page string, different []Difference) (string, error) {
	lines := strings.Split(page, "\n")
	for i := len(different) - 1; i >= 0; i-- {
		d := different[i]
		var fresh []string
		for line := range strings.Lines(d.Got) {
			line = strings.TrimRight(line, " \t\r\n")
			if strings.HasPrefix(line, fence) || strings.HasPrefix(line, prompt) {
				return "", fmt.Errorf("line %d: $ %s: the page cannot hold the line %q of the output",
					d.Step.Line, d.Step.Command, line)
			}
			fresh = append(fresh, line)
		}
		lines = append(lines[:d.Step.first], append(fresh, lines[d.Step.last:]...)...)
	}
	return strings.Join(lines, "\n"), nil
}
