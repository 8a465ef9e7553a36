package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

const (
	// compressFrom is the shortest frame that is compressed, bytes.
	compressFrom = 128
	// leftOver is what may remain of a stretch once its frame is complete: the
	// mark at its end, bytes.
	leftOver = 16
)

// deflater is the sending end of a session's DEFLATE stream: frames are found
// again in what was sent before them.
type deflater struct {
	w   *flate.Writer
	out appender
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func newDeflater() *deflater {
	d := &deflater{}
	d.w = must(flate.NewWriter(&d.out, flate.BestSpeed))
	return d
}

// piece appends the piece of a frame, compressed if that is worth it. The
// length in its head is the caller's.
func (d *deflater) piece(b, plain []byte) []byte {
	if len(plain) < compressFrom {
		return append(beginPiece(b, pieceFrame), plain...)
	}
	d.out.b = binary.BigEndian.AppendUint32(beginPiece(b, pieceCompressed), uint32(len(plain)))
	d.w.Write(plain) // an appender does not fail
	d.w.Flush()
	b, d.out.b = d.out.b, nil
	return b
}

// inflater is the receiving end.
type inflater struct {
	r      io.Reader
	rest   rest
	joined []byte // what was left over, and the next stretch
	plain  []byte
	limit  int
}

func newInflater(limit int) *inflater {
	f := &inflater{limit: limit}
	f.r = flate.NewReader(&f.rest)
	return f
}

// inflate returns the frame of a compressed piece's content; it is valid until
// the next call.
func (f *inflater) inflate(content []byte) ([]byte, error) {
	if len(content) < 4 {
		return nil, errors.New("it ends before its length")
	}
	n := binary.BigEndian.Uint32(content)
	if uint64(n) > uint64(f.limit) {
		return nil, fmt.Errorf("%d bytes; expected up to %d", n, f.limit)
	}
	var left [leftOver]byte
	copied := copy(left[:], f.rest.b)
	f.joined = append(append(keep(f.joined), left[:copied]...), content[4:]...)
	f.rest.b = f.joined
	var err error
	f.plain, err = readContent(f.r, keep(f.plain), int(n))
	if err != nil {
		return nil, err
	}
	if len(f.rest.b) > leftOver {
		return nil, fmt.Errorf("%d bytes behind a frame's end", len(f.rest.b))
	}
	return f.plain, nil
}

// rest reads from bytes that are there, and returns io.EOF where they end.
type rest struct{ b []byte }

func newRest(b []byte) *rest { return &rest{append([]byte(nil), b...)} }

func (r *rest) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

func (r *rest) ReadByte() (byte, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b, nil
}
