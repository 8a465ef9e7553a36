// Package regular reads files that other files name: a world's includes and
// pictures, secrets, certificates, recordings. Only regular files of a bounded
// size will do: a device or a named pipe in their place would never end, or never
// begin.
package regular

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxPEM bounds a file with a key or certificates, in bytes.
const MaxPEM = 4 << 20

// Open opens a regular file to be read. It does not wait for anything, and does
// not touch what is none.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.Unwrap(err)}
	}
	if err := check(name, info); err != nil {
		return nil, err
	}
	// It may have been replaced since.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a regular file of up to most bytes.
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, most)
}

// ReadNamed reads up to most bytes of a file that a person has named, who may
// well mean a pipe: /dev/stdin, or what a shell puts in place of <(…).
func ReadNamed(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, most)
}

// KeyPair reads a certificate and its key, in PEM.
func KeyPair(cert, key string) (tls.Certificate, error) {
	c, err := Read(cert, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	k, err := Read(key, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(c, k)
}

func read(f *os.File, most int64) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", f.Name(), info.Size(), most)
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", f.Name(), most)
	}
	return b, err
}

// check refuses what is no regular file.
func check(name string, info fs.FileInfo) error {
	kind := "no regular file"
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		kind = "a directory"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	case m&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s, expected a regular file", name, kind)
}
