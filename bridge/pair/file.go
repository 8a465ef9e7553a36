package pair

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"callboard/bridge/standby"
	"callboard/bridge/standby/format"
)

// stateFile is the small file of a side: one sector, written in place.
type stateFile struct {
	file   *os.File
	sync   func(*os.File) error
	stored standby.State
}

func openState(dir string) (*stateFile, error) {
	path := filepath.Join(dir, "standby.state")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &stateFile{file: f, sync: syncData}
	if err := s.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w; what this side has given its voice to is not known any more: if the other side has all, delete the whole directory, and this side gets it anew", path, err)
	}
	return s, nil
}

func (s *stateFile) read() error {
	info, err := s.file.Stat()
	if err != nil || info.Size() == 0 { // new
		return err
	}
	b := make([]byte, format.Sector)
	if _, err := s.file.ReadAt(b, 0); err != nil {
		return err
	}
	s.stored, err = format.ParseState(b)
	return err
}

// save is done when the state is on the disk.
func (s *stateFile) save(state standby.State) error {
	if _, err := s.file.WriteAt(format.State(state), 0); err != nil {
		return err
	}
	return s.sync(s.file)
}

func (s *stateFile) Close() error { return s.file.Close() }

// nextLife returns a number for this process that is greater than that of any
// before, and not less than least.
func nextLife(dir string, least uint64) (uint64, error) {
	path := filepath.Join(dir, "standby.life")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if last, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
		least = max(least, last+1)
	}
	return least, replaceFile(path, strconv.AppendUint(nil, least, 10))
}

// replaceFile puts a file in the place of another, on the disk before it returns.
func replaceFile(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// keySize is that of the pair's key, in bytes.
const keySize = 32

// keyFile has the key that seals what is said on the outer line, where others could
// speak, too. Side A makes it, and B gets it over the inner line.
type keyFile struct {
	path string
	key  []byte // nil: B has not got it yet
}

func openKey(dir string, side standby.Side) (*keyFile, error) {
	k := &keyFile{path: filepath.Join(dir, "standby.key")}
	key, err := os.ReadFile(k.path)
	switch {
	case err == nil && len(key) == keySize:
		k.key = key
		return k, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case side == standby.B:
		return k, nil
	}
	key = make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return k, k.set(key)
}

func (k *keyFile) set(key []byte) error {
	if bytes.Equal(k.key, key) {
		return nil
	}
	if err := replaceFile(k.path, key); err != nil {
		return err
	}
	k.key = key
	return nil
}
