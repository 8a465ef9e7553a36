package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// groups is the number of Channel.Group.
const groups = 16

// WriterConfig says where and how to write.
type WriterConfig struct {
	W       io.Writer // required; a call for each chunk, attachment or metadata
	Profile string    // what the channels follow; "" is nothing in particular
	Library string    // what writes; default "callboard"
	// Compression of chunks: Zstd or None. Default Zstd.
	Compression string
	// ChunkSize is how many bytes of records, not compressed yet, end a chunk.
	// Default 1 MiB. What is in a chunk that has not ended is not written yet:
	// Flush ends it.
	ChunkSize int
}

// Writer writes a file from its beginning to its end, and never goes back. It
// belongs to one goroutine. After an error of W nothing more can be written:
// what is written is a file that Reader reads as far as it goes.
type Writer struct {
	w         io.Writer
	size      int // of a chunk
	encoder   *zstd.Encoder
	at        uint64 // bytes written
	unpacked  uint64 // bytes of the records in chunks that are written
	crc       uint32 // of them
	err       error
	buf       []byte
	schemas   []Schema
	channels  []Channel
	counts    []uint64 // messages by channel
	told      []bool   // the channel stands in a chunk
	toldThere []bool   // the schema does, by ID - 1
	chunks    [groups]chunk
	stats     Statistics
	index     []byte // the chunk index records
	attached  []AttachmentIndex
	metadata  []MetadataIndex
}

// NewWriter makes a Writer and writes the file's beginning.
func NewWriter(c WriterConfig) (*Writer, error) {
	if c.W == nil {
		return nil, errors.New("mcap: nowhere to write, expected WriterConfig.W")
	}
	if c.Library == "" {
		c.Library = "callboard"
	}
	if c.ChunkSize == 0 {
		c.ChunkSize = 1 << 20
	}
	if c.ChunkSize < 0 || c.ChunkSize > 1<<30 {
		return nil, fmt.Errorf("mcap: chunks of %d bytes, expected up to %d", c.ChunkSize, 1<<30)
	}
	w := &Writer{w: c.W, size: c.ChunkSize}
	switch c.Compression {
	case "", Zstd:
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false)) // the chunk has a CRC
		if err != nil {
			return nil, fmt.Errorf("mcap: %w", err)
		}
		w.encoder = encoder
	case None:
	default:
		return nil, fmt.Errorf("mcap: compression %q, expected %q or %q", c.Compression, Zstd, None)
	}
	for i := range w.chunks {
		w.chunks[i].indexes = map[uint16]*messageIndex{}
	}
	w.buf = append(w.buf[:0], Magic...)
	w.buf = appendRecord(w.buf, opHeader, func(b []byte) []byte {
		return appendText(appendText(b, c.Profile), c.Library)
	})
	if err := w.flushBuf("the head"); err != nil {
		return nil, err
	}
	return w, nil
}

// flushBuf writes what is in buf.
func (w *Writer) flushBuf(what string) error {
	if w.err != nil {
		return w.err
	}
	n, err := w.w.Write(w.buf)
	if err != nil {
		w.err = fmt.Errorf("mcap: writing %s at byte %d: %w", what, w.at, err)
		return w.err
	}
	w.crc = crc32.Update(w.crc, crc32.IEEETable, w.buf[:n])
	w.at += uint64(n)
	return nil
}

// AddSchema notes a schema and returns its ID; what it had is ignored.
func (w *Writer) AddSchema(s Schema) (uint16, error) {
	if len(w.schemas) >= math.MaxUint16 {
		return 0, fmt.Errorf("mcap: schema %q is one too many, expected at most %d", s.Name, math.MaxUint16)
	}
	s.ID = uint16(len(w.schemas) + 1)
	w.schemas = append(w.schemas, s)
	w.toldThere = append(w.toldThere, false)
	return s.ID, nil
}

// AddChannel notes a channel and returns its ID; what it had is ignored.
func (w *Writer) AddChannel(c Channel) (uint16, error) {
	switch {
	case len(w.channels) > math.MaxUint16:
		return 0, fmt.Errorf("mcap: channel %q is one too many, expected at most %d", c.Topic, math.MaxUint16+1)
	case int(c.SchemaID) > len(w.schemas):
		return 0, fmt.Errorf("mcap: channel %q has schema %d, of which there is none", c.Topic, c.SchemaID)
	case c.Group < 0 || c.Group >= groups:
		return 0, fmt.Errorf("mcap: channel %q is in group %d, expected 0 to %d", c.Topic, c.Group, groups-1)
	}
	c.ID = uint16(len(w.channels))
	w.channels = append(w.channels, c)
	w.counts = append(w.counts, 0)
	w.told = append(w.told, false)
	return c.ID, nil
}

// Write adds a message to its channel's chunk, which it writes when it is full.
func (w *Writer) Write(m Message) error {
	switch {
	case w.err != nil:
		return w.err
	case int(m.ChannelID) >= len(w.channels):
		return fmt.Errorf("mcap: a message of channel %d, of which there is none", m.ChannelID)
	case int64(len(m.Data))+int64(w.size) > math.MaxUint32:
		return fmt.Errorf("mcap: a message of %d bytes on %q is too long", len(m.Data), w.channels[m.ChannelID].Topic)
	}
	channel := &w.channels[m.ChannelID]
	c := &w.chunks[channel.Group]
	if !w.told[m.ChannelID] {
		w.tell(c, channel)
	}
	c.add(&m)
	w.counts[m.ChannelID]++
	if len(c.records) >= w.size {
		return w.end(c)
	}
	return nil
}

// tell puts a channel that is used for the first time into the chunk, with its
// schema. Other groups' readers want the schema, too.
func (w *Writer) tell(c *chunk, channel *Channel) {
	w.told[channel.ID] = true
	if id := channel.SchemaID; id != 0 {
		c.records = w.schemas[id-1].appendTo(c.records)
		w.toldThere[id-1] = true
	}
	c.records = channel.appendTo(c.records)
}

// end writes a chunk.
func (w *Writer) end(c *chunk) error {
	if len(c.records) == 0 {
		return nil
	}
	var x ChunkIndex
	w.buf, x = c.appendTo(w.buf[:0], w.at, w.encoder)
	if err := w.flushBuf("a chunk"); err != nil {
		return err
	}
	if c.messages > 0 {
		if w.stats.Messages == 0 || c.start < w.stats.StartTime {
			w.stats.StartTime = c.start
		}
		w.stats.EndTime = max(w.stats.EndTime, c.end)
		w.stats.Messages += uint64(c.messages)
	}
	w.index = x.appendTo(w.index)
	w.stats.Chunks++
	w.unpacked += x.UncompressedSize
	c.reset()
	return nil
}

// Flush writes all chunks as they are, so that a crash takes nothing of them.
func (w *Writer) Flush() error {
	for i := range w.chunks {
		if err := w.end(&w.chunks[i]); err != nil {
			return err
		}
	}
	return w.err
}

// Size is how many bytes are written.
func (w *Writer) Size() uint64 { return w.at }

// Expected is how many bytes will be written after a Flush, judged by how well
// what was written has packed.
func (w *Writer) Expected() uint64 {
	waiting := uint64(0)
	for i := range w.chunks {
		waiting += uint64(len(w.chunks[i].records))
	}
	if w.unpacked == 0 {
		return w.at + waiting/2
	}
	return w.at + uint64(float64(waiting)*float64(w.at)/float64(w.unpacked))
}

// Attach writes an attachment.
func (w *Writer) Attach(a Attachment) error {
	x := AttachmentIndex{Offset: w.at, LogTime: a.LogTime, CreateTime: a.CreateTime, DataSize: uint64(len(a.Data)), Name: a.Name, MediaType: a.MediaType}
	w.buf = appendRecord(w.buf[:0], opAttachment, func(b []byte) []byte {
		from := len(b)
		b = appendText(appendText(appendU64(appendU64(b, a.LogTime), a.CreateTime), a.Name), a.MediaType)
		b = append(appendU64(b, uint64(len(a.Data))), a.Data...)
		return appendU32(b, crc32.ChecksumIEEE(b[from:]))
	})
	x.Length = uint64(len(w.buf))
	if err := w.flushBuf("attachment " + a.Name); err != nil {
		return err
	}
	w.attached = append(w.attached, x)
	return nil
}

// WriteMetadata writes a metadata record.
func (w *Writer) WriteMetadata(m Metadata) error {
	x := MetadataIndex{Offset: w.at, Name: m.Name}
	w.buf = m.appendTo(w.buf[:0])
	x.Length = uint64(len(w.buf))
	if err := w.flushBuf("metadata " + m.Name); err != nil {
		return err
	}
	w.metadata = append(w.metadata, x)
	return nil
}

// Close writes what waits, the index and the end. It does not close W.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if w.encoder != nil {
		w.encoder.Close()
	}
	w.buf = appendRecord(w.buf[:0], opDataEnd, func(b []byte) []byte { return appendU32(b, w.crc) })
	if err := w.flushBuf("the end of the data"); err != nil {
		return err
	}
	w.buf = w.summary(w.buf[:0])
	if err := w.flushBuf("the index"); err != nil {
		return err
	}
	w.err = errors.New("mcap: the file is closed")
	return nil
}

// summary appends what stands behind the data.
func (w *Writer) summary(b []byte) []byte {
	w.stats.Schemas, w.stats.Channels = 0, 0
	w.stats.Attachments, w.stats.Metadata = uint32(len(w.attached)), uint32(len(w.metadata))
	w.stats.ChannelMessages = map[uint16]uint64{}
	var offsets []byte
	group := func(op Opcode, n int, one func(i int, b []byte) []byte) {
		from := len(b)
		for i := range n {
			b = one(i, b)
		}
		if len(b) == from {
			return
		}
		offsets = appendRecord(offsets, opSummaryOffset, func(o []byte) []byte {
			return appendU64(appendU64(append(o, byte(op)), w.at+uint64(from)), uint64(len(b)-from))
		})
	}
	group(opSchema, len(w.schemas), func(i int, b []byte) []byte {
		if !w.toldThere[i] {
			return b
		}
		w.stats.Schemas++
		return w.schemas[i].appendTo(b)
	})
	group(opChannel, len(w.channels), func(i int, b []byte) []byte {
		if !w.told[i] {
			return b
		}
		w.stats.Channels++
		w.stats.ChannelMessages[uint16(i)] = w.counts[i]
		return w.channels[i].appendTo(b)
	})
	group(opStatistics, 1, func(_ int, b []byte) []byte { return w.stats.appendTo(b) })
	group(opChunkIndex, 1, func(_ int, b []byte) []byte { return append(b, w.index...) })
	group(opAttachmentIndex, len(w.attached), func(i int, b []byte) []byte { return w.attached[i].appendTo(b) })
	group(opMetadataIndex, len(w.metadata), func(i int, b []byte) []byte { return w.metadata[i].appendTo(b) })
	offsetsAt := w.at + uint64(len(b))
	b = append(b, offsets...)
	b = append(b, byte(opFooter))
	b = appendU64(appendU64(appendU64(b, footerSize), w.at), offsetsAt)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return append(b, Magic...)
}
