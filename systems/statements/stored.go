package statements

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Sweeper is a Files that can remove everything below a folder of keys, half written files
// included. Erasure uses it where there is one.
type Sweeper interface {
	Sweep(ctx context.Context, folder string) error
}

// stored opens the file of an upload and compares it with what was uploaded, byte for byte by its
// SHA-256. The error is ErrNoFiles, ErrFileMissing or ErrFileDamaged.
func (p *Person) stored(ctx context.Context, u *Upload) (File, error) {
	if p.books.opts.Files == nil {
		return nil, ErrNoFiles
	}
	if u.FileGone || u.FileKey == "" {
		return nil, ErrFileMissing
	}
	file, err := p.books.opts.Files.Open(ctx, u.FileKey)
	if err != nil {
		return nil, fmt.Errorf("open file of upload %s: %w", u.ID, err)
	}
	if err := u.verify(ctx, file); err != nil {
		_ = file.Close() // It was only read.
		return nil, err
	}
	return file, nil
}

// verify compares a file with the size and the hash of its upload. An upload that another program
// wrote may have neither.
func (u *Upload) verify(ctx context.Context, file File) error {
	if err := u.verifySize(file); err != nil || u.Hash == "" {
		return err
	}
	sum := sha256.New()
	whole := io.NewSectionReader(file, 0, file.Size())
	if _, err := io.Copy(sum, &ended{ctx, whole}); err != nil {
		return fmt.Errorf("read file of upload %s: %w", u.ID, err)
	}
	return u.verifySum(hex.EncodeToString(sum.Sum(nil)))
}

func (u *Upload) verifySize(file File) error {
	if u.Hash == "" || file.Size() == u.Size {
		return nil
	}
	return u.damaged("it has %d bytes of %d", file.Size(), u.Size)
}

func (u *Upload) verifySum(sum string) error {
	if sum == u.Hash {
		return nil
	}
	return u.damaged("its SHA-256 is %s, not %s", sum, u.Hash)
}

func (u *Upload) damaged(format string, args ...any) error {
	return ErrFileDamaged.With("upload", u.ID).With("why", fmt.Sprintf(format, args...))
}

// ended is a reader that ends with a context.
type ended struct {
	ctx context.Context
	r   io.Reader
}

// Read reads on while the context holds.
func (e *ended) Read(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(b)
}

// intact reports whether the file of an upload is there as it was uploaded.
func (p *Person) intact(ctx context.Context, u *Upload) (bool, error) {
	file, err := p.stored(ctx, u)
	if errors.Is(err, ErrFileMissing) || errors.Is(err, ErrFileDamaged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// repairFile writes the file of an upload again, if a body is what was uploaded.
func (p *Person) repairFile(ctx context.Context, u *Upload, body io.Reader) error {
	sum := sha256.New()
	same := &confirming{r: io.TeeReader(newMeasured(body), sum),
		confirm: func() error {
			if hex.EncodeToString(sum.Sum(nil)) != u.Hash {
				return keyUsed(u.ID, "file")
			}
			return nil
		}}
	if err := p.books.opts.Files.Put(ctx, u.FileKey, same); err != nil {
		if errors.Is(err, ErrKeyUsed) {
			return refusalOf(err)
		}
		return fmt.Errorf("write file of upload %s again: %w", u.ID, err)
	}
	return nil
}

// confirming is a reader whose end is an error unless what was read is confirmed, so that a Put of
// it keeps nothing.
type confirming struct {
	r       io.Reader
	confirm func() error
}

// Read reads on.
func (c *confirming) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if errors.Is(err, io.EOF) {
		if wrong := c.confirm(); wrong != nil {
			return n, wrong
		}
	}
	return n, err
}

// folderOf is the folder of all files of a user; with an account, of those of that account; with an
// upload too, of those of that upload.
func (p *Person) folderOf(parts ...string) string {
	keys := []string{"uploads", keyPart(p.id)}
	for _, part := range parts {
		keys = append(keys, keyPart(part))
	}
	return strings.Join(keys, "/")
}

// sweep removes everything in a folder of files, where the place for files can do that.
func (p *Person) sweep(ctx context.Context, folder string) error {
	s, ok := p.books.opts.Files.(Sweeper)
	if !ok {
		return nil
	}
	if err := s.Sweep(ctx, folder); err != nil {
		return fmt.Errorf("erase files: %w", err)
	}
	return nil
}
