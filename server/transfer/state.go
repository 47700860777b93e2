package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/internal/tempfile"
)

const stateVersion = 1

// state is the progress of a copy. The other side acknowledged everything that is recorded here.
type state struct {
	path  string
	mu    sync.Mutex
	kept  kept
	saved time.Time
}

// saveEvery is how much work is done twice at most when a copy is killed.
const saveEvery = 200 * time.Millisecond

type kept struct {
	Version  int
	From, To string
	Tables   map[string]*tableState
}

// tableState is how far a table is: a place in each of its segments.
type tableState struct {
	Segments  []segmentState
	Overwrite bool `json:",omitempty"`
}

type segmentState struct {
	Done  bool               `json:",omitempty"`
	After map[string]keyPart `json:",omitempty"` // the last key that was copied
	Items int64
}

// keyPart is the value of a key attribute: text or bytes, which JSON has in base64, since a string
// need not be what JSON calls one.
type keyPart struct {
	Type  string
	Value []byte
}

func partOf(v dynamo.Value) keyPart {
	p := keyPart{Type: v.Kind().String()}
	switch v.Kind() {
	case dynamo.KindS:
		p.Value = []byte(v.S())
	case dynamo.KindN:
		p.Value = []byte(v.N())
	case dynamo.KindB:
		p.Value = v.B()
	}
	return p
}

// value returns the value. It is absent if the type is not one of a key.
func (p keyPart) value() dynamo.Value {
	switch dynamo.KindOf(p.Type) {
	case dynamo.KindS:
		return dynamo.S(string(p.Value))
	case dynamo.KindN:
		return dynamo.N(string(p.Value))
	case dynamo.KindB:
		return dynamo.B(p.Value)
	}
	return dynamo.Value{}
}

// openState reads the file of an earlier run, or begins again.
func openState(opts Options) (*state, error) {
	s := &state{path: opts.State, kept: kept{
		Version: stateVersion, From: opts.From, To: opts.To, Tables: map[string]*tableState{},
	}}
	if s.path == "" {
		return s, nil
	}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil || !k.valid() {
		return nil, &StateError{File: s.path}
	}
	if k.From != opts.From || k.To != opts.To {
		return nil, &StateError{File: s.path, From: k.From, To: k.To}
	}
	s.kept = k
	return s, nil
}

// StateError reports a file that does not keep how far this copy is.
type StateError struct {
	File     string
	From, To string // the stores that it is about; empty when it is no such file at all
}

func (e *StateError) Error() string {
	if e.From == "" {
		return e.File + " is not a state file of a copy"
	}
	return fmt.Sprintf("%s is about a copy from %s to %s", e.File, e.From, e.To)
}

// valid reports whether a file was written by this program, as far as its values show.
func (k *kept) valid() bool {
	for _, t := range k.Tables {
		if t == nil || len(t.Segments) < 1 || len(t.Segments) > SegmentsMax {
			return false
		}
		for _, s := range t.Segments {
			for _, part := range s.After {
				if part.value().IsAbsent() {
					return false
				}
			}
		}
	}
	return k.Version == stateVersion && k.Tables != nil
}

func (s *state) table(name string) *tableState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.Tables[name]
}

func (s *state) begin(name string, segments int, overwrite bool) *tableState {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &tableState{Segments: make([]segmentState, segments), Overwrite: overwrite}
	s.kept.Tables[name] = t
	return t
}

func (t *tableState) items() int64 {
	n := int64(0)
	for _, s := range t.Segments {
		n += s.Items
	}
	return n
}

// place returns where a segment is to be read on, and whether it is done.
func (s *state) place(t *tableState, segment int) (after dynamo.Key, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := t.Segments[segment]
	if at.Done || at.After == nil {
		return nil, at.Done
	}
	after = make(dynamo.Key, len(at.After))
	for name, part := range at.After {
		after[name] = part.value()
	}
	return after, false
}

// advance notes that a page of a segment is copied, and writes it down now and then.
func (s *state) advance(t *tableState, segment int, last dynamo.Key, items int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := &t.Segments[segment]
	at.Items += int64(items)
	at.Done, at.After = last == nil, nil
	if last != nil {
		at.After = make(map[string]keyPart, len(last))
		for name, v := range last {
			at.After[name] = partOf(v)
		}
	}
	if time.Since(s.saved) < saveEvery {
		return nil
	}
	return s.replace()
}

// save writes everything down.
func (s *state) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replace()
}

// replace replaces the file as a whole, while the caller holds the lock.
func (s *state) replace() error {
	if s.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s.kept, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	const pattern = ".copy-*"
	tempfile.Clean(filepath.Dir(s.path), pattern, time.Hour) // Another copy may write one now.
	f, err := os.CreateTemp(filepath.Dir(s.path), pattern)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	s.saved = time.Now()
	return nil
}

// forget removes tables that are copied, and the file with the last of them.
func (s *state) forget(names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		delete(s.kept.Tables, name)
	}
	if s.path == "" || len(s.kept.Tables) > 0 {
		return s.replace()
	}
	err := os.Remove(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
