package playertest

// Capture is one recorded connection.
type Capture struct {
	Name   string
	C2S    []byte    // all bytes from the client
	S2C    []byte    // all bytes from the server; begins with the banner
	Client []Message // C2S, cut into messages
	Server []Message // S2C after the banner, cut into messages
	Port   uint32    // the port of the recorded server, as its addresses say
}

// Message is one message of a capture.
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

// Load reads dir/name.c2s.bin, .s2c.bin and .json. The cut of the messages is
// checked against the .json's. Streams that end in the middle of a message, as
// those of some i_raw_* captures do, are cut up to there.
func Load(dir, name string) (*Capture, error) { return nil, nil }
