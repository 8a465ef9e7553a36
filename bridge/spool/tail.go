package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"callboard/bridge/overlay"
)

// A batch in a tail file: length of the body (4 bytes), the batch's number (8),
// CRC-32C of these (4), of the body (4), the body: the term that it begins, if it
// does, and records. The header has a checksum of its own since a damaged length must not pass for a cut end.
const batchHeader = 20

var tailNames = [...]string{"tail-0", "tail-1"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxTail bounds a tail file, in bytes: past it the disk does not follow, and
// the store is incomplete until it does.
const maxTail = 256 << 20

// tail is one of the two files that hold what has been appended and is not in
// the database yet.
type tail struct {
	file *os.File
	size int64
}

// sealBatch fills in the header of a batch whose records follow it in b.
func sealBatch(b []byte, number uint64) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-batchHeader))
	binary.BigEndian.PutUint64(b[4:], number)
	binary.BigEndian.PutUint32(b[12:], crc32.Checksum(b[:12], castagnoli))
	binary.BigEndian.PutUint32(b[16:], crc32.Checksum(b[batchHeader:], castagnoli))
}

// batch is one as read.
type batch struct {
	number  uint64
	begins  bool // a term
	term    uint64
	records []overlay.Record
}

// readTail reads the batches of a tail file. A last batch that is cut short is
// left out: whoever was killed while writing it had not acted on it. Any other
// damage ends the reading and is told.
func readTail(path string) (batches []batch, damage error) {
	b, err := readStart(path, maxTail)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return parseTail(b)
}

// readStart reads a file up to limit bytes.
func readStart(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func parseTail(b []byte) (batches []batch, damage error) {
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < batchHeader {
			return batches, nil
		}
		if crc32.Checksum(rest[:12], castagnoli) != binary.BigEndian.Uint32(rest[12:]) {
			return batches, fmt.Errorf("at byte %d the checksum of a header is wrong", at)
		}
		length := int64(binary.BigEndian.Uint32(rest))
		if length > int64(len(rest)-batchHeader) {
			return batches, nil
		}
		whole := rest[:batchHeader+length]
		if crc32.Checksum(whole[batchHeader:], castagnoli) != binary.BigEndian.Uint32(whole[16:]) {
			return batches, fmt.Errorf("at byte %d the checksum is wrong", at)
		}
		read, err := parseBatch(whole[batchHeader:])
		if err != nil {
			return batches, fmt.Errorf("at byte %d: %w", at, err)
		}
		read.number = binary.BigEndian.Uint64(whole[4:])
		batches = append(batches, read)
		at += len(whole)
	}
	return batches, nil
}

// parseBatch reads a batch's body.
func parseBatch(body []byte) (b batch, err error) {
	if len(body) > 0 && body[0] == kindTerm {
		d := &decoder{b: body[1:]}
		if b.begins, b.term = true, d.uvarint(); d.err != nil {
			return b, d.err
		}
		body = d.b
	}
	b.records, err = DecodeRecords(body)
	return b, err
}

func openTail(path string) (*tail, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, size: size}, nil
}

// write appends a batch in one write, so that a killed process leaves all of
// it or a cut end.
func (t *tail) write(b []byte) error {
	if t.size+int64(len(b)) > maxTail {
		return fmt.Errorf("%s: %d bytes wait for the disk, which is the limit", t.file.Name(), t.size)
	}
	n, err := t.file.Write(b)
	t.size += int64(n)
	return err
}

func (t *tail) clear() error {
	if t.size == 0 {
		return nil
	}
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t.size = 0
	return nil
}
