package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// unpackLZ4 appends what an LZ4 frame holds to dst, at most size bytes. The
// frame's own checksums are not looked at: a chunk has one.
func unpackLZ4(dst, src []byte, size int) ([]byte, error) {
	const magic = 0x184d2204
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != magic {
		return dst, errors.New("it is no LZ4 frame")
	}
	flags := src[4]
	if flags>>6 != 1 {
		return dst, fmt.Errorf("LZ4 frame of version %d, expected 1", flags>>6)
	}
	head := 7
	if flags&0x08 != 0 { // the content's size
		head += 8
	}
	if flags&0x01 != 0 {
		return dst, errors.New("the LZ4 frame wants a dictionary")
	}
	for at := head; ; {
		if len(src)-at < 4 {
			return dst, errors.New("the LZ4 frame ends early")
		}
		n := binary.LittleEndian.Uint32(src[at:])
		at += 4
		if n == 0 {
			return dst, nil
		}
		plain := n>>31 != 0
		n &= 1<<31 - 1
		if uint64(n) > uint64(len(src)-at) {
			return dst, errors.New("an LZ4 block ends early")
		}
		block := src[at : at+int(n)]
		var err error
		if plain {
			if len(block) > size-len(dst) {
				return dst, errLZ4Long
			}
			dst = append(dst, block...)
		} else if dst, err = unpackLZ4Block(dst, block, size); err != nil {
			return dst, err
		}
		if at += int(n); flags&0x10 != 0 { // the block's checksum
			at += 4
		}
	}
}

var (
	errLZ4Long  = errors.New("it unpacks to more bytes than the chunk tells")
	errLZ4Block = errors.New("an LZ4 block is damaged")
)

// unpackLZ4Block appends what a block holds: runs of literals, each followed
// by a match, which repeats what came before.
func unpackLZ4Block(dst, src []byte, size int) ([]byte, error) {
	length := func(n, at int) (int, int) {
		for more := byte(255); n >= 15 && more == 255; at++ {
			if at >= len(src) {
				return -1, at
			}
			more = src[at]
			n += int(more)
		}
		return n, at
	}
	for at := 0; at < len(src); {
		token := int(src[at])
		n, next := length(token>>4, at+1)
		if n < 0 || n > len(src)-next {
			return dst, errLZ4Block
		}
		if n > size-len(dst) {
			return dst, errLZ4Long
		}
		dst = append(dst, src[next:next+n]...)
		if at = next + n; at == len(src) {
			return dst, nil
		}
		if len(src)-at < 2 {
			return dst, errLZ4Block
		}
		back := int(binary.LittleEndian.Uint16(src[at:]))
		n, at = length(token&15, at+2)
		if n < 0 || back == 0 || back > len(dst) {
			return dst, errLZ4Block
		}
		if n += 4; n > size-len(dst) {
			return dst, errLZ4Long
		}
		for from := len(dst) - back; n > 0; {
			part := min(n, len(dst)-from)
			dst = append(dst, dst[from:from+part]...)
			n -= part
		}
	}
	return dst, nil
}
