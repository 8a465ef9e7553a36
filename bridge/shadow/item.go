// Package shadow has the standby of a pair do with the robots' readings what the
// active has done, behind it. DESIGN.md says how.
package shadow

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/player"
	"callboard/subscribe"
)

// Item is something that the active has done, beside what it stores: the types of
// this file are all there are. Items are in one order with the records.
type Item interface{ item() }

// Sets says that changes of keys' sets have become visible in a version of the
// matcher. Whole: keys that are not in it have none; More: it goes on in the next one.
type Sets struct {
	Version     uint64
	Whole, More bool
	Changes     []SetChange
}

// SetChange is a change of a key's set, as overlay.Install and Uninstall have it.
type SetChange struct {
	Handle overlay.Handle
	Ends   bool `json:",omitempty"`
	Whole  bool `json:",omitempty"`
	Drop   []string
	Put    []*overlay.Subscription
}

// Tested says up to which message of a device the active has tested those of a
// robot, by a version of the matcher.
type Tested struct {
	Robot   string
	Version uint64
	Device  player.Addr
	Mark    standby.Mark
}

// Flushed says that what a robot's session held for completion was given.
type Flushed struct{ Robot string }

// Anew says that the active's session with a robot has begun, or has ended.
type Anew struct {
	Robot string
	Up    bool
}

// State is all that the active's session with a robot has come to.
type State struct {
	Robot    string
	Version  uint64 // of the matcher, behind what was tested
	Held     bool   // something is held for completion
	Devices  []DeviceState
	Policies []subscribe.Policy
}

// DeviceState is the newest of a device.
type DeviceState struct {
	Addr     player.Addr
	Mark     standby.Mark
	Messages []Message
}

// Message is a DATA message of a device, as it came.
type Message struct {
	Subtype uint8
	Time    float64
	Body    []byte
}

func (*Sets) item() {}

func (*Tested) item() {}

func (*Flushed) item() {}

func (*Anew) item() {}

func (*State) item() {}

// Kinds of items, as written: the kind, then the length of the rest. What comes
// with every reading is written field by field, all else as JSON.
const (
	kindSets = iota + 1
	kindTested
	kindFlushed
	kindAnew
	kindState
)

// Append appends an item.
func Append(b []byte, item Item) []byte {
	switch x := item.(type) {
	case *Tested:
		return appendTested(b, x)
	case *Sets:
		return appendJSON(b, kindSets, x)
	case *Flushed:
		return appendJSON(b, kindFlushed, x)
	case *Anew:
		return appendJSON(b, kindAnew, x)
	case *State:
		x.finite()
		return appendJSON(b, kindState, x)
	}
	panic(fmt.Sprintf("shadow: no format for a %T", item))
}

func appendJSON(b []byte, kind byte, item any) []byte {
	text, err := json.Marshal(item)
	if err != nil {
		panic(err) // flat structs of texts, numbers that are finite, and subscriptions that came as JSON
	}
	b = binary.AppendUvarint(append(b, kind), uint64(len(text)))
	return append(b, text...)
}

// finite replaces what JSON has no number for: a Player server's time may be any.
func (s *State) finite() {
	clean := func(v *float64) {
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			*v = 0
		}
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		clean(&d.Mark.Time)
		for k := range d.Messages {
			clean(&d.Messages[k].Time)
		}
	}
	for i := range s.Policies {
		clean(&s.Policies[i].Since)
		clean(&s.Policies[i].At)
	}
}

func appendTested(b []byte, x *Tested) []byte {
	b = append(b, kindTested)
	size := uvarintLen(uint64(len(x.Robot))) + len(x.Robot) + uvarintLen(x.Version) + 4 + uvarintLen(uint64(x.Mark.Run)) + 8 + 8*len(x.Mark.Hashes)
	b = binary.AppendUvarint(b, uint64(size))
	b = binary.AppendUvarint(b, uint64(len(x.Robot)))
	b = append(b, x.Robot...)
	b = binary.AppendUvarint(b, x.Version)
	b = binary.BigEndian.AppendUint16(b, uint16(x.Device.Interf))
	b = binary.BigEndian.AppendUint16(b, x.Device.Index)
	b = binary.AppendUvarint(b, uint64(x.Mark.Run))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(x.Mark.Time))
	for _, h := range x.Mark.Hashes {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return b
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

var errShort = errors.New("it ends too soon")

// Parse reads items. They do not refer to b.
func Parse(b []byte) (all []Item, err error) {
	for len(b) > 0 {
		kind := b[0]
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || size > uint64(len(b)-1-n) {
			return all, fmt.Errorf("shadow: an item of kind %d: %w", kind, errShort)
		}
		item, err := parse(kind, b[1+n:1+n+int(size)])
		if err != nil {
			return all, fmt.Errorf("shadow: an item of kind %d: %w", kind, err)
		}
		all, b = append(all, item), b[1+n+int(size):]
	}
	return all, nil
}

func parse(kind byte, b []byte) (Item, error) {
	var x Item
	switch kind {
	case kindTested:
		return parseTested(b)
	case kindSets:
		x = &Sets{}
	case kindFlushed:
		x = &Flushed{}
	case kindAnew:
		x = &Anew{}
	case kindState:
		x = &State{}
	default:
		return nil, fmt.Errorf("expected one up to %d", kindState)
	}
	if err := json.Unmarshal(b, x); err != nil {
		return nil, err
	}
	if s, is := x.(*State); is {
		for i := range s.Devices {
			if len(s.Devices[i].Mark.Hashes) == 0 {
				return nil, errors.New("a mark without a reading")
			}
		}
	}
	return x, nil
}

func parseTested(b []byte) (Item, error) {
	x := &Tested{}
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, errShort
	}
	x.Robot, b = string(b[n:n+int(length)]), b[n+int(length):]
	if x.Version, n = binary.Uvarint(b); n <= 0 || len(b)-n < 4 {
		return nil, errShort
	}
	b = b[n:]
	x.Device = player.Addr{Interf: player.Interface(binary.BigEndian.Uint16(b)), Index: binary.BigEndian.Uint16(b[2:])}
	run, n := binary.Uvarint(b[4:])
	if n <= 0 {
		return nil, errShort
	}
	x.Mark.Run, b = int64(run), b[4+n:]
	if len(b) < 16 || len(b)%8 != 0 {
		return nil, errShort
	}
	x.Mark.Time, b = math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:]
	for ; len(b) > 0; b = b[8:] {
		x.Mark.Hashes = append(x.Mark.Hashes, binary.BigEndian.Uint64(b))
	}
	return x, nil
}
