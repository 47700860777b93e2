package singletable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// What a write or a cursor can be refused for. Ask with errors.Is; the error itself is a
// [*WriteError], [*CursorError], ... that tells more.
var (
	// ErrExists means that Create found an item with the same key.
	ErrExists = errors.New("the item exists already")
	// ErrMissing means that Update, Replace or Move found no item with that key.
	ErrMissing = errors.New("there is no such item")
	// ErrConditionFailed means that a condition of the write did not hold. ErrExists, ErrMissing,
	// ErrChanged and ErrTaken are special cases, and match this one too.
	ErrConditionFailed = errors.New("a condition does not hold")
	// ErrChanged means that the item has another version than the caller's.
	ErrChanged = errors.New("the item was changed by someone else")
	// ErrTaken means that a unique value belongs to another item.
	ErrTaken = errors.New("the value is taken")
	// ErrBusy means that the store kept throttling or conflicting until the time or the budget
	// for retries was used up. The write did not happen and may be tried again. ErrThrottled and
	// ErrContended are its two cases, and match this one too.
	ErrBusy = errors.New("the store is busy")
	// ErrThrottled means that the store refused the call for its rate until the retries ended.
	ErrThrottled = errors.New("the store refuses calls for their rate")
	// ErrContended means that other writers of the same items were faster until the retries
	// ended. [FailuresOf] names the items.
	ErrContended = errors.New("other writers want the same items")
	// ErrUnreachable means that the store did not answer, or answered only that it failed, for
	// [Retry].Outage. No call of this attempt succeeded; if a write may have happened before, the
	// error matches ErrUnknown too.
	ErrUnreachable = errors.New("the store cannot be reached")
	// ErrUnknown means that the store failed in the middle of a write that is not safe to repeat:
	// it may have happened or not.
	ErrUnknown = errors.New("it is not known whether the write happened")
	// ErrTooLarge means that a transaction has more than 100 actions or 4 MB.
	ErrTooLarge = errors.New("the transaction is too large")
)

// FailureKind says why one action of a write failed.
type FailureKind string

// The kinds. A conflict and a throttle pass; the others do not.
const (
	FailedCondition FailureKind = "condition"
	FailedConflict  FailureKind = "conflict"
	FailedThrottle  FailureKind = "throttled"
	FailedInvalid   FailureKind = "invalid"
)

// Failure says why one action of a write failed. Use [Old] to decode the item as it was found.
type Failure struct {
	// Kind is the sort of failure. When conditions failed, only those are listed: conflicts
	// met at the same time would not have changed the outcome.
	Kind FailureKind
	// Reason is ErrExists, ErrMissing, ErrChanged, ErrTaken, or nil when none of them fits.
	Reason error
	// Actions are the handles that CreateTx and the others returned; several when the kit merged
	// them into one. Nil for a write outside a transaction.
	Actions []Action
	// Verb is what was tried: create, put, replace, update, delete, check, reserve, release.
	Verb string
	// Entity is the name of the entity, or of the unique value's lookup item.
	Entity string
	// Table and Key say which item it was.
	Table string
	Key   dynamo.Key
	// Item is the item as it was found; nil when there was none or the store did not say.
	Item dynamo.Item
	// Message is the store's own.
	Message string
}

// WriteError is a write that did not happen, and why.
type WriteError struct {
	// Failures has one entry for each action to blame, in the order of the transaction.
	Failures []Failure
	cause    error
}

// Error lists the failures.
func (e *WriteError) Error() string {
	lines := make([]string, len(e.Failures))
	for i, f := range e.Failures {
		lines[i] = f.String()
	}
	return strings.Join(lines, "; ")
}

// String tells the failure in one line.
func (f Failure) String() string {
	why := string(f.Kind)
	switch {
	case f.Reason != nil:
		why = f.Reason.Error()
	case f.Kind == FailedCondition:
		why = ErrConditionFailed.Error()
	case f.Message != "":
		why += ": " + f.Message
	}
	return fmt.Sprintf("%s %s %s: %s", f.Verb, f.Entity, keyText(f.Key), why)
}

// Unwrap returns the store's error.
func (e *WriteError) Unwrap() error { return e.cause }

// Is reports whether a failure has target as its reason.
func (e *WriteError) Is(target error) bool {
	for _, f := range e.Failures {
		if f.Reason == target && target != nil {
			return true
		}
		if f.Kind == FailedCondition && target == ErrConditionFailed {
			return true
		}
	}
	return false
}

// FailuresOf returns the failures that err carries, or nil when it is no [*WriteError].
func FailuresOf(err error) []Failure {
	var w *WriteError
	if errors.As(err, &w) {
		return w.Failures
	}
	return nil
}

// ItemsOf names the items for which a write failed, each by its key, for the sentence of an error.
// It returns "an item" where the error names none.
func ItemsOf(err error) string {
	var names []string
	for _, f := range FailuresOf(err) {
		if name := keyText(f.Key); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return "an item"
	}
	return strings.Join(names, ", ")
}

// PartialKeyError is an update that would leave an index key half known.
type PartialKeyError struct {
	Entity, Index string
	// Changed are the attributes that the update changes, Missing those that the index's keys
	// are made of as well and that the kit does not know.
	Changed, Missing []string
	// Relative are those of the missing attributes that the update changes by an amount, so that
	// their new value is not known.
	Relative []string
}

// Error names the index, the missing attributes and the two cures.
func (e *PartialKeyError) Error() string {
	changed, missing := strings.Join(e.Changed, ", "), strings.Join(e.Missing, ", ")
	var why string
	switch {
	case len(e.Relative) > 0 && len(e.Relative) == len(e.Missing):
		why = fmt.Sprintf("%s is changed by an amount, and the key of index %s needs its new value",
			strings.Join(e.Relative, ", "), e.Index)
	case len(e.Relative) > 0:
		why = fmt.Sprintf("%s feeds index %s, whose key needs %s, of which %s is changed by an "+
			"amount", changed, e.Index, missing, strings.Join(e.Relative, ", "))
	case changed == "":
		why = fmt.Sprintf("it may create the item, and the key of index %s needs %s", e.Index,
			missing)
	default:
		why = fmt.Sprintf("%s feeds index %s, whose key also needs %s", changed, e.Index, missing)
	}
	return fmt.Sprintf("update %s: %s: give the item as you know it with WithKnown, or let the kit "+
		"read it with ReadFirst", e.Entity, why)
}

// MissingPartError is a key that cannot be made because a field it needs is empty.
type MissingPartError struct {
	Entity string
	// Index is empty for the table's own key.
	Index string
	// Template is the key's template, Field the attribute that is empty or absent.
	Template, Field string
}

// Error names the template and the field.
func (e *MissingPartError) Error() string {
	where := "key"
	if e.Index != "" {
		where = "key of index " + e.Index
	}
	return fmt.Sprintf("%s: %s %q needs %s, which is empty", e.Entity, where, e.Template, e.Field)
}

// keyText shows a key as its values, joined.
func keyText(k dynamo.Key) string {
	return dynamo.Item(k).String()
}

// StoreFailure returns the reason why the store has stopped, such as "no space left on device", if
// that is what an error means. No call succeeds until the store is opened again, so
// such a call is never retried.
func StoreFailure(err error) (reason string, failed bool) {
	var e *dynamo.StoreFailedError
	if !errors.As(err, &e) {
		return "", false
	}
	return e.Reason(), true
}
