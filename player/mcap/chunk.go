package mcap

import (
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// Compressions of a chunk.
const (
	Zstd = "zstd"
	LZ4  = "lz4" // is read, not written
	None = "none"
)

// chunk is a chunk in the making.
type chunk struct {
	records    []byte                   // uncompressed
	start, end uint64                   // ns
	messages   int                      // in it
	indexes    map[uint16]*messageIndex // by channel, reused from chunk to chunk
	order      []uint16                 // of the channels in it
}

// messageIndex is where the messages of a channel are in a chunk.
type messageIndex struct {
	entries []byte // log time and offset of each
}

// add appends a message.
func (c *chunk) add(m *Message) {
	x := c.indexes[m.ChannelID]
	if x == nil {
		x = &messageIndex{}
		c.indexes[m.ChannelID] = x
	}
	if len(x.entries) == 0 {
		c.order = append(c.order, m.ChannelID)
	}
	x.entries = appendU64(appendU64(x.entries, m.LogTime), uint64(len(c.records)))
	c.records = m.appendTo(c.records)
	if c.messages == 0 || m.LogTime < c.start {
		c.start = m.LogTime
	}
	c.end = max(c.end, m.LogTime)
	c.messages++
}

// reset empties the chunk and keeps its memory.
func (c *chunk) reset() {
	for _, id := range c.order {
		x := c.indexes[id]
		x.entries = x.entries[:0]
	}
	c.records, c.order = c.records[:0], c.order[:0]
	c.start, c.end, c.messages = 0, 0, 0
}

// appendTo appends the chunk's record and those of its message indexes. at is
// the place in the file that it will have.
func (c *chunk) appendTo(b []byte, at uint64, encoder *zstd.Encoder) ([]byte, ChunkIndex) {
	x := ChunkIndex{StartTime: c.start, EndTime: c.end, Offset: at, UncompressedSize: uint64(len(c.records)), MessageIndexes: map[uint16]uint64{}}
	if encoder != nil {
		x.Compression = Zstd
	}
	from := len(b)
	b = appendRecord(b, opChunk, func(b []byte) []byte {
		b = appendU64(appendU64(appendU64(b, c.start), c.end), x.UncompressedSize)
		b = appendText(appendU32(b, crc32.ChecksumIEEE(c.records)), x.Compression)
		b = appendU64(b, 0)
		size := len(b)
		if encoder != nil {
			b = encoder.EncodeAll(c.records, b)
		} else {
			b = append(b, c.records...)
		}
		x.CompressedSize = uint64(len(b) - size)
		appendU64(b[:size-8], x.CompressedSize)
		return b
	})
	x.Length = uint64(len(b) - from)
	indexes := len(b)
	for _, id := range c.order {
		x.MessageIndexes[id] = at + uint64(len(b)-from)
		b = appendRecord(b, opMessageIndex, func(b []byte) []byte {
			entries := c.indexes[id].entries
			return append(appendU32(appendU16(b, id), uint32(len(entries))), entries...)
		})
	}
	x.IndexLength = uint64(len(b) - indexes)
	return b, x
}
