package singletable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The reasons why a write is refused. Test for them with errors.Is; the error itself is a
// [*WriteError] with details.
var (
	// ErrExists means that Create found an item with the same key.
	ErrExists = errors.New("the item exists already")
	// ErrMissing means that Update, Replace or Move found no item with that key.
	ErrMissing = errors.New("the item does not exist")
	// ErrConditionFailed means that a condition of the write was false. ErrExists, ErrMissing,
	// ErrChanged and ErrTaken are special cases and also match it.
	ErrConditionFailed = errors.New("a condition failed")
	// ErrChanged means that the version of the item is not the caller's.
	ErrChanged = errors.New("the item was changed concurrently")
	// ErrTaken means that a unique value belongs to another item.
	ErrTaken = errors.New("the value is taken")
	// ErrBusy means that the store refused the call because of throttling or conflicts until the
	// deadline or the budget for retries was exceeded. The write was not made and can be repeated.
	// ErrThrottled and ErrContended are its two cases and also match it.
	ErrBusy = errors.New("the store is busy")
	// ErrThrottled means that the store refused the call because of its rate until the retries
	// ended.
	ErrThrottled = errors.New("the store throttles calls")
	// ErrContended means that other writers changed the same items first until the retries ended.
	// [FailuresOf] returns the items.
	ErrContended = errors.New("too many concurrent writes to the same items")
	// ErrUnreachable means that the store did not answer, or returned only failures, for
	// [Retry].Outage. No call of this attempt succeeded. If a write may have been made before, the
	// error also matches ErrUnknown.
	ErrUnreachable = errors.New("the store cannot be reached")
	// ErrUnknown means that the store failed during a write that is not safe to repeat. The write
	// may or may not have been made.
	ErrUnknown = errors.New("it is unknown whether the write was made")
	// ErrTooLarge means that a transaction has more than 100 actions or 4 MB.
	ErrTooLarge = errors.New("the transaction is too large")
)

// FailureKind is the kind of failure of one action of a write.
type FailureKind string

// The kinds. Conflicts and throttling are transient; the others are not.
const (
	FailedCondition FailureKind = "condition"
	FailedConflict  FailureKind = "conflict"
	FailedThrottle  FailureKind = "throttled"
	FailedInvalid   FailureKind = "invalid"
)

// Failure describes why one action of a write failed. Use [Old] to decode the item as it was found.
type Failure struct {
	// Kind is the kind of failure. If conditions failed, only those are listed, because conflicts
	// at the same time would not have changed the result.
	Kind FailureKind
	// Reason is ErrExists, ErrMissing, ErrChanged, ErrTaken, or nil if none of them applies.
	Reason error
	// Actions are the handles that CreateTx and similar functions returned. There are several if
	// the kit merged the actions. It is nil for a write outside a transaction.
	Actions []Action
	// Verb is the attempted operation: create, put, replace, update, delete, check, reserve,
	// release.
	Verb string
	// Entity is the name of the entity, or of the unique value's lookup item.
	Entity string
	// Table and Key identify the item.
	Table string
	Key   dynamo.Key
	// Item is the item as it was found, or nil if it did not exist or the store did not return it.
	Item dynamo.Item
	// Message is the store's message.
	Message string
}

// WriteError reports a write that was not made.
type WriteError struct {
	// Failures has one entry for each failed action, in the order of the transaction.
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

// String describes the failure in one line.
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

// FailuresOf returns the failures of a [*WriteError] in err, or nil if there is none.
func FailuresOf(err error) []Failure {
	var w *WriteError
	if errors.As(err, &w) {
		return w.Failures
	}
	return nil
}

// ItemsOf returns the keys of the items for which a write failed, for an error message. It returns
// "an item" if the error names none.
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

// PartialKeyError reports an update that would leave an index key partly unknown.
type PartialKeyError struct {
	Entity, Index string
	// Changed are the attributes that the update changes. Missing are the other attributes of the
	// index's keys, which are unknown.
	Changed, Missing []string
	// Relative are those missing attributes that the update changes by an amount, so that their new
	// value is unknown.
	Relative []string
}

// Error names the index, the missing attributes and the two solutions.
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
	return fmt.Sprintf("update %s: %s: pass the item as you know it with WithKnown, or let the "+
		"kit read it with ReadFirst", e.Entity, why)
}

// keyText formats a key as its values, joined.
func keyText(k dynamo.Key) string {
	return dynamo.Item(k).String()
}

// StoreFailure returns the reason why the store has stopped, such as "no space left on device".
// failed reports whether the error means that. No call succeeds until the store is reopened, so
// such a call is never retried.
func StoreFailure(err error) (reason string, failed bool) {
	var e *dynamo.StoreFailedError
	if !errors.As(err, &e) {
		return "", false
	}
	return e.Reason(), true
}
