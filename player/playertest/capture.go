package playertest

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Capture is one recorded connection.
type Capture struct {
	Name   string
	C2S    []byte    // all bytes from the client
	S2C    []byte    // all bytes from the server; begins with the banner
	Client []Message // C2S, cut into messages
	Server []Message // S2C after the banner, cut into messages
	Port   uint32    // of the recorded server, as its addresses say; 0 if it sent none
}

// Message is one message of a stream.
type Message struct {
	Offset        int // of the header in its stream
	Host, Robot   uint32
	Interf, Index uint16
	Type, Subtype uint8
	Timestamp     float64
	Seq           uint32
	Raw           []byte // header and body
	Body          []byte
}

// Message types, as on the wire.
const (
	typeData  = 1
	typeCmd   = 2
	typeReq   = 3
	typeAck   = 4
	typeSynch = 5
	typeNack  = 6
)

const (
	bannerSize = 32
	headerSize = 40
)

// Device is the message's interface and index in one number, as Options.Open
// has them.
func (m Message) Device() uint32 { return Device(m.Interf, m.Index) }

// Device is an interface and index in one number.
func Device(interf, index uint16) uint32 { return uint32(interf)<<16 | uint32(index) }

func (m Message) String() string {
	return fmt.Sprintf("type %d subtype %d of %d:%d", m.Type, m.Subtype, m.Interf, m.Index)
}

// Load reads dir/name.c2s.bin, .s2c.bin and .json. The cut of the messages is
// checked against the .json's, which a parser of its own has made. Streams that
// end in the middle of a message, as those of some i_raw_* captures do, are cut
// up to there.
func Load(dir, name string) (*Capture, error) {
	read := func(ext string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name+ext)) }
	c2s, err := read(".c2s.bin")
	if err != nil {
		return nil, fmt.Errorf("playertest: capture %s: %w", name, err)
	}
	s2c, err := read(".s2c.bin")
	if err != nil {
		return nil, fmt.Errorf("playertest: capture %s: %w", name, err)
	}
	c, err := New(name, c2s, s2c)
	if err != nil {
		return nil, err
	}
	text, err := read(".json")
	if err != nil {
		return nil, fmt.Errorf("playertest: capture %s: %w", name, err)
	}
	var told struct {
		Client []struct{ Offset, Size int } `json:"c2s_messages"`
		Server []struct{ Offset, Size int } `json:"s2c_messages"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return nil, fmt.Errorf("playertest: capture %s: %w", name, err)
	}
	for i, m := range c.Client {
		if i >= len(told.Client) || told.Client[i].Offset != m.Offset || told.Client[i].Size != len(m.Body) {
			return nil, fmt.Errorf("playertest: capture %s: message %d of the client, %s at %d, is not that of the .json", name, i, m, m.Offset)
		}
	}
	for i, m := range c.Server {
		if i >= len(told.Server) || told.Server[i].Offset != m.Offset || told.Server[i].Size != len(m.Body) {
			return nil, fmt.Errorf("playertest: capture %s: message %d of the server, %s at %d, is not that of the .json", name, i, m, m.Offset)
		}
	}
	return c, nil
}

// New makes a capture of two streams.
func New(name string, c2s, s2c []byte) (*Capture, error) {
	if len(s2c) < bannerSize {
		return nil, fmt.Errorf("playertest: capture %s: server sent %d bytes, expected a banner of %d", name, len(s2c), bannerSize)
	}
	c := &Capture{Name: name, C2S: c2s, S2C: s2c, Client: Cut(c2s, 0), Server: Cut(s2c, bannerSize)}
	for _, m := range c.Server {
		if m.Robot != 0 {
			c.Port = m.Robot
			break
		}
	}
	return c, nil
}

// Cut cuts the whole messages of a stream that begin at from.
func Cut(stream []byte, from int) []Message {
	var cut []Message
	for at := from; len(stream)-at >= headerSize; {
		b := stream[at:]
		size := uint64(u32(b, 36))
		if size > uint64(len(b)-headerSize) {
			break
		}
		raw := b[:headerSize+size]
		cut = append(cut, Message{
			Offset: at, Host: u32(b, 0), Robot: u32(b, 4),
			Interf: uint16(u32(b, 8)), Index: uint16(u32(b, 12)),
			Type: uint8(u32(b, 16)), Subtype: uint8(u32(b, 20)),
			Timestamp: math.Float64frombits(binary.BigEndian.Uint64(b[24:])),
			Seq:       u32(b, 32),
			Raw:       raw, Body: raw[headerSize:],
		})
		at += len(raw)
	}
	return cut
}

func u32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

func putU32(b []byte, at int, v uint32) { binary.BigEndian.PutUint32(b[at:], v) }

//go:embed testdata/tworobots.c2s.bin
var twoRobotsC2S []byte

//go:embed testdata/tworobots.s2c.bin
var twoRobotsS2C []byte

// TwoRobots is a recorded run of one Stage robot with position2d:0, ranger:0
// (a scanner), ranger:1 (a ring), laser:0 and sonar:0, both derived from the
// rangers by drivers: the real rangertolaser sends each scan twice with the
// same timestamp, first with the previous intensities. See testdata/README.md.
func TwoRobots() *Capture {
	c, err := New("tworobots", twoRobotsC2S, twoRobotsS2C)
	if err != nil {
		panic(err) // the embedded files are not what they were
	}
	return c
}

// Data returns the readings that the server sent, in order.
func (c *Capture) Data() []Message {
	var data []Message
	for _, m := range c.Server {
		if m.Type == typeData {
			data = append(data, m)
		}
	}
	return data
}
