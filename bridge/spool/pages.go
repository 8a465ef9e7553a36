package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
)

// bbolt maps its file into memory and trusts what it finds there: a page that
// is cut off is a fault, and one that points at itself an endless recursion,
// both of which end the process. So the pages are read and checked here before
// bbolt sees them. The format is bbolt's: numbers in the machine's byte order,
// each page a header (id 8, flags 2, count 2, overflow 4), then its elements,
// then their keys and values without a space between.
const (
	pageHeader    = 16
	bucketHeader  = 16
	branchElement = 16 // position 4, key's length 4, page 8
	leafElement   = 16 // flags 4, position 4, key's length 4, value's length 4
	metaSize      = 64

	flagBranch   = 1
	flagLeaf     = 2
	flagFreelist = 16

	boltMagic   = 0xED0CDAED
	boltVersion = 2

	maxLevels   = 32      // of pages under a bucket, far above what any file needs
	minPageSize = 1 << 10 // bytes, as bbolt looks for them
	maxPageSize = 16 << 20
)

// pages are those of a bbolt file that its newest meta page leads to.
type pages struct {
	file   *os.File
	size   int    // of a page, bytes
	end    uint64 // the first page that is not in use
	seen   []uint64
	levels [2 * maxLevels][]byte // buffers, one for each level under the root: a bucket's pages are under the root's
}

// boltMeta is what a meta page says.
type boltMeta struct {
	size                      int
	root, freelist, end, txid uint64
}

// checkPages reports damage to the file at path, so that bbolt can open
// what passes. found is false if there is no file yet, or an empty one; half
// is true if one of the two meta pages is damaged: then the newest
// transaction may be the one that it named.
func checkPages(path string) (found, half bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil || info.Size() == 0 && info.Mode().IsRegular():
		return false, false, err
	case !info.Mode().IsRegular():
		return false, false, fmt.Errorf("%s is no regular file; move it away", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return false, false, err
	}
	defer f.Close()
	meta, half, err := findMeta(f, info.Size())
	if err != nil {
		return true, false, err
	}
	p := &pages{file: f, size: meta.size, end: meta.end, seen: make([]uint64, meta.end/64+1)}
	p.claim(0, 2) // the meta pages
	if err := p.freelist(meta.freelist); err != nil {
		return true, half, err
	}
	return true, half, p.tree(meta.root, 0, true, nil, nil)
}

func damaged(format string, args ...any) error {
	return &damagedError{fmt.Errorf(format, args...)}
}

// findMeta returns what the newer of the meta pages says.
func findMeta(f *os.File, length int64) (newest boltMeta, half bool, err error) {
	sizes := []int64{}
	if m, ok := readMeta(f, 0, length); ok {
		newest, sizes = m, append(sizes, int64(m.size))
	} else {
		half = true
		for size := int64(minPageSize); size <= maxPageSize; size *= 2 {
			sizes = append(sizes, size)
		}
	}
	for _, size := range sizes {
		m, ok := readMeta(f, size, length)
		if !ok || int64(m.size) != size {
			continue
		}
		if half || m.txid > newest.txid {
			newest = m
		}
		return newest, half, nil
	}
	if half {
		return boltMeta{}, true, damaged("neither of its meta pages is whole")
	}
	return newest, true, nil
}

// readMeta reads the meta page at a place. ok: it is whole, and what it tells
// of can be in a file of that length.
func readMeta(f *os.File, at, length int64) (m boltMeta, ok bool) {
	var b [pageHeader + metaSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return boltMeta{}, false
	}
	n, v := binary.NativeEndian, b[pageHeader:]
	sum := fnv.New64a()
	sum.Write(v[:metaSize-8])
	m = boltMeta{
		size: int(n.Uint32(v[8:])), root: n.Uint64(v[16:]),
		freelist: n.Uint64(v[32:]), end: n.Uint64(v[40:]), txid: n.Uint64(v[48:]),
	}
	ok = n.Uint32(v) == boltMagic && n.Uint32(v[4:]) == boltVersion && n.Uint64(v[56:]) == sum.Sum64() &&
		m.size >= minPageSize && m.size <= maxPageSize && m.size&(m.size-1) == 0 && m.end <= uint64(length)/uint64(m.size)
	return m, ok
}

// claim takes pages for one use. ok: they are in the file and no other has
// claimed them.
func (p *pages) claim(first, n uint64) (ok bool) {
	if n > p.end || first > p.end-n {
		return false
	}
	for id := first; id < first+n; id++ {
		if p.seen[id/64]&(1<<(id%64)) != 0 {
			return false
		}
		p.seen[id/64] |= 1 << (id % 64)
	}
	return true
}

// read claims a page with those that continue it, and reads them into buffer.
func (p *pages) read(id uint64, buffer []byte) (page, grown []byte, err error) {
	if !p.claim(id, 1) {
		return nil, buffer, damaged("page %d is not in it, or is used twice", id)
	}
	if len(buffer) < p.size {
		buffer = make([]byte, p.size)
	}
	if _, err := p.file.ReadAt(buffer[:p.size], int64(id)*int64(p.size)); err != nil {
		return nil, buffer, damaged("page %d: %w", id, err)
	}
	if binary.NativeEndian.Uint64(buffer) != id {
		return nil, buffer, damaged("page %d is not where it should be", id)
	}
	more := uint64(binary.NativeEndian.Uint32(buffer[12:]))
	if more == 0 {
		return buffer[:p.size], buffer, nil
	}
	if !p.claim(id+1, more) {
		return nil, buffer, damaged("page %d goes on in pages that are not in it, or are used twice", id)
	}
	length := int(more+1) * p.size
	if len(buffer) < length {
		buffer = append(make([]byte, 0, length), buffer[:p.size]...)[:length]
	}
	if _, err := p.file.ReadAt(buffer[p.size:length], int64(id+1)*int64(p.size)); err != nil {
		return nil, buffer, damaged("page %d: %w", id+1, err)
	}
	return buffer[:length], buffer, nil
}

// freelist claims the pages that are free.
func (p *pages) freelist(id uint64) error {
	page, _, err := p.read(id, nil)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == 0xFFFF { // the first is their number
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if binary.NativeEndian.Uint16(page[8:]) != flagFreelist || count > uint64(len(ids)/8) {
		return damaged("page %d is no list of free pages", id)
	}
	for i := range count {
		if free := binary.NativeEndian.Uint64(ids[8*i:]); !p.claim(free, 1) {
			return damaged("page %d is free, and not in it or in use", free)
		}
	}
	return nil
}

// tree checks a page of a bucket and all below it. The keys are at least from
// and, unless it is nil, below to.
func (p *pages) tree(id uint64, level int, root bool, from, to []byte) error {
	if level == len(p.levels) {
		return damaged("page %d: more than %d levels", id, level)
	}
	page, grown, err := p.read(id, p.levels[level])
	if p.levels[level] = grown; err != nil {
		return err
	}
	used, err := p.elements(page, id, level, root, from, to)
	if err != nil {
		return err
	}
	if want := (used + p.size - 1) / p.size * p.size; want != len(page) {
		return damaged("page %d: %d bytes in use of %d", id, used, len(page))
	}
	return nil
}

// elements checks what a branch or leaf holds and returns how many of its bytes
// are in use.
func (p *pages) elements(page []byte, id uint64, level int, root bool, from, to []byte) (used int, err error) {
	n := binary.NativeEndian
	flags, count := n.Uint16(page[8:]), int(n.Uint16(page[10:]))
	if flags != flagBranch && flags != flagLeaf || flags == flagBranch && count == 0 {
		return 0, damaged("page %d is neither branch nor leaf", id)
	}
	used = pageHeader + count*leafElement
	if used > len(page) {
		return 0, damaged("page %d: %d elements do not fit", id, count)
	}
	least := from
	for i := range count {
		element := pageHeader + i*leafElement
		e := page[element:]
		position, keyLength, valueLength := n.Uint32(e), n.Uint32(e[4:]), uint32(0)
		if flags == flagLeaf {
			position, keyLength, valueLength = n.Uint32(e[4:]), n.Uint32(e[8:]), n.Uint32(e[12:])
		}
		if uint64(element)+uint64(position) != uint64(used) || keyLength == 0 || uint64(used)+uint64(keyLength)+uint64(valueLength) > uint64(len(page)) {
			return 0, damaged("page %d: element %d is not where it should be", id, i)
		}
		key := page[used : used+int(keyLength)]
		value := page[used+int(keyLength) : used+int(keyLength)+int(valueLength)]
		used += len(key) + len(value)
		switch c := bytes.Compare(key, least); {
		case c < 0 || c == 0 && i > 0 || to != nil && bytes.Compare(key, to) >= 0:
			return 0, damaged("page %d: its keys are not in order", id)
		}
		least = key
		switch {
		case flags == flagBranch:
			below := to
			if i+1 < count {
				if below, err = nextKey(page, i+1, id); err != nil {
					return 0, err
				}
			}
			err = p.tree(n.Uint64(e[8:]), level+1, root, key, below)
		case root != (n.Uint32(e) == 1): // buckets are in the root, and only there
			err = damaged("page %d: element %d is not of its kind", id, i)
		case root:
			err = p.bucket(value, id, level)
		}
		if err != nil {
			return 0, err
		}
	}
	return used, nil
}

// nextKey returns the key of a branch's element.
func nextKey(page []byte, i int, id uint64) ([]byte, error) {
	element := pageHeader + i*branchElement
	at := uint64(element) + uint64(binary.NativeEndian.Uint32(page[element:]))
	end := at + uint64(binary.NativeEndian.Uint32(page[element+4:]))
	if end > uint64(len(page)) || at == end {
		return nil, damaged("page %d: element %d is not where it should be", id, i)
	}
	return page[at:end], nil
}

// bucket checks a bucket: the page that it names, or the small one that is
// within its value.
func (p *pages) bucket(value []byte, id uint64, level int) error {
	if len(value) < bucketHeader {
		return damaged("page %d: a bucket is cut off", id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.tree(root, level+1, false, nil, nil)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != flagLeaf {
		return damaged("page %d: a bucket is cut off", id)
	}
	used, err := p.elements(inline, id, level, false, nil, nil)
	if err == nil && used != len(inline) {
		err = damaged("page %d: a bucket has %d bytes in use of %d", id, used, len(inline))
	}
	return err
}
