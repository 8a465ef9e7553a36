package mcap

import (
	"encoding/binary"
	"maps"
	"slices"
)

// appendRecord appends a record whose content body appends.
func appendRecord(b []byte, op Opcode, body func([]byte) []byte) []byte {
	b = append(b, byte(op))
	b = appendU64(b, 0)
	from := len(b)
	b = body(b)
	binary.LittleEndian.PutUint64(b[from-8:], uint64(len(b)-from))
	return b
}

func appendU16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func appendU32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func appendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

func appendText(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}

// appendCounted appends what body appends, its size in bytes before it.
func appendCounted(b []byte, body func([]byte) []byte) []byte {
	b = appendU32(b, 0)
	from := len(b)
	b = body(b)
	binary.LittleEndian.PutUint32(b[from-4:], uint32(len(b)-from))
	return b
}

// appendTexts appends a map, by its keys.
func appendTexts(b []byte, m map[string]string) []byte {
	return appendCounted(b, func(b []byte) []byte {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			b = appendText(appendText(b, k), m[k])
		}
		return b
	})
}

// appendNumbers appends a map from channels to numbers, by its keys.
func appendNumbers(b []byte, m map[uint16]uint64) []byte {
	return appendCounted(b, func(b []byte) []byte {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			b = appendU64(appendU16(b, k), m[k])
		}
		return b
	})
}

func (s *Schema) appendTo(b []byte) []byte {
	return appendRecord(b, opSchema, func(b []byte) []byte {
		b = appendText(appendText(appendU16(b, s.ID), s.Name), s.Encoding)
		return append(appendU32(b, uint32(len(s.Data))), s.Data...)
	})
}

func (c *Channel) appendTo(b []byte) []byte {
	return appendRecord(b, opChannel, func(b []byte) []byte {
		b = appendU16(appendU16(b, c.ID), c.SchemaID)
		return appendTexts(appendText(appendText(b, c.Topic), c.Encoding), c.Metadata)
	})
}

func (m *Message) appendTo(b []byte) []byte {
	b = append(b, byte(opMessage))
	b = appendU64(b, uint64(messageHead+len(m.Data)))
	b = appendU32(appendU16(b, m.ChannelID), m.Sequence)
	b = appendU64(appendU64(b, m.LogTime), m.PublishTime)
	return append(b, m.Data...)
}

func (m *Metadata) appendTo(b []byte) []byte {
	return appendRecord(b, opMetadata, func(b []byte) []byte {
		return appendTexts(appendText(b, m.Name), m.Metadata)
	})
}

func (s *Statistics) appendTo(b []byte) []byte {
	return appendRecord(b, opStatistics, func(b []byte) []byte {
		b = appendU32(appendU16(appendU64(b, s.Messages), s.Schemas), s.Channels)
		b = appendU32(appendU32(appendU32(b, s.Attachments), s.Metadata), s.Chunks)
		return appendNumbers(appendU64(appendU64(b, s.StartTime), s.EndTime), s.ChannelMessages)
	})
}

func (c *ChunkIndex) appendTo(b []byte) []byte {
	return appendRecord(b, opChunkIndex, func(b []byte) []byte {
		b = appendU64(appendU64(appendU64(appendU64(b, c.StartTime), c.EndTime), c.Offset), c.Length)
		b = appendText(appendU64(appendNumbers(b, c.MessageIndexes), c.IndexLength), c.Compression)
		return appendU64(appendU64(b, c.CompressedSize), c.UncompressedSize)
	})
}

func (a *AttachmentIndex) appendTo(b []byte) []byte {
	return appendRecord(b, opAttachmentIndex, func(b []byte) []byte {
		b = appendU64(appendU64(appendU64(appendU64(appendU64(b, a.Offset), a.Length), a.LogTime), a.CreateTime), a.DataSize)
		return appendText(appendText(b, a.Name), a.MediaType)
	})
}

func (m *MetadataIndex) appendTo(b []byte) []byte {
	return appendRecord(b, opMetadataIndex, func(b []byte) []byte {
		return appendText(appendU64(appendU64(b, m.Offset), m.Length), m.Name)
	})
}
