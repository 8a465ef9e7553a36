package mcap

import "fmt"

// Magic begins and ends a file.
const Magic = "\x89MCAP0\r\n"

// Opcode says what a record is.
type Opcode byte

// Opcodes.
const (
	opHeader          Opcode = 0x01
	opFooter          Opcode = 0x02
	opSchema          Opcode = 0x03
	opChannel         Opcode = 0x04
	opMessage         Opcode = 0x05
	opChunk           Opcode = 0x06
	opMessageIndex    Opcode = 0x07
	opChunkIndex      Opcode = 0x08
	opAttachment      Opcode = 0x09
	opAttachmentIndex Opcode = 0x0a
	opStatistics      Opcode = 0x0b
	opMetadata        Opcode = 0x0c
	opMetadataIndex   Opcode = 0x0d
	opSummaryOffset   Opcode = 0x0e
	opDataEnd         Opcode = 0x0f
)

var opcodeNames = [...]string{
	opHeader: "header", opFooter: "footer", opSchema: "schema", opChannel: "channel", opMessage: "message",
	opChunk: "chunk", opMessageIndex: "message index", opChunkIndex: "chunk index", opAttachment: "attachment",
	opAttachmentIndex: "attachment index", opStatistics: "statistics", opMetadata: "metadata",
	opMetadataIndex: "metadata index", opSummaryOffset: "summary offset", opDataEnd: "data end",
}

// String returns the record's name.
func (o Opcode) String() string {
	if int(o) < len(opcodeNames) && opcodeNames[o] != "" {
		return opcodeNames[o]
	}
	return fmt.Sprintf("record 0x%02x", byte(o))
}

// Sizes in bytes.
const (
	recordHead  = 1 + 8             // opcode and length
	messageHead = 2 + 4 + 8 + 8     // of a message record's content, before its data
	footerSize  = 8 + 8 + 4         // of the footer's content
	chunkHead   = 8 + 8 + 8 + 4 + 4 // of a chunk's content, before the name of its compression
)

// Schema says what the messages of a channel are.
type Schema struct {
	ID       uint16 // from 1
	Name     string // foxglove.LaserScan
	Encoding string // of Data: jsonschema, protobuf
	Data     []byte
}

// Channel is a stream of messages of one kind.
type Channel struct {
	ID       uint16
	SchemaID uint16 // 0: none
	Topic    string
	Encoding string // of its messages: json, protobuf
	Metadata map[string]string

	// Group keeps messages apart, when written: each group of channels has
	// chunks of its own, so that who wants one need not unpack the other. Within
	// a group messages stay in the order in which they were written. At most 15.
	Group int
}

// Message is a message of a channel.
type Message struct {
	ChannelID   uint16
	Sequence    uint32
	LogTime     uint64 // ns, Unix, when it was recorded
	PublishTime uint64 // ns, when it was published, by the publisher's clock
	Data        []byte
}

// Attachment is a file within the file.
type Attachment struct {
	LogTime    uint64 // ns, Unix
	CreateTime uint64 // ns, Unix; 0 is not known
	Name       string
	MediaType  string
	Data       []byte
}

// Metadata is named texts about the file.
type Metadata struct {
	Name     string
	Metadata map[string]string
}

// Statistics counts what a file holds.
type Statistics struct {
	Messages              uint64
	Schemas               uint16
	Channels              uint32
	Attachments, Metadata uint32
	Chunks                uint32
	StartTime, EndTime    uint64 // ns, least and greatest log time; 0 without messages
	ChannelMessages       map[uint16]uint64
}

// ChunkIndex is where a chunk is and what is in it.
type ChunkIndex struct {
	StartTime, EndTime uint64            // ns, least and greatest log time of its messages; 0 without any
	Offset, Length     uint64            // bytes, of the record with its head
	MessageIndexes     map[uint16]uint64 // by channel: where its message index is
	IndexLength        uint64            // bytes of all its message indexes
	Compression        string
	CompressedSize     uint64
	UncompressedSize   uint64
}

// AttachmentIndex is where an attachment is.
type AttachmentIndex struct {
	Offset, Length      uint64 // bytes, of the record with its head
	LogTime, CreateTime uint64 // ns
	DataSize            uint64
	Name, MediaType     string
}

// MetadataIndex is where a metadata record is.
type MetadataIndex struct {
	Offset, Length uint64 // bytes, of the record with its head
	Name           string
}
