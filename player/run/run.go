// Package run reads recorded runs: Player logs (also gzipped) and MCAP files
// that callboard recorded. Whatever the format, a run is one stream of Records
// in the order in which they came: sessions with robots that begin and end,
// what is known of their devices, and their messages.
//
//	f, err := run.Open("lab.mcap")
//	…
//	r, err := f.Reader(run.Options{})
//	…
//	defer r.Close()
//	for {
//		rec, err := r.Next()
//		…
//	}
//
// Several Readers of one File do not disturb each other: to rewind, make another.
package run

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"callboard/player"
	"callboard/player/regular"
)

// Format is how a run is stored.
type Format string

// Formats.
const (
	Log  Format = "log"  // a Player log, perhaps gzipped
	MCAP Format = "mcap" // perhaps gzipped: then without its index
)

// Config says what to read.
type Config struct {
	R    io.ReaderAt // required
	Size int64       // bytes in R
	Name string      // in problems, and beside which a log's world is looked for; "" is "run"
}

// File is a recorded run. Its methods may be called from several goroutines.
type File struct {
	name   string
	r      io.ReaderAt
	size   int64
	zipped bool
	format Format
	close  func() error
}

// mcapMagic begins every MCAP file.
var mcapMagic = []byte("\x89MCAP0\r\n")

// Open opens a file by its path. What it is is told by its bytes, not by its
// name.
func Open(name string) (*File, error) {
	in, err := regular.Open(name)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("run: %w", err)
	}
	f, err := New(Config{R: in, Size: info.Size(), Name: name})
	if err != nil {
		in.Close()
		return nil, err
	}
	f.close = in.Close
	return f, nil
}

// New makes a File of bytes that are read as they are needed.
func New(c Config) (*File, error) {
	if c.R == nil {
		return nil, errors.New("run: nothing to read, expected Config.R")
	}
	if c.Name == "" {
		c.Name = "run"
	}
	f := &File{name: c.Name, r: c.R, size: c.Size, format: Log, close: func() error { return nil }}
	head, err := f.head(f.raw(), len(mcapMagic))
	if err != nil {
		return nil, err
	}
	if f.zipped = bytes.HasPrefix(head, []byte("\x1f\x8b")); f.zipped {
		unpacked, err := f.stream()
		if err != nil {
			return nil, err
		}
		if head, err = f.head(unpacked, len(mcapMagic)); err != nil {
			return nil, err
		}
	}
	if bytes.Equal(head, mcapMagic) {
		f.format = MCAP
	}
	return f, nil
}

// Until makes all reading of the file fail with the error of ctx once that has
// ended, also where a reader finds nothing to give for long. It is called before
// the first Reader is made.
func (f *File) Until(ctx context.Context) { f.r = &until{ctx, f.r} }

type until struct {
	ctx context.Context
	io.ReaderAt
}

func (u *until) ReadAt(b []byte, at int64) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.ReaderAt.ReadAt(b, at)
}

func (f *File) head(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(r, b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("run: reading %s: %w", f.name, err)
	}
	return b[:got], nil
}

// raw is a new stream of the file's bytes.
func (f *File) raw() io.Reader { return io.NewSectionReader(f.r, 0, f.size) }

// stream is a new stream of the unpacked bytes.
func (f *File) stream() (io.Reader, error) {
	if !f.zipped {
		return f.raw(), nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(f.raw(), 64<<10))
	if err != nil {
		return nil, fmt.Errorf("run: reading %s: %w", f.name, err)
	}
	return z, nil
}

// Close closes the file. Readers of it end with an error.
func (f *File) Close() error { return f.close() }

// Name is the name that it was opened by.
func (f *File) Name() string { return f.name }

// Format returns how the run is stored.
func (f *File) Format() Format { return f.format }

// Size is the file's size in bytes, as it was when it was opened.
func (f *File) Size() int64 { return f.size }

// Options say what of a run to read.
type Options struct {
	// Want reports whether the payload of a device's DATA messages of a subtype is
	// to be read; nil: all are. Others come with a nil Payload, and cost little.
	// It is called for every message: keep it quick.
	Want func(d *player.Device, subtype uint8) bool
	// Bodies leaves payloads of DATA messages encoded, as *iface.Raw, where the
	// file holds them so: in MCAP.
	Bodies bool
}

// Reader returns the records of a run in order, with constant memory. It belongs
// to one goroutine.
type Reader struct {
	source source
}

// source is a format's way to give records.
type source interface {
	next() (*Record, error)
	close()
}

// Reader makes a Reader that begins with the run's first record.
func (f *File) Reader(o Options) (*Reader, error) {
	if o.Want == nil {
		o.Want = func(*player.Device, uint8) bool { return true }
	}
	var s source
	var err error
	switch f.format {
	case Log:
		s, err = newLogSource(f, o)
	case MCAP:
		s, err = newMCAPSource(f, o)
	}
	if err != nil {
		return nil, err
	}
	return &Reader{s}, nil
}

// Next returns the next record. A *Problem reports a place without one:
// reading goes on after it. io.EOF is the end, anything else an error that
// ends the reading.
func (r *Reader) Next() (*Record, error) { return r.source.next() }

// Close frees what reading holds beside memory; the File stays open.
func (r *Reader) Close() { r.source.close() }
