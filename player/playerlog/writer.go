package playerlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"

	"callboard/player"
	"callboard/player/iface"
)

// WriterConfig says where to write.
type WriterConfig struct {
	W    io.Writer // required; a call for each line
	Bare bool      // without the head; default with it: to go on with a log that has one
}

// Writer writes a log that Player's readlog can replay.
type Writer struct {
	w    io.Writer
	line text
}

// head has the two lines with versions that Player's own logs have.
const head = `## Player version 3.1.1-dev
## File version 0.3.0
## One message a line: seconds, host, port of the server, interface, index,
## type (1 data, 4 a geometry or configuration), subtype, and its values.
`

// NewWriter makes a Writer and writes the head.
func NewWriter(c WriterConfig) (*Writer, error) {
	if c.W == nil {
		return nil, errors.New("playerlog: nowhere to write, expected WriterConfig.W")
	}
	w := &Writer{w: c.W}
	if !c.Bare {
		if _, err := io.WriteString(c.W, head); err != nil {
			return nil, fmt.Errorf("playerlog: writing the head: %w", err)
		}
	}
	return w, nil
}

// Unwritable is the error for a message that a log cannot hold: nothing was
// written, and writing may go on.
type Unwritable struct {
	Header player.Header
	Why    string
}

// Error returns which message, and why.
func (e *Unwritable) Error() string {
	return fmt.Sprintf("playerlog: a log cannot hold a %s: %s", e.Header, e.Why)
}

// Holds reports whether a log can hold messages of that interface, type and
// subtype, but for what a single message may have too much of.
func Holds(i player.Interface, t player.Type, subtype uint8) bool {
	_, ok := layouts[key(i, t, subtype)]
	return ok && never[key(i, t, subtype)] == ""
}

// never are messages that are only read, and why.
var never = map[uint32]string{
	key(player.InterfaceLocalize, player.Ack, iface.ReqLocalizeGetParticles): "Player's reader crashes with particles",
	key(player.InterfacePosition3D, player.Ack, iface.ReqPosition3DGetGeom):  "Player's reader would publish it as an answer that nobody asked for",
}

// Write writes a message: DATA, or the ACK of a request for a geometry or
// configuration, with a pointer to its struct. Ranges and intensities with a
// stamp go without it, as Player's reader cannot read it. What a log cannot
// hold is an *Unwritable.
func (w *Writer) Write(h player.Header, payload any) error {
	h, payload = plain(h, payload)
	k := key(h.Interf, h.Type, h.Subtype)
	layout, ok := layouts[k]
	switch {
	case !ok:
		return &Unwritable{h, "Player's log format has no place for it"}
	case never[k] != "":
		return &Unwritable{h, never[k]}
	case math.IsNaN(h.Timestamp) || math.Abs(h.Timestamp) >= 1e15:
		return &Unwritable{h, fmt.Sprintf("its time is %v", h.Timestamp)}
	}
	if reflect.TypeOf(payload) != layout.typ || reflect.ValueOf(payload).IsNil() {
		return fmt.Errorf("playerlog: a %s with a %T, expected a %v that is not nil", h, payload, layout.typ)
	}
	if why := excess(payload); why != "" {
		return &Unwritable{h, why}
	}
	w.line = text{writing: true, out: w.line.out[:0]}
	w.prefix(h)
	layout.do(&w.line, payload)
	if n := prefixTokens + w.line.made; n > MaxTokens {
		return &Unwritable{h, fmt.Sprintf("its line would have %d tokens, Player's reader takes %d", n, MaxTokens)}
	}
	w.line.out = append(w.line.out, '\n')
	if len(w.line.out) > MaxLine {
		return &Unwritable{h, fmt.Sprintf("its line would have %d bytes, Player's reader takes %d", len(w.line.out), MaxLine)}
	}
	if _, err := w.w.Write(w.line.out); err != nil {
		return fmt.Errorf("playerlog: writing a %s: %w", h, err)
	}
	return nil
}

func (w *Writer) prefix(h player.Header) {
	b := appendFloat(w.line.out, h.Timestamp, form{zero: true, width: 14, prec: 3})
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(h.Host), 10)
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(h.Robot), 10)
	b = append(b, ' ')
	b = append(b, h.Interf.String()...)
	b = append(b, ' ')
	b = appendInt(b, int64(h.Index), form{zero: true, width: 2})
	b = append(b, ' ')
	b = appendInt(b, int64(h.Type), d03)
	b = append(b, ' ')
	w.line.out = appendInt(b, int64(h.Subtype), d03)
}

// plain takes the stamp from ranges and intensities.
func plain(h player.Header, payload any) (player.Header, any) {
	if h.Interf == player.InterfaceRanger && h.Type == player.Data {
		switch p := payload.(type) {
		case *iface.RangerDataRangestamped:
			h.Subtype, payload = iface.DataRangerRange, &p.Data
		case *iface.RangerDataIntnsstamped:
			h.Subtype, payload = iface.DataRangerIntns, &p.Data
		}
	}
	return h, payload
}

// excess returns what a payload has that Player's reader does not survive.
func excess(payload any) string {
	switch p := payload.(type) {
	case *iface.WifiData:
		if len(p.Links) > 0 {
			return "Player's reader corrupts its memory with links"
		}
	case *iface.DIOData:
		if p.Count >= 32 {
			return fmt.Sprintf("Player's programs hang with %d bits, they take 31", p.Count)
		}
	case *iface.CameraData:
		if len(p.Image) == 0 {
			return "Player's reader wants an image"
		}
	case *iface.RFIDData:
		for _, t := range p.Tags {
			if len(t.GUID) == 0 {
				return "a tag without number"
			}
		}
	}
	return ""
}
