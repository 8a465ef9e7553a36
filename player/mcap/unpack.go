package mcap

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Limits of what is read.
const (
	maxRecord = 1 << 30   // bytes of a record that is read whole
	maxChunk  = 512 << 20 // bytes of a chunk's records
	freeChunk = 16 << 20  // bytes of a chunk's records in any case, above them:
	maxRatio  = 1000      // times the compressed bytes
)

// packed is a chunk as it stands in the file.
type packed struct {
	start, end  uint64
	size        uint64
	crc         uint32
	compression string
	records     []byte
}

func (c *cursor) packed() packed {
	p := packed{start: c.u64("its start"), end: c.u64("its end"), size: c.u64("its size"), crc: c.u32("its CRC"), compression: c.text("its compression")}
	p.records = c.take(c.u64("its records"), "its records")
	return p
}

// unpacker unpacks chunks, again and again into the same memory.
type unpacker struct {
	decoder *zstd.Decoder
	buf     []byte
}

// unpack returns a chunk's records; they are valid until the next call.
func (u *unpacker) unpack(p *packed) ([]byte, error) {
	if p.size > maxChunk || p.size > freeChunk && p.size/maxRatio > uint64(len(p.records)) {
		return nil, fmt.Errorf("the chunk has %d bytes packed into %d, expected at most %d", p.size, len(p.records), max(freeChunk, min(maxChunk, maxRatio*len(p.records))))
	}
	var out []byte
	var err error
	switch p.compression {
	case "", None:
		out = p.records
	case Zstd:
		out, err = u.zstd(p)
	case LZ4:
		out, err = u.lz4(p)
	default:
		return nil, fmt.Errorf("the chunk's compression is %q, expected %q, %q or none", p.compression, Zstd, LZ4)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpacking the chunk: %w", err)
	case uint64(len(out)) != p.size:
		return nil, fmt.Errorf("the chunk unpacks to %d bytes, expected %d", len(out), p.size)
	case p.crc != 0 && crc32.ChecksumIEEE(out) != p.crc:
		return nil, fmt.Errorf("the chunk's CRC is %08x, expected %08x", crc32.ChecksumIEEE(out), p.crc)
	}
	return out, nil
}

func (u *unpacker) zstd(p *packed) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(p.records); err != nil {
		return nil, err
	}
	if h.HasFCS && h.FrameContentSize > p.size {
		return nil, fmt.Errorf("its head tells %d bytes, expected %d", h.FrameContentSize, p.size)
	}
	if u.decoder == nil {
		var err error
		u.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxChunk), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	u.grow(p.size)
	return u.decoder.DecodeAll(p.records, u.buf[:0:p.size])
}

func (u *unpacker) lz4(p *packed) ([]byte, error) {
	u.grow(p.size)
	in := lz4.NewReader(bytes.NewReader(p.records))
	n, err := io.ReadFull(in, u.buf[:p.size])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return u.buf[:n], nil // it is too short
	} else if err != nil {
		return nil, err
	}
	if more, err := in.Read(make([]byte, 1)); more > 0 || err != io.EOF {
		return nil, errors.Join(fmt.Errorf("it goes on after %d bytes", n), err)
	}
	return u.buf[:n], nil
}

// grow makes room for size bytes.
func (u *unpacker) grow(size uint64) {
	if uint64(cap(u.buf)) < size {
		u.buf = make([]byte, 0, size)
	}
}

// close frees what the decoder holds.
func (u *unpacker) close() {
	if u.decoder != nil {
		u.decoder.Close()
	}
}
