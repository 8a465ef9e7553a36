package run

import (
	"fmt"
	"io"
	"math"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
)

// Groups of channels: what is replayed and queried, and what is only drawn.
const (
	groupRun = iota
	groupDrawn
)

// eventTopic is the channel of events, and eventSchema what they are.
const (
	eventTopic  = "/callboard/events"
	eventSchema = "callboard.Event"
)

// MCAPConfig says where and how to write an MCAP file.
type MCAPConfig struct {
	W     io.Writer // required
	World *World    // attached to the file; nil: none
	// Plain leaves out what is only there to be drawn by Foxglove and its like;
	// default with it.
	Plain bool
	Now   func() time.Time // when the file is begun; default time.Now
}

// MCAPWriter writes an MCAP file. Each message stands in it as the Player
// server sent it, to the bit, in a channel of its device; beside it, unless
// Plain, as a message that Foxglove and its like can draw or plot.
type MCAPWriter struct {
	out      *mcap.Writer
	plain    bool
	events   *stream
	message  uint16 // schema
	channels map[place]*deviceChannels
	schemas  map[string]uint16  // of what is drawn, by name
	shared   map[string]*stream // topics of all robots
	sharing  map[string]place   // the device of a robot that tells what is shared
	buf      []byte
	json     []byte
}

// stream is a channel and the number of its next message.
type stream struct {
	id       uint16
	sequence uint32
}

// deviceChannels are the channels of one device.
type deviceChannels struct {
	player *stream
	object *stream // of what a broker told; nil until it does
	drawn  []drawKind
}

// NewMCAPWriter makes an MCAPWriter and writes the file's beginning, with the
// world.
func NewMCAPWriter(c MCAPConfig) (*MCAPWriter, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	out, err := mcap.NewWriter(mcap.WriterConfig{W: c.W, Profile: "callboard"})
	if err != nil {
		return nil, err
	}
	w := &MCAPWriter{out: out, plain: c.Plain, channels: map[place]*deviceChannels{}, schemas: map[string]uint16{}, shared: map[string]*stream{}, sharing: map[string]place{}}
	if err := c.World.attach(out, c.Now()); err != nil {
		return nil, err
	}
	event, err := out.AddSchema(mcap.Schema{Name: eventSchema, Encoding: "jsonschema", Data: []byte(eventJSONSchema)})
	if err != nil {
		return nil, err
	}
	if w.message, err = out.AddSchema(mcap.Schema{Name: MessageSchema, Encoding: "protobuf", Data: descriptor()}); err != nil {
		return nil, err
	}
	w.events, err = w.stream(mcap.Channel{Topic: eventTopic, SchemaID: event, Encoding: "json", Group: groupRun})
	return w, err
}

// eventJSONSchema describes an event.
const eventJSONSchema = `{"type":"object","title":"callboard.Event","description":"a session with a robot that begins or ends, what is known of its devices, messages that were lost","properties":{` +
	`"event":{"type":"string","enum":["up","known","lost","down"]},"robot":{"type":"string"},"world":{"type":"string"},"player":{"type":"string"},` +
	`"continued":{"type":"boolean"},"lost":{"type":"integer"},"devices":{"type":"array","items":{"type":"object"}}}}`

func (w *MCAPWriter) stream(c mcap.Channel) (*stream, error) {
	id, err := w.out.AddChannel(c)
	return &stream{id: id}, err
}

// Write writes a record; see Writer.
func (w *MCAPWriter) Write(rec *Record) error {
	log := nanoseconds(rec.Header.Timestamp)
	if !rec.Logged.IsZero() {
		log = uint64(max(0, rec.Logged.UnixNano()))
	}
	if rec.Kind != Data {
		text, err := eventOf(rec).text()
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		return w.put(w.events, log, log, text)
	}
	channels, err := w.of(rec)
	if err != nil {
		return err
	}
	published := nanoseconds(rec.Header.Timestamp)
	if rec.Object != nil {
		if err := w.object(rec, channels, log, published); err != nil || rec.Payload == nil {
			return err
		}
	}
	w.buf, err = appendBody(appendHead(w.buf[:0], &rec.Header), func(b []byte) ([]byte, error) { return iface.Append(b, rec.Payload) })
	if err != nil {
		return &Unwritable{rec.Header, err.Error()}
	}
	if err := w.put(channels.player, log, published, w.buf); err != nil {
		return err
	}
	if w.plain {
		return nil
	}
	return w.draw(rec, channels, log, published)
}

// object writes a reading as a broker told it.
func (w *MCAPWriter) object(rec *Record, c *deviceChannels, log, published uint64) error {
	if c.object == nil {
		id, err := w.schema(objectSchema, objectJSONSchema)
		if err != nil {
			return err
		}
		if c.object, err = w.stream(mcap.Channel{Topic: topic(rec) + "/reading", SchemaID: id, Encoding: "json", Group: groupDrawn}); err != nil {
			return err
		}
	}
	return w.put(c.object, log, published, rec.Object)
}

// objectSchema is what a broker's readings are.
const (
	objectSchema     = "callboard.Reading"
	objectJSONSchema = `{"type":"object","title":"callboard.Reading","description":"a reading as conditions see it, derived values included; null is what is not finite"}`
)

// schema returns the ID of a JSON schema by its name.
func (w *MCAPWriter) schema(name, text string) (uint16, error) {
	if id, ok := w.schemas[name]; ok {
		return id, nil
	}
	id, err := w.out.AddSchema(mcap.Schema{Name: name, Encoding: "jsonschema", Data: []byte(text)})
	if err == nil {
		w.schemas[name] = id
	}
	return id, err
}

// put writes a message to a stream.
func (w *MCAPWriter) put(s *stream, log, published uint64, data []byte) error {
	s.sequence++
	return w.out.Write(mcap.Message{ChannelID: s.id, Sequence: s.sequence, LogTime: log, PublishTime: published, Data: data})
}

// nanoseconds is a time of Player's, as far as MCAP can tell it: the message
// has it whole.
func nanoseconds(s float64) uint64 {
	if !(s > 0) {
		return 0
	}
	whole, part := math.Modf(min(s, 1.8e10))
	return uint64(whole)*1e9 + uint64(math.Round(part*1e9))
}

// of returns the channels of a message's device.
func (w *MCAPWriter) of(rec *Record) (*deviceChannels, error) {
	at := place{rec.Robot, player.Addr{Interf: rec.Header.Interf, Index: rec.Header.Index}}
	if c := w.channels[at]; c != nil {
		return c, nil
	}
	s, err := w.stream(mcap.Channel{
		Topic: topic(rec) + "/player", SchemaID: w.message, Encoding: "protobuf", Group: groupRun,
		Metadata: map[string]string{"robot": rec.Robot, "device": at.addr.String()},
	})
	if err != nil {
		return nil, &Unwritable{rec.Header, err.Error()}
	}
	c := &deviceChannels{player: s}
	w.channels[at] = c
	return c, nil
}

// topic of a device: /r0/laser/0.
func topic(rec *Record) string {
	return fmt.Sprintf("/%s/%s/%d", rec.Robot, rec.Header.Interf, rec.Header.Index)
}

// Flush writes what is waiting in chunks.
func (w *MCAPWriter) Flush() error { return w.out.Flush() }

// Size is how many bytes the file has, or will have when what waits is packed.
func (w *MCAPWriter) Size() int64 { return int64(w.out.Expected()) }

// Close completes the file with its index.
func (w *MCAPWriter) Close() error { return w.out.Close() }
