package transfer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const stateVersion = 1

// state is how far a copy is. What it says is done was acknowledged by the other side before it was
// written down.
type state struct {
	path string
	mu   sync.Mutex
	kept kept
}

type kept struct {
	Version  int
	From, To string
	Tables   map[string]*tableState
}

// tableState is how far a table is: a place in each of its segments.
type tableState struct {
	Segments []segmentState
}

type segmentState struct {
	Done  bool               `json:",omitempty"`
	After map[string]keyPart `json:",omitempty"` // the last key that was copied
	Items int64
}

// keyPart is the value of a key attribute. Numbers are text, binary is in base64.
type keyPart struct{ Type, Value string }

// openState reads the file of an earlier run, or begins anew.
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
	if err := json.Unmarshal(raw, &k); err != nil || k.Version != stateVersion || k.Tables == nil {
		return nil, fmt.Errorf("%s does not say how far a copy is: name another file, or delete it",
			s.path)
	}
	if k.From != opts.From || k.To != opts.To {
		return nil, fmt.Errorf("%s is about a copy from %s to %s: name another file, or delete it",
			s.path, k.From, k.To)
	}
	s.kept = k
	return s, nil
}

func (s *state) table(name string) *tableState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.Tables[name]
}

func (s *state) begin(name string, segments int) *tableState {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &tableState{Segments: make([]segmentState, segments)}
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
func (s *state) place(t *tableState, segment int) (dynamo.Key, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := t.Segments[segment]
	if at.Done || at.After == nil {
		return nil, at.Done, nil
	}
	key := dynamo.Key{}
	for name, part := range at.After {
		switch part.Type {
		case "S":
			key[name] = dynamo.S(part.Value)
		case "N":
			key[name] = dynamo.N(part.Value)
		case "B":
			b, err := base64.StdEncoding.DecodeString(part.Value)
			if err != nil {
				return nil, false, fmt.Errorf("%s is damaged: %w", s.path, err)
			}
			key[name] = dynamo.B(b)
		default:
			return nil, false, fmt.Errorf("%s is damaged: a key has the type %q", s.path, part.Type)
		}
	}
	return key, false, nil
}

// advance notes that a page of a segment is copied.
func (s *state) advance(t *tableState, segment int, last dynamo.Key, items int64) error {
	s.mu.Lock()
	at := &t.Segments[segment]
	at.Items += items
	at.Done, at.After = last == nil, nil
	if last != nil {
		at.After = map[string]keyPart{}
		for name, v := range last {
			part := keyPart{Type: v.Kind().String()}
			switch v.Kind() {
			case dynamo.KindS:
				part.Value = v.S()
			case dynamo.KindN:
				part.Value = v.N()
			default:
				part.Value = base64.StdEncoding.EncodeToString(v.B())
			}
			at.After[name] = part
		}
	}
	s.mu.Unlock()
	return s.save()
}

// save replaces the file as a whole.
func (s *state) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s.kept, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".copy-*")
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
	return nil
}

// remove takes the file away when all is copied.
func (s *state) remove() error {
	if s.path == "" {
		return nil
	}
	err := os.Remove(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
