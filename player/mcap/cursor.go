package mcap

import (
	"encoding/binary"
	"fmt"
)

// cursor reads a record's content; the first thing that is missing is kept as
// the fault, and everything after it is zero.
type cursor struct {
	b     []byte
	at    int
	fault string
}

func (c *cursor) fail(format string, args ...any) {
	if c.fault == "" {
		c.fault = fmt.Sprintf(format, args...)
	}
}

// take returns the next n bytes.
func (c *cursor) take(n uint64, what string) []byte {
	if left := uint64(len(c.b) - c.at); c.fault != "" || n > left {
		c.fail("%s has %d bytes, expected %d", what, left, n)
		return nil
	}
	out := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return out
}

func (c *cursor) u8(what string) byte {
	if b := c.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16(what string) uint16 {
	if b := c.take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32(what string) uint32 {
	if b := c.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64(what string) uint64 {
	if b := c.take(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// short returns bytes that have their number in four bytes before them.
func (c *cursor) short(what string) []byte { return c.take(uint64(c.u32(what)), what) }

func (c *cursor) text(what string) string { return string(c.short(what)) }

// texts returns a map; its keys are different.
func (c *cursor) texts(what string) map[string]string {
	in := cursor{b: c.short(what)}
	if len(in.b) == 0 {
		return nil
	}
	out := map[string]string{}
	for in.at < len(in.b) && in.fault == "" {
		key := in.text("a key of " + what)
		value := in.text("a value of " + what)
		if _, twice := out[key]; twice && in.fault == "" {
			in.fail("%s has key %q twice", what, key)
		}
		out[key] = value
	}
	c.inherit(&in)
	return out
}

// numbers returns a map from channels to numbers.
func (c *cursor) numbers(what string) map[uint16]uint64 {
	in := cursor{b: c.short(what)}
	out := make(map[uint16]uint64, min(len(in.b)/10, 1<<16))
	for in.at < len(in.b) && in.fault == "" {
		id := in.u16(what)
		out[id] = in.u64(what)
	}
	c.inherit(&in)
	return out
}

func (c *cursor) inherit(in *cursor) {
	if in.fault != "" {
		c.fail("%s", in.fault)
	}
}

func (c *cursor) schema() *Schema {
	s := &Schema{ID: c.u16("its id"), Name: c.text("its name"), Encoding: c.text("its encoding")}
	s.Data = append([]byte(nil), c.short("its data")...)
	if s.ID == 0 {
		c.fail("its id is 0, expected 1 or more")
	}
	return s
}

func (c *cursor) channel() *Channel {
	return &Channel{
		ID: c.u16("its id"), SchemaID: c.u16("its schema's id"), Topic: c.text("its topic"),
		Encoding: c.text("its encoding"), Metadata: c.texts("its metadata"),
	}
}

func (c *cursor) message(m *Message) {
	m.ChannelID, m.Sequence = c.u16("its channel"), c.u32("its sequence")
	m.LogTime, m.PublishTime = c.u64("its log time"), c.u64("its publish time")
	m.Data = c.b[c.at:]
}

func (c *cursor) metadata() *Metadata {
	return &Metadata{Name: c.text("its name"), Metadata: c.texts("its metadata")}
}

func (c *cursor) statistics() *Statistics {
	return &Statistics{
		Messages: c.u64("its count"), Schemas: c.u16("its schemas"), Channels: c.u32("its channels"),
		Attachments: c.u32("its attachments"), Metadata: c.u32("its metadata"), Chunks: c.u32("its chunks"),
		StartTime: c.u64("its start"), EndTime: c.u64("its end"), ChannelMessages: c.numbers("its channels' counts"),
	}
}

func (c *cursor) chunkIndex() ChunkIndex {
	return ChunkIndex{
		StartTime: c.u64("its start"), EndTime: c.u64("its end"), Offset: c.u64("its offset"), Length: c.u64("its length"),
		MessageIndexes: c.numbers("its message indexes"), IndexLength: c.u64("its indexes' length"),
		Compression: c.text("its compression"), CompressedSize: c.u64("its compressed size"), UncompressedSize: c.u64("its size"),
	}
}

// attachment reads what stands before an attachment's data.
func (c *cursor) attachment() AttachmentIndex {
	return AttachmentIndex{
		LogTime: c.u64("its log time"), CreateTime: c.u64("its time"), Name: c.text("its name"),
		MediaType: c.text("its media type"), DataSize: c.u64("its size"),
	}
}

func (c *cursor) attachmentIndex() AttachmentIndex {
	return AttachmentIndex{
		Offset: c.u64("its offset"), Length: c.u64("its length"), LogTime: c.u64("its log time"), CreateTime: c.u64("its time"),
		DataSize: c.u64("its size"), Name: c.text("its name"), MediaType: c.text("its media type"),
	}
}

func (c *cursor) metadataIndex() MetadataIndex {
	return MetadataIndex{Offset: c.u64("its offset"), Length: c.u64("its length"), Name: c.text("its name")}
}
