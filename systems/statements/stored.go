package statements

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"sync"
)

// Sweeper is a Files that can remove everything below a folder of keys, half written files
// included. Erasure uses it where there is one.
type Sweeper interface {
	Sweep(ctx context.Context, folder string) error
}

// stored opens the file of an upload and compares it with what was uploaded, byte for byte by its
// SHA-256. The error is ErrNoFiles, ErrFileMissing or ErrFileDamaged.
func (p uploader) stored(ctx context.Context, u *Upload) (File, error) {
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
	verified, err := u.verify(ctx, file)
	if err != nil {
		_ = file.Close() // It was only read.
		return nil, err
	}
	return verified, nil
}

// verify compares a file with the size and the hash of its upload, and returns a File that has only
// the bytes that were compared. An upload that another program wrote may have no hash.
func (u *Upload) verify(ctx context.Context, file File) (File, error) {
	if err := u.verifySize(file); err != nil || u.Hash == "" {
		return file, err
	}
	v := &verifiedFile{File: file, upload: u, seed: maphash.MakeSeed(), at: -1}
	sum := sha256.New()
	block := make([]byte, blockSize)
	for from := int64(0); from < file.Size(); from += blockSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := v.readBlock(block, from)
		if err != nil {
			return nil, err
		}
		sum.Write(block[:n])
		v.blocks = append(v.blocks, maphash.Bytes(v.seed, block[:n]))
	}
	return v, u.verifySum(hex.EncodeToString(sum.Sum(nil)))
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
	return ErrFileDamaged.With("upload", u.ID).With("reason", fmt.Sprintf(format, args...))
}

// blockSize is how many bytes of a file are compared together.
const blockSize = 64 << 10

// verifiedFile is a file whose SHA-256 is that of its upload. Files are read several times, and an
// object may be replaced or damaged between two readings, so each block that is read again must be
// the one that was hashed.
type verifiedFile struct {
	File
	upload *Upload
	seed   maphash.Seed
	blocks []uint64

	mu    sync.Mutex
	block []byte // The last one that was read.
	at    int64  // Its number, or -1.
}

// ReadAt is io.ReaderAt. The error is ErrFileDamaged if the file has changed.
func (v *verifiedFile) ReadAt(p []byte, from int64) (n int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if from < 0 {
		return 0, errors.New("read before the beginning of a file")
	}
	for n < len(p) {
		if from >= v.Size() {
			return n, io.EOF
		}
		if err := v.load(from / blockSize); err != nil {
			return n, err
		}
		copied := copy(p[n:], v.block[from%blockSize:])
		n, from = n+copied, from+int64(copied)
	}
	return n, nil
}

// load makes a block the one that is read.
func (v *verifiedFile) load(number int64) error {
	if v.at == number {
		return nil
	}
	v.at = -1
	if v.block == nil {
		v.block = make([]byte, blockSize)
	}
	n, err := v.readBlock(v.block[:blockSize], number*blockSize)
	if err != nil {
		return err
	}
	v.block = v.block[:n]
	if maphash.Bytes(v.seed, v.block) != v.blocks[number] {
		return v.upload.damaged("it was replaced while it was read")
	}
	v.at = number
	return nil
}

// readBlock reads the block that begins at a place, which is shorter at the end of the file.
func (v *verifiedFile) readBlock(block []byte, from int64) (int, error) {
	block = block[:min(int64(len(block)), v.Size()-from)]
	n, err := v.File.ReadAt(block, from)
	switch {
	case n == len(block):
		return n, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return n, v.upload.damaged("it ends after %d bytes of %d", from+int64(n), v.Size())
	}
	return n, fmt.Errorf("read file of upload %s: %w", v.upload.ID, err)
}

// intact reports whether the file of an upload is there as it was uploaded.
func (p uploader) intact(ctx context.Context, u *Upload) (bool, error) {
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
func (p uploader) repairFile(ctx context.Context, u *Upload, body io.Reader) error {
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
func (p uploader) folderOf(parts ...string) string {
	keys := []string{"uploads", keyPart(p.id)}
	for _, part := range parts {
		keys = append(keys, keyPart(part))
	}
	return strings.Join(keys, "/")
}

// sweep removes everything in a folder of files, where the place for files can do that.
func (p uploader) sweep(ctx context.Context, folder string) error {
	s, ok := p.books.opts.Files.(Sweeper)
	if !ok {
		return nil
	}
	if err := s.Sweep(ctx, folder); err != nil {
		return fmt.Errorf("erase files: %w", err)
	}
	return nil
}
