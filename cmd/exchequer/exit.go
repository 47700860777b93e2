package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/problem"
)

// The exit statuses. Scripts branch on them, so a number never changes its meaning.
const (
	exitOK          = 0
	exitFailed      = 1   // something went wrong that is nobody's input
	exitUsage       = 2   // the command line, or what it was given, is not as it should be
	exitRefused     = 3   // a rule of the books forbids it, such as insufficient funds
	exitNotFound    = 4   // what was named does not exist
	exitConflict    = 5   // it contradicts what exists, such as a key used for something else
	exitUnavailable = 6   // the server or the store does not answer; try again
	exitForbidden   = 7   // the API key or token is missing, wrong, or may not do this
	exitDiffers     = 8   // a comparison found a difference, which is named
	exitUndecided   = 9   // a check found nothing, but could not compare everything
	exitStoreFailed = 10  // the disk of the store failed, or its files are damaged
	exitHeld        = 11  // not all was done, because other processes hold the rest
	exitStopped     = 130 // interrupted; what was done stays done
)

// exitStatuses explains the statuses in the help text.
const exitStatuses = `  0    done
  1    failed: something went wrong that is nobody's input
  2    usage: the command line, or what it was given, is not as it should be
  3    refused: a rule of the books forbids it, such as insufficient funds
  4    not found: what was named does not exist
  5    conflict: it contradicts what exists, such as a key used for something else
  6    unavailable: the server or the store does not answer
  7    forbidden: the API key or token is missing, wrong, or may not do this
  8    differs: a comparison found a difference, such as books that do not balance
  9    undecided: a check found nothing wrong, but could not compare everything
  10   store failed: its disk is full or broken, or its files are damaged
  11   held: not all was done, because other processes hold the rest for a time
  130  stopped by a signal; what was done stays done`

// exits returns which status ends a command that met a problem.
var exits = map[problem.Kind]int{
	problem.Invalid:         exitUsage,
	problem.TooLarge:        exitUsage,
	problem.Unauthenticated: exitForbidden,
	problem.Forbidden:       exitForbidden,
	problem.NotFound:        exitNotFound,
	problem.Conflict:        exitConflict,
	problem.Changed:         exitConflict,
	problem.Refused:         exitRefused,
	problem.Throttled:       exitUnavailable,
	problem.Unavailable:     exitUnavailable,
	problem.Internal:        exitFailed,
}

// exitsOf are the statuses of problems with which a command ends that compares what it did: the
// comparison found a difference, so its status is that of every check, not that of the kind.
var exitsOf = map[problem.Code]int{
	"payment_day_incomplete": exitDiffers,
	"payment_copy_differs":   exitDiffers,
}

// hints replace what the API suggests where the command line has a word of its own for it.
var hints = map[problem.Code]string{
	"api_key_missing": "Give --api-key, or set EXCHEQUER_API_KEY",
	"api_key_invalid": "Check --api-key or EXCHEQUER_API_KEY: the key must be complete, and neither " +
		"revoked nor expired",
	"token_missing":          "Give --token, or an --api-key that is bound to a person",
	"token_not_allowed":      "Give --api-key in place of --token",
	"api_key_without_person": "exchequer keys create --user, with the person's subject",
	"server_unreachable":     "Check that it runs, and give the same command with the same --key again",
	"table_not_found":        "exchequer tables list",
	"pattern_not_found":      "exchequer patterns list",
	"pattern_input_invalid":  "exchequer patterns show, for the inputs and their types",
	"api_key_not_found":      "exchequer keys list",
}

// failure is an error of the command line itself.
type failure struct {
	exit   int
	text   string
	try    string
	silent bool // everything is said already
}

func (f *failure) Error() string { return f.text }

// usagef returns an error about the command line.
func usagef(try, format string, args ...any) error {
	return &failure{exit: exitUsage, text: fmt.Sprintf(format, args...), try: try}
}

// undecided returns how a check ends that found nothing, but could not compare everything.
func undecided(question string, open int, noun, command string) error {
	return &failure{
		exit: exitUndecided,
		text: fmt.Sprintf("It is not decided %s: %s could not be compared", question,
			count(open, noun)),
		try: command + ", once more",
	}
}

// exitOf returns the status that an error ends the program with.
func exitOf(err error) int {
	var (
		f     *failure
		file  *bulk.FileError
		inUse *engine.InUseError
		e     *problem.Error
	)
	var failed *dynamo.StoreFailedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		return exitStoreFailed
	case errors.As(err, &f):
		return f.exit
	case errors.As(err, &inUse), dynamo.Retryable(err):
		return exitUnavailable
	case errors.As(err, &file), errors.Is(err, os.ErrNotExist):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitStopped
	case errors.As(err, &e) && e.Code == codeStoreFailed:
		return exitStoreFailed
	case errors.As(err, &e):
		if exit, known := exitsOf[e.Code]; known {
			return exit
		}
		if exit, known := exits[e.Kind]; known {
			return exit
		}
	}
	return exitFailed
}

// explain writes an error for a person, or for a program that reads JSON: what is wrong, each wrong
// field, and what to try next.
func (a *app) explain(err error) {
	var f *failure
	if errors.As(err, &f) && f.silent {
		return
	}
	if a.flags.output == outputJSON {
		a.explainJSON(err)
		return
	}
	var text strings.Builder
	sentence, try, fields := describe(err)
	if exitOf(err) == exitUnavailable && a.flags.store == storeDynamoDB && a.flags.server == "" &&
		!strings.Contains(sentence, a.flags.endpoint) {
		sentence += " (" + a.place("") + ")" // An answer that breaks off does not name its address.
	}
	fmt.Fprintf(&text, "exchequer: %s\n", grid.Plain(sentence))
	for _, field := range fields {
		fmt.Fprintf(&text, "  %s\n", grid.Plain(field.String()))
	}
	if try != "" {
		fmt.Fprintf(&text, "try: %s\n", grid.Plain(try))
	}
	fmt.Fprint(a.err, text.String())
}

// describe takes an error apart.
func describe(err error) (sentence, try string, fields problem.Fields) {
	var (
		f     *failure
		file  *bulk.FileError
		at    *bulk.RowError
		inUse *engine.InUseError
		e     *problem.Error
	)
	var failed *dynamo.StoreFailedError
	switch {
	case errors.As(err, &failed):
		return describeFailed(failed)
	case errors.As(err, &f):
		return f.text, f.try, nil
	case errors.As(err, &inUse):
		return heldBy(inUse), "--server with its address if it is a server, or another --data", nil
	case dynamo.Retryable(err):
		return "The store does not answer: " + err.Error(),
			"Check --endpoint and --region, and that it runs", nil
	case errors.Is(err, engine.ErrNewerFormat):
		return err.Error(), "a newer version of exchequer", nil
	case errors.Is(err, engine.ErrOlderFormat):
		return err.Error(), "the version that wrote it to export the tables, and import them here", nil
	case errors.As(err, &file):
		return file.Error(), file.Try, nil
	case errors.Is(err, context.Canceled):
		return "Stopped", "", nil
	case errors.As(err, &e):
		sentence, try = e.Sentence, e.Hint
		if own, ok := hints[e.Code]; ok {
			try = own
		}
		if errors.As(err, &at) {
			sentence = fmt.Sprintf("line %d: %s", at.Line, sentence)
		}
		if cause := errors.Unwrap(e); cause != nil && e.Kind != problem.Invalid {
			sentence += ": " + cause.Error()
		}
		return sentence, try, wrongFields(e)
	}
	return err.Error(), "", nil
}

// codeStoreFailed is the problem of a request to a store that has failed.
const codeStoreFailed = "store_failed"

// describeFailed explains a store that has failed.
func describeFailed(e *dynamo.StoreFailedError) (sentence, try string, fields problem.Fields) {
	if damaged, ok := errors.AsType[*engine.DamagedError](e.Cause); ok {
		return fmt.Sprintf("The database in %s cannot be used: %v", e.Store, damaged),
			"restore a copy of the directory; docs/copy.md shows how to make one", nil
	}
	return fmt.Sprintf("The database in %s cannot be used: %v", e.Store, e.Cause),
		"Free space or repair the disk, then give the same command again", nil
}

// wrongFields returns what the sentence of a problem does not say already: of a request that cannot
// be understood, which parts are wrong.
func wrongFields(e *problem.Error) problem.Fields {
	if e.Kind != problem.Invalid {
		return nil
	}
	return e.Fields
}

// heldBy names the process that has the data directory open.
func heldBy(e *engine.InUseError) string {
	if e.PID == 0 {
		return fmt.Sprintf("The data directory %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("The data directory %s is in use by process %d (%s)",
		e.Dir, e.PID, e.Program)
}

// explainJSON writes an error as one JSON object: the problem that it is, or one made up for it.
func (a *app) explainJSON(err error) {
	var e *problem.Error
	if !errors.As(err, &e) {
		sentence, try, _ := describe(err)
		e = &problem.Error{
			Kind: problem.Internal, Code: problem.CodeInternal, Sentence: sentence, Hint: try,
		}
		switch exitOf(err) {
		case exitUsage:
			e.Kind, e.Code = problem.Invalid, "usage"
		case exitUnavailable:
			e.Kind, e.Code = problem.Unavailable, "unavailable"
		case exitStoreFailed:
			e.Kind, e.Code = problem.Unavailable, codeStoreFailed
		}
	}
	text, failed := json.Marshal(e)
	if failed != nil {
		text = []byte(failed.Error())
	}
	fmt.Fprintf(a.err, "%s\n", text)
}
