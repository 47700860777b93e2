package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// The service's own headers, in the canonical form of net/http, because other forms would be
// converted for every response.
const (
	headerRequestID = "X-Amzn-Requestid"
	headerChecksum  = "X-Amz-Crc32"
)

const contentType = "application/x-amz-json-1.0"

// compressAbove is the size above which a response is compressed if the client accepts it. Below
// it, compression costs more than it saves.
const compressAbove = 4 << 10

// send writes a response with its checksum, which is computed over the bytes as they are sent.
func (h *Handler) send(w http.ResponseWriter, req *http.Request, status int, body []byte) {
	header := w.Header()
	if len(body) > compressAbove {
		// The checksum is computed after this, because clients verify the bytes that they received.
		if packed, coding := compress(req.Header.Get("Accept-Encoding"), body); coding != "" {
			header.Set("Content-Encoding", coding)
			body = packed.Bytes()
			defer packedBuffers.Put(packed)
		}
	}
	// One array for three header values saves two allocations per response.
	values := [3]string{
		contentType,
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10),
		strconv.Itoa(len(body)),
	}
	header["Content-Type"] = values[0:1:1]
	header[headerChecksum] = values[1:2:2]
	header["Content-Length"] = values[2:3:3]
	w.WriteHeader(status)
	w.Write(body) // an error means that the client is gone
}

var (
	packedBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	gzipWriters   = sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		return w
	}}
	zlibWriters = sync.Pool{New: func() any {
		w, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
		return w
	}}
)

// packer is the common interface of both compression formats.
type packer interface {
	io.WriteCloser
	Reset(io.Writer)
}

// compress compresses a body in the first coding that the client accepts, or returns "".
func compress(accepted string, body []byte) (*bytes.Buffer, string) {
	coding, pool := "", (*sync.Pool)(nil)
	switch {
	case accepts(accepted, "gzip"):
		coding, pool = "gzip", &gzipWriters
	case accepts(accepted, "deflate"):
		coding, pool = "deflate", &zlibWriters
	default:
		return nil, ""
	}
	out := packedBuffers.Get().(*bytes.Buffer)
	out.Reset()
	p := pool.Get().(packer)
	defer pool.Put(p)
	p.Reset(out)
	_, err := p.Write(body)
	if err != nil || p.Close() != nil { // a buffer never returns an error
		return nil, ""
	}
	return out, coding
}

// accepts reports whether a list of codings contains one and does not forbid it.
func accepts(list, coding string) bool {
	for one := range strings.SplitSeq(list, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		value, _ := strings.CutPrefix(strings.TrimSpace(quality), "q=")
		q, err := strconv.ParseFloat(value, 64)
		// A coding with q=0 is forbidden; without a readable q it is accepted.
		return err != nil || q > 0
	}
	return false
}

var requestIDs = base32.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567").WithPadding(
	base32.NoPadding)

// newRequestID returns a request id of 52 characters, as the service's ids have.
func newRequestID() string {
	var b [32]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rand.Uint64())
	}
	return requestIDs.EncodeToString(b[:])
}
