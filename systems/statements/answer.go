package statements

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// rereadable are the states in which the mapping can still be changed.
var rereadable = []UploadStatus{Uploaded, Parsed, Previewed, Failed, Reverted}

// forReading returns an upload whose reading may be changed.
func (p uploader) forReading(ctx context.Context, account, id string) (Account, Upload, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return Account{}, Upload{}, err
	}
	if !slices.Contains(rereadable, u.Status) || u.Hash == "" {
		return Account{}, Upload{}, ErrUploadState.With("status", u.Status).
			With("deed", "read anew")
	}
	if u.Status == Reverted {
		if err := p.nothingLeft(ctx, u); err != nil {
			return Account{}, Upload{}, err
		}
	}
	a, err := p.Account(ctx, account)
	return a, u, err
}

// nothingLeft returns ErrUploadState where an undo has left rows of an upload: they are found by
// the months that another reading would replace.
func (p uploader) nothingLeft(ctx context.Context, u Upload) error {
	return (&undoer{p: p.Person, upload: u}).each(ctx, func([]undoing) error {
		return ErrUploadState.With("status", u.Status).
			With("deed", "read anew before all of its rows are undone")
	})
}

// Answer answers questions of an upload by their topics and reads its file again. The topics are
// those of the questions, and AskEncoding, AskStatement and AskInvert whenever one likes, but not
// of one that is imported, or whose undo has left rows. The error is ErrInvalid, ErrNoUpload,
// ErrFileMissing, ErrChanged, ErrUploadState or ErrNoFiles.
func (p *Person) Answer(
	ctx context.Context, account, id string, answers map[bankfile.Topic]string,
) (Received, error) {
	a, u, err := p.files().forReading(ctx, account, id)
	if err != nil {
		return Received{}, err
	}
	before := u
	src, err := p.files().open(ctx, a, &u, reading{})
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return Received{}, err
	}
	var m bankfile.Mapping
	if src != nil {
		m = src.mapping
		defer src.close()
	}
	m.Version = bankfile.MappingVersion
	found, topics, valid := m, topicsInOrder(answers), true
	for _, topic := range topics {
		valid = answer(&u, &m, topic, answers[topic]) == nil && valid
	}
	if !valid {
		return Received{}, src.refused(a, before, found, topics, answers)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return Received{}, fmt.Errorf("mapping of upload %s: %w", id, err)
	}
	u.MappingText, u.Answered = string(text), true
	next, err := p.files().open(ctx, a, &u, reading{store: true})
	if src != nil && errors.Is(err, ErrUnreadable) {
		// An answer that the file contradicts is refused, and the upload stays as it was.
		return Received{}, cmp.Or(src.refused(a, before, found, topics, answers), err)
	}
	return p.files().keepReading(ctx, a, u, next, err)
}

// topicsInOrder are the topics of answers in the order in which they apply: the encoding first,
// because the names of columns depend on it.
func topicsInOrder(answers map[bankfile.Topic]string) []bankfile.Topic {
	topics := slices.Sorted(maps.Keys(answers))
	if i := slices.Index(topics, AskEncoding); i > 0 {
		topics = slices.Insert(slices.Delete(topics, i, i+1), 0, AskEncoding)
	}
	return topics
}

// refused returns which of some answers are invalid or contradicted by the file, nil if none is. A
// nil source is a file that cannot be read yet, which contradicts nothing.
func (s *source) refused(
	a Account, u Upload, m bankfile.Mapping, topics []bankfile.Topic,
	answers map[bankfile.Topic]string,
) error {
	var wrong problem.Fields
	for _, topic := range topics {
		if err := answer(&u, &m, topic, answers[topic]); err != nil {
			wrong.Add(string(topic), err.Error())
		} else if s != nil {
			if err := s.refuses(a, m); err != nil {
				wrong.Add(string(topic), whyOf(err))
			}
		}
	}
	return wrong.Err(ErrInvalid)
}

// answer puts one answer where it belongs.
func answer(u *Upload, m *bankfile.Mapping, topic bankfile.Topic, value string) error {
	switch topic {
	case AskStatement:
		if len(value) > bankfile.NameMax {
			return errors.New("is no account of the file")
		}
		u.Number = value
	case AskInvert:
		if value != "true" && value != "false" {
			return errors.New("must be true or false")
		}
		m.Invert, m.SignsGiven = value == "true", true
	case AskEncoding:
		encoding, ok := bankfile.ParseEncoding(value)
		if !ok {
			return fmt.Errorf("%q is not a supported encoding", book.ClipText(value, NameMax))
		}
		if m.Encoding != encoding {
			m.Columns = nil // Names of columns may have been read wrongly.
		}
		m.Encoding = encoding
	default:
		return m.Answer(topic, value)
	}
	return nil
}

// Remap replaces the mapping of an upload, and reads its file again. The errors are those of
// Answer.
func (p *Person) Remap(
	ctx context.Context, account, id string, mapping bankfile.Mapping,
) (Received, error) {
	a, u, err := p.files().forReading(ctx, account, id)
	if err != nil {
		return Received{}, err
	}
	text, err := json.Marshal(mapping)
	if err == nil {
		_, err = bankfile.ParseMapping(text)
	}
	if err != nil {
		return Received{}, ErrInvalid.Field("mapping", err.Error())
	}
	u.MappingText, u.Answered = string(text), true
	return p.files().readAnew(ctx, a, u)
}

// ConfirmMapping makes the account remember how an upload is read. A finished import does so by
// itself. The error is ErrNoUpload or ErrUploadState.
func (p *Person) ConfirmMapping(ctx context.Context, account, id string) (Account, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return Account{}, err
	}
	if u.Status == Uploaded || u.Status == Failed {
		return Account{}, ErrUploadState.With("status", u.Status).With("deed", "confirmed")
	}
	return p.files().remember(ctx, u)
}
