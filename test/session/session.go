// Package session keeps the terminal sessions on a page true: it runs them again and compares.
//
// A session is a fenced block of Markdown whose info string begins with "console". In it a line
// that starts with "$ " is a command and the lines under it are what the command printed, standard
// output and standard error together, as a terminal shows them:
//
//	```console
//	$ exchequer version
//	exchequer 1.0
//	```
//
// A command that ends in a backslash continues in the next line, which may start with "> ". A line
// of three dots matches any number of lines. Every command has to succeed, except that the last one
// of a block marked "console exit=3" has to end with that status.
//
// Values that differ from run to run (times, durations, ids, the width of columns) are removed from
// both sides before they are compared; see Normalise. Verify also returns the page with the new
// output, for a test that updates the page. Output that still agrees is not changed on the page.
package session

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Block is one session of a page.
type Block struct {
	Line  int // of the opening fence, from 1
	Exit  int // status with which the last command has to end
	Steps []Step
}

// Step is one command and its output on the page.
type Step struct {
	Line    int // of the command, from 1
	Command string
	Want    string // ends in a newline unless it is empty

	first, last int // the lines of Want are [first, last) in the page, from 0
}

const (
	fence    = "```"
	prompt   = "$ "
	more     = "> "
	ellipsis = "..."
)

var exitStatus = regexp.MustCompile(`^exit=(\d{1,3})$`)

// Parse finds the sessions of a page. A page without any is an error, since the caller means to
// check something; so is a block without a command, or one that is never closed.
func Parse(page string) ([]Block, error) {
	lines := strings.Split(page, "\n")
	var blocks []Block
	for i := 0; i < len(lines); i++ {
		info, ok := strings.CutPrefix(lines[i], fence)
		if !ok {
			continue
		}
		length := slices.Index(lines[i+1:], fence)
		if length < 0 {
			return nil, fmt.Errorf("line %d: the block is never closed", i+1)
		}
		words := strings.Fields(info)
		if len(words) > 0 && words[0] == "console" {
			block, err := parseBlock(lines, i, i+1+length, words[1:])
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, block)
		}
		i += 1 + length
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("the page has no %sconsole block", fence)
	}
	return blocks, nil
}

// parseBlock reads the lines between an opening fence and the line that closes it.
func parseBlock(lines []string, open, end int, attributes []string) (Block, error) {
	block := Block{Line: open + 1}
	for _, a := range attributes {
		m := exitStatus.FindStringSubmatch(a)
		if m == nil {
			return Block{}, fmt.Errorf("line %d: unknown attribute %q", open+1, a)
		}
		block.Exit, _ = strconv.Atoi(m[1]) // three digits at most: cannot fail
	}
	for i := open + 1; i < end; {
		command, ok := strings.CutPrefix(lines[i], prompt)
		if !ok {
			return Block{}, fmt.Errorf("line %d: output before the first command", i+1)
		}
		step := Step{Line: i + 1}
		for i++; strings.HasSuffix(command, `\`); i++ {
			if i == end {
				err := fmt.Errorf("line %d: the command goes on after the block", step.Line)
				return Block{}, err
			}
			command += "\n" + strings.TrimPrefix(lines[i], more)
		}
		step.Command, step.first = command, i
		for i < end && !strings.HasPrefix(lines[i], prompt) {
			i++
		}
		step.last = i
		step.Want = joinLines(lines[step.first:step.last])
		block.Steps = append(block.Steps, step)
	}
	if len(block.Steps) == 0 {
		return Block{}, fmt.Errorf("line %d: the block has no command", open+1)
	}
	return block, nil
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// volatile lists what Normalise takes out, in order: a time before the date in it, an id before the
// digits in it.
var volatile = []struct {
	pattern *regexp.Regexp
	stand   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "<time>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "<date>"},
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`), "<id>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(…|\.\.\.)`), "<id>"},
	{regexp.MustCompile(`[-=─━]{2,}`), "<rule>"},
	{regexp.MustCompile(`[A-Za-z0-9_-]{40,}={0,2}`), "<token>"},
	{regexp.MustCompile(`\b(127\.0\.0\.1|localhost|\[::1\]):\d+`), "<address>"},
	{regexp.MustCompile(`\b\d[\d,.]*\s?(/s|per second)\b`), "<rate>"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d[\d,.]*\s?(ns|µs|μs|us|ms|s)\b`), "<duration>"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// Normalise replaces what differs between two good runs: times and dates, UUIDs, ULIDs and other
// long tokens, addresses with a port, durations and rates; and it evens out what follows from
// these, the padding of columns and the length of rules.
func Normalise(output string) string {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		for _, v := range volatile {
			line = v.pattern.ReplaceAllString(line, v.stand)
		}
		lines[i] = strings.TrimSpace(line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Agrees reports whether an output equals that on the page, after Normalise.
func Agrees(want, got string) bool {
	return agree(strings.Split(Normalise(want), "\n"), strings.Split(Normalise(got), "\n"))
}

// agree compares line by line; three dots in want match any number of lines.
func agree(want, got []string) bool {
	for len(want) > 0 && want[0] != ellipsis {
		if len(got) == 0 || want[0] != got[0] {
			return false
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		return len(got) == 0
	}
	for skip := range len(got) + 1 {
		if agree(want[1:], got[skip:]) {
			return true
		}
	}
	return false
}
